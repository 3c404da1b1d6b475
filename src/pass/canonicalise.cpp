#include <overdub/implementation/pass/ordering.hpp>
#include <overdub/implementation/pass/replace_by_empty.hpp>
#include <overdub/ir/type_text.hpp>
#include <overdub/pass/canonicalise.hpp>
#include <overdub/pass/ir_names.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace overdub::pass {
namespace detail {

/// Sorts functions by name, then signature. Returns the new index of each.
inline std::vector<function_id> sort_functions(program& p) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    if (!p.is_erased(function_id{i})) order.push_back(i);
  auto signature = [&](function const& f) {
    std::string text;
    for (value_id const v : f.parameters()) text += text_of(p, f.type_of(v)) + ", ";
    text += "-> ";
    for (type const t : f.results) text += text_of(p, t) + ", ";
    return text;
  };
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    function const &f = p.functions[a], &g = p.functions[b];
    if (f.name != g.name) return p.text(f.name) < p.text(g.name);
    return std::pair(signature(f), a) < std::pair(signature(g), b);
  });
  std::vector<function_id> number(p.functions.size(), nothing);
  std::vector<function> sorted;
  sorted.reserve(order.size());
  for (std::uint32_t const i : order) {
    number[i] = function_id{static_cast<std::uint32_t>(sorted.size())};
    sorted.push_back(std::move(p.functions[i]));
  }
  p.functions = std::move(sorted);
  return number;
}

} // namespace detail

void canonicalise(program& p) {
  effects known(p);
  std::vector<std::uint8_t> stale(p.functions.size(), 1);
  std::vector<std::vector<effect_set>> written(p.functions.size());
  for (bool again = true; again;) {
    for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
      if (!stale[i] || p.is_erased(function_id{i})) continue;
      function const from = detail::replace_by_empty(p, function_id{i});
      detail::ordering plan(p, from, known);
      written[i] = detail::ordered_writer(plan, p, function_id{i}).write();
      stale[i] = plan.merges_outside();
    }
    known = effects(p);
    again = false;
    for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
      if (p.is_erased(function_id{i})) continue;
      if (written[i] != known.of_each(p.functions[i])) stale[i] = 1;
      again = again || stale[i];
    }
  }
  auto const number = detail::sort_functions(p);
  if (p.entry != nothing) p.entry = number[index_of(p.entry)];
  for (function& f : p.functions)
    for (function_id* const named : {&f.derivative.tangent, &f.derivative.cotangent})
      if (*named != nothing) *named = number[index_of(*named)];
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    for (cursor c(p, function_id{i}); c.next();)
      if (c.code() == op::call || c.code() == op::closure)
        c.attributes_of(c.node()).subject = index_of(number[c.attributes_of(c.node()).subject]);
}

} // namespace overdub::pass
