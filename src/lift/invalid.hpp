// Functions of a program that were not emitted, or are invalid, which is a fault of the lifter: they do not cost the others.
#pragma once

#include <overdub/lift.hpp>

#include <map>
#include <string>
#include <vector>

namespace overdub::lifting {

/// Erases the functions that are invalid, and all their callers, and says so. `known`: functions that were not emitted, and why. The program
/// is valid then. O(its storage).
std::vector<refused_function> erase_invalid(ir::program& p, std::map<ir::function_id, std::string> known);

} // namespace overdub::lifting
