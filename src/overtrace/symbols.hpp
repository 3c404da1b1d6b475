// Names of functions by address, from the symbol tables of the process's objects, with local symbols, and their source files.
#pragma once

#include <string>

namespace overdub::overtrace {

struct symbol {
  std::string name; // demangled
  std::string file; // empty if it is unknown
};

/// Returns the symbol of the function at an address; without one, its name is the object's file and the offset, program+0x1234. Looks for
/// the file only on request, since that reads debug information. O(symbols of the object) for the first address in it. Not thread-safe.
/// Throws std::bad_alloc.
symbol symbol_at(void const* address, bool with_file);

} // namespace overdub::overtrace
