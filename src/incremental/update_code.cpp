#include <overdub/implementation/incremental/change.hpp>
#include <overdub/implementation/incremental/saves.hpp>
#include <overdub/implementation/incremental/update_arguments.hpp>
#include <overdub/implementation/incremental/update_code.hpp>
#include <overdub/implementation/ir/affine.hpp>
#include <overdub/implementation/ir/shapes.hpp>
#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/implementation/ir/zero_value.hpp>
#include <overdub/incremental/update_program.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/ir/walk.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace overdub::increments {

bool has_loops(function const& f, node_id n) {
  bool found = false;
  for (region_id const r : f.regions_of(n))
    ir::walk(f, r, [&](node_id m) { found = found || repeats_regions(f[m].code); });
  return found;
}

bool is_observed_by_hooks(function const& f, node_id n) {
  bool any = false;
  for (region_id const r : f.regions_of(n))
    ir::walk(f, r, [&](node_id m) { any = any || ir::is_observer(f, m); });
  return any;
}

bool is_summed(function const& f, value_id v) {
  for (ir::use_id const u : f.uses_of(v)) {
    node_id const n = f[u].user;
    if (f[n].code == op::reduce && f[n].attributes.operation == op::add && f[n].operand_count == 2 &&
        f.type_of(v).rank == 1 && f.type_of(v).element_type().is_number())
      return true;
  }
  return false;
}

bool is_floating_sum(function const& f, value_id v) {
  if (!f.is_result(v)) return false;
  function::node const& n = f[f.node_of(v)];
  return n.code == op::reduce && n.attributes.operation == op::add && f.type_of(v).rank == 0 &&
         f.type_of(v).is_floating();
}

std::vector<value_id> update_code::path(std::uint32_t depth) const {
  std::vector<value_id> all;
  for (std::uint32_t k = 0; k < depth; ++k) all.push_back(iterations[k].index);
  return all;
}

/// The indices of the enclosing iterations, and one more.
std::vector<value_id> update_code::path_to(value_id last) const {
  std::vector<value_id> all = path(static_cast<std::uint32_t>(iterations.size()));
  all.push_back(last);
  return all;
}

/// The compensation of a saved sum, which is an argument only if it is saved, too.
value_id update_code::read_compensation(value_id v, std::vector<value_id> const& path) {
  value_id const array =
      arguments.value_of({.what = {}, .compensation_of = v}, saved[saved.value(v)].type, cursor);
  return path.empty() ? array : at(array, path);
}

/// The old value of a saved sum: with its compensation, if that is saved in the end.
value_id update_code::read_sum(value_id v, std::vector<value_id> const& path) {
  value_id const alone = read(saved.value(v), path);
  value_id const compensated = add(op::add, alone, read_compensation(v, path));
  old_sums.push_back({v, alone, compensated});
  return compensated;
}

/// Records that a value of the function is computed, or elements of it at the indices `c.path`, in the iterations that enclose the code.
void update_code::record(computed_value c) {
  auto const depth = enclosing_depth(original(), c.of);
  if (!depth) return; // it cannot be saved
  if (c.region == ir::nothing) c.region = cursor.region();
  auto const outer = path(std::min(*depth, static_cast<std::uint32_t>(iterations.size())));
  c.path.insert(c.path.begin(), outer.begin(), outer.end());
  computed.push_back(std::move(c));
}

value_id update_code::at(value_id array, std::vector<value_id> const& path) {
  std::vector<value_id> operands{array};
  operands.insert(operands.end(), path.begin(), path.end());
  ir::type result = type_of(array);
  for (std::size_t k = 0; k < path.size(); ++k) result = result.element_type();
  return written().result(cursor.insert(op::at, operands, std::array{result}));
}

/// The difference of two indices, modulo 2^64, if both are one value plus literals.
std::optional<std::int64_t> update_code::offset(value_id from, value_id to) const {
  ir::invariant_number const a = plus_literal(written(), from), b = plus_literal(written(), to);
  if (a.value != b.value) return {};
  return static_cast<std::int64_t>(
      static_cast<std::uint64_t>(b.literal) - static_cast<std::uint64_t>(a.literal));
}

/// Whether two indices are certain to differ: by a literal, or since one is of a later iteration.
bool update_code::are_distinct(value_id a, value_id b) const {
  if (offset(a, b).value_or(0) != 0) return true;
  // The later index is greater by 1 to 2^63 - 1: with two differences up to this limit, the sum is not 0 modulo 2^64.
  constexpr std::int64_t limit = std::int64_t{1} << 62;
  auto const is_in_limits = [&](std::int64_t x) { return x >= -limit && x <= limit; };
  return std::any_of(iterations.begin(), iterations.end(), [&](iteration const& t) {
    if (t.lower_index == ir::nothing) return false;
    auto const before = offset(a, t.lower_index), after = offset(t.index, b);
    return before && after && is_in_limits(*before) && is_in_limits(*after) && *before + *after >= 0;
  });
}

value_id update_code::selected(value_id condition, value_id yes, value_id no) {
  if (yes == no) return yes;
  if (type_of(yes).rank == 0) return add(op::select, condition, yes, no);
  return build().if_(condition, {yes}, {no});
}

/// Whether two values differ in their bits; a NaN differs from everything. Arrays differ if their lengths or any elements do.
value_id update_code::differs(value_id now, value_id before) {
  if (type_of(now).rank > 0) return arrays_differ(now, before);
  value_id const other = add(op::ne, now, before);
  if (!type_of(now).is_floating()) return other;
  // Operands are added one by one: the order of arguments' evaluation depends on the compiler, and programs do not.
  value_id const sign_before = add(op::signbit, before);
  value_id const sign = add(op::ne, add(op::signbit, now), sign_before);
  return add(op::logical_or, other, sign);
}

value_id update_code::arrays_differ(value_id now, value_id before) {
  value_id const length = add(op::length, now);
  value_id const is_as_long = add(op::eq, length, add(op::length, before));
  auto const is_equal = [&](values const& k) {
    return build().if_(
        add(op::lt, k[0], length),
        [&] {
          value_id const y = at(before, k[0]), x = at(now, k[0]);
          return add(op::logical_not, differs(x, y));
        },
        [&] { return literal(ir::boolean, 0); });
  };
  auto const next = [&](values const& k) { return add(op::add, k[0], literal(ir::i64, 1)); };
  auto const ends_early = [&] {
    value_id const end = build().while_({literal(ir::i64, 0)}, is_equal, next);
    return add(op::lt, end, length);
  };
  return build().if_(is_as_long, ends_early, [&] { return literal(ir::boolean, 1); });
}

} // namespace overdub::increments
