#include <overdub/stage/program_native.hpp>

#include <string_view>

namespace overdub::detail {

bool is_name_of_hook(std::string_view name) {
  for (std::string_view const hook : {".before ", ".after ", ".failed "})
    if (name.find(hook) != name.npos && name.ends_with(')')) return true;
  return false;
}

} // namespace overdub::detail
