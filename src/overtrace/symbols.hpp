// Names of functions by address, from the symbol tables of the process's objects, with local symbols, and their source files.
#pragma once

#include <string>

struct Dwfl;
struct Dwfl_Module;

namespace overdub::overtrace {

struct symbol {
  std::string name; // demangled
  std::string file; // empty if it is unknown
};

/// The objects of the process: those that are loaded when an address is looked up the first time, or after it. Not thread-safe.
class objects {
public:
  /// Returns the symbol of the function at an address; without one, its name is the object's file and the offset, program+0x1234. Looks for
  /// the file only on request, since that reads debug information. O(symbols of the object) for the first address in it. Throws
  /// std::bad_alloc.
  symbol symbol_at(void const* address, bool with_file);
  /// Forgets the objects that were unloaded, and finds those that were loaded.
  void refresh();

private:
  Dwfl_Module* object_at(unsigned long address);
  Dwfl* dwfl_ = nullptr; // until the process ends
};

} // namespace overdub::overtrace
