#include <overdub/implementation/ir/verify/rules.hpp>
#include <overdub/ir/verify.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::ir {
namespace detail {

// Names of functions are unique, and the entry exists.
inline void check_functions(program const& p, findings& out) {
  std::vector<bool> taken(p.symbol_count());
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    function const& f = p.functions[i];
    function_id const id{i};
    if (f.name == nothing) {
      if (f.node_count() > 0)
        out.add(id, "it has operations, and no name; name it, or erase it from the program");
    } else if (!out.has(f.name)) {
      out.add(id, "its name does not exist; give it a text of the program");
    } else if (p.text(f.name).empty()) {
      out.add(id, "its name is empty; give it one");
    } else if (taken[index_of(f.name)]) {
      out.add(id, "another function has the same name; rename one of them");
    } else {
      taken[index_of(f.name)] = true;
    }
  }
  if (p.math > math_mode::fast) out.add("the program's math is no mode; set it to exact, consistent or fast");
  if (p.entry != nothing && (index_of(p.entry) >= p.functions.size() || p.is_erased(p.entry)))
    out.add("the program's entry is a function that does not exist; set it to one that does, or to nothing");
}

} // namespace detail

std::vector<diagnostic> faults_of(program const& p) {
  detail::findings out(p);
  if (!detail::table_check(p, out).run()) return out.take();
  detail::check_functions(p, out);
  detail::link_check links(p, out);
  detail::rule_check rules(p, out);
  detail::numbering numbers;
  for (std::uint32_t i = 0; i < p.functions.size() && !out.is_full(); ++i) {
    function_id const f{i};
    if (p.is_erased(f)) continue;
    std::size_t const before = out.size();
    if (!links.run(f, numbers)) continue;
    rules.run(f, numbers);
    out.sort_from(before, [&](node_id n) { return n == nothing ? 0 : numbers.order[index_of(n)]; });
  }
  return out.take();
}

void verify(program const& p) {
  std::vector<diagnostic> found = faults_of(p);
  if (!found.empty()) throw verify_error(std::move(found));
}

} // namespace overdub::ir
