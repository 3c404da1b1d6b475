// Functions that are not lifted, and that lifted ones call.
#pragma once

#include <vector>

std::vector<short>& native_notes(); // what native_note received
