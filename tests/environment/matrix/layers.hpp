// One function for each layer of overdub, each in its own translation unit. They return whether the layer computes the expected results.
#pragma once

bool direct_is_right();
bool staged_is_right();
bool compiled_is_right();
bool incremental_is_right();
bool model_is_right();
