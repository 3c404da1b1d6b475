#include <overdub/stage/evaluation/staged_functions.hpp>

#include <cstddef>
#include <string_view>

namespace overdub::detail {
namespace {

// Whether a function's name is `origin`, or `origin` followed by the names of contexts.
bool is_made_of(std::string_view name, std::string_view origin) {
  return name.starts_with(origin) && (name.size() == origin.size() || name[origin.size()] == '.');
}
// Whether a native function is a hook of a context for this function, for the function from which it was derived, or for one that was
// derived from it.
bool is_hook_of(std::string_view native, std::string_view function) {
  for (std::string_view const hook : {".before ", ".after ", ".failed "})
    if (std::size_t const at = native.find(hook); at != native.npos) {
      std::string_view const rest = native.substr(at + hook.size());
      std::string_view const of = rest.substr(0, rest.find('('));
      return is_made_of(of, function) || is_made_of(function, of);
    }
  return false;
}

} // namespace

bool is_run_of_function(ir::program const& p, ir::function_id entry) {
  std::string_view const own = recorder::base_name(p.name_of(entry));
  bool has_hooks = false, calls = false;
  ir::walk(p[entry], ir::function::body, [&](ir::node_id n) {
    ir::function::node const& x = p[entry][n];
    has_hooks = has_hooks || (x.code == ir::op::host && is_hook_of(p.text(x.attributes.text()), own));
    if (x.code != ir::op::call) return;
    std::string_view const name = recorder::base_name(p.name_of(x.attributes.callee()));
    auto const dots = [](std::string_view text) {
      std::size_t count = 0;
      for (char const c : text) count += c == '.';
      return count;
    };
    calls =
        calls || (dots(name) > dots(own) && name.substr(0, name.find('.')) == own.substr(0, own.find('.')));
  });
  return has_hooks && calls;
}

} // namespace overdub::detail
