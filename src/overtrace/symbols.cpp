#include "symbols.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cxxabi.h>
#include <elfutils/libdwfl.h>
#include <memory>
#include <unistd.h>

namespace overdub::overtrace {
namespace {

// Debug information is read if it is in the object itself: other files might have to be fetched.
int find_no_debug_file(
    Dwfl_Module*, void**, char const*, Dwarf_Addr, char const*, char const*, GElf_Word, char**) {
  return -1;
}

// The object whose addresses include this one. dwfl_addrmodule also returns the object before a gap between objects.
Dwfl_Module* module_with(Dwfl* all, Dwarf_Addr address) {
  Dwfl_Module* const found = dwfl_addrmodule(all, address);
  Dwarf_Addr start = 0, end = 0;
  if (found != nullptr) dwfl_module_info(found, nullptr, &start, &end, nullptr, nullptr, nullptr, nullptr);
  return start <= address && address < end ? found : nullptr;
}

std::string demangled(char const* name) {
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> const text(
      abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

std::string place(Dwfl_Module* object, Dwarf_Addr address) {
  char const* file = "?";
  Dwarf_Addr start = 0;
  if (object != nullptr)
    if (char const* const path =
            dwfl_module_info(object, nullptr, &start, nullptr, nullptr, nullptr, nullptr, nullptr))
      file = path;
  std::string text = file;
  text.erase(0, text.rfind('/') + 1);
  char offset[16];
  char* const end = std::to_chars(offset, offset + sizeof offset, address - start, 16).ptr;
  return text + "+0x" + std::string(offset, end);
}

} // namespace

void objects::refresh() {
  if (dwfl_ == nullptr) return; // nothing was looked up
  dwfl_report_begin(dwfl_);
  dwfl_linux_proc_report(dwfl_, getpid());
  dwfl_report_end(dwfl_, nullptr, nullptr);
}

Dwfl_Module* objects::object_at(unsigned long address) {
  if (dwfl_ == nullptr) {
    static char* path = nullptr;
    static Dwfl_Callbacks const callbacks{
        dwfl_linux_proc_find_elf, find_no_debug_file, dwfl_offline_section_address, &path};
    dwfl_ = dwfl_begin(&callbacks);
    if (dwfl_ == nullptr) return nullptr;
  } else if (Dwfl_Module* const found = module_with(dwfl_, address))
    return found;
  refresh();
  return module_with(dwfl_, address);
}

symbol objects::symbol_at(void const* address, bool with_file) {
  auto const at = static_cast<Dwarf_Addr>(reinterpret_cast<std::uintptr_t>(address));
  Dwfl_Module* const object = object_at(at);
  char const* const name = object == nullptr ? nullptr : dwfl_module_addrname(object, at);
  symbol found{name == nullptr ? place(object, at) : demangled(name), {}};
  if (with_file && object != nullptr)
    if (Dwfl_Line* const line = dwfl_module_getsrc(object, at))
      if (char const* const file = dwfl_lineinfo(line, nullptr, nullptr, nullptr, nullptr, nullptr))
        found.file = file;
  return found;
}

} // namespace overdub::overtrace
