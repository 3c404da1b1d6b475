// The order of operations that make random choices: they commute, and stand by their addresses in the canonical form.
#pragma once

#include <overdub/pass/words.hpp>

#include <cstdint>
#include <span>

namespace overdub::pass::detail {

/// Samples by address, then what else makes random choices, then everything else. Below 0: a is before b.
inline int compare_choices(
    program const& p, function const& f, std::span<effect_set const> effects_of_each, node_id a, node_id b) {
  auto const class_of = [&](node_id n) {
    return f[n].code == op::sample ? 0 : effects_of_each[index_of(n)].has(effect::addressed) ? 1 : 2;
  };
  int const left = class_of(a), right = class_of(b);
  if (left != right || left != 0) return left - right;
  attributes const& x = f[a].attributes;
  attributes const& y = f[b].attributes;
  if (int const order = p.text(x.text()).compare(p.text(y.text())); order != 0) return order;
  if (x.count != y.count) return x.count < y.count ? -1 : 1;
  for (std::uint32_t i = 0; i < x.count; ++i) {
    value_id const v = f.operand(a, i), w = f.operand(b, i);
    if (f.is_literal(v) != f.is_literal(w)) return f.is_literal(v) ? -1 : 1;
    if (!f.is_literal(v) || f.bits_of(v) == f.bits_of(w)) continue;
    return static_cast<std::int64_t>(f.bits_of(v)) < static_cast<std::int64_t>(f.bits_of(w)) ? -1 : 1;
  }
  return 0;
}

} // namespace overdub::pass::detail
