// One function a layer of overdub, each defined in a unit of its own. They return whether the layer computes what it should.
#pragma once

bool direct_is_right();
bool staged_is_right();
bool compiled_is_right();
bool incremental_is_right();
bool model_is_right();
