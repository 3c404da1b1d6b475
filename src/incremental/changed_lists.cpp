#include <overdub/implementation/incremental/changed_lists.hpp>
#include <overdub/implementation/incremental/update_code.hpp>

#include <cstdint>
#include <utility>

namespace overdub::increments {

value_id count_below(update_code& code, value_id list, value_id number) {
  value_id const zero = code.literal(ir::i64, 0), one = code.literal(ir::i64, 1);
  // Loop-carried: how many are known to be less, and how many after these are not compared yet.
  return code.build().while_(
      {zero, code.add(op::length, list)}, [&](values const& s) { return code.add(op::gt, s[1], zero); },
      [&](values const& s) {
        value_id const known = s[0], unknown = s[1];
        value_id const half = code.add(op::shift_right, unknown, one);
        value_id const middle = code.add(op::add, known, half);
        value_id const is_below = code.add(op::lt, code.at(list, middle), number);
        value_id const after = code.add(op::sub, code.add(op::sub, unknown, half), one);
        value_id const next = code.add(op::select, is_below, code.add(op::add, middle, one), known);
        return values{next, code.add(op::select, is_below, after, half)};
      });
}

/// Whether an index is in a delta's list, and its position, which is valid only if it is.
list_position find_in(update_code& code, delta const& p, value_id index) {
  if (p.first != ir::nothing) {
    value_id const is_before_end = code.add(op::lt, index, p.end);
    return {code.both(code.add(op::ge, index, p.first), is_before_end), code.add(op::sub, index, p.first)};
  }
  list_position const at_source = find_in_source(code, p.source, p.shift, index);
  if (p.skipped == ir::nothing) return at_source;
  // A consecutive part of the source's list.
  value_id const own = code.add(op::sub, at_source.position, p.skipped);
  value_id const is_before_end = code.add(op::lt, own, code.add(op::length, p.list));
  value_id const is_among = code.both(code.add(op::ge, own, code.literal(ir::i64, 0)), is_before_end);
  return {code.both(at_source.is_there, is_among), own};
}

/// The same for an input's list, whose indices are shifted.
list_position find_in_source(update_code& code, std::uint32_t input, std::int64_t shift, value_id index) {
  value_id const zero = code.literal(ir::i64, 0);
  value_id const positions =
      code.parameter_for({.what = update_parameter::kind::positions, .variable = input}, ir::i64.array_of());
  if (shift != 0) index = code.add(op::sub, index, code.literal(ir::i64, static_cast<std::uint64_t>(shift)));
  value_id const is_before_end = code.add(op::lt, index, code.add(op::length, positions));
  value_id const is_inside = code.both(code.add(op::ge, index, zero), is_before_end);
  value_id const position = code.at(positions, code.add(op::select, is_inside, index, zero));
  return {code.both(is_inside, code.add(op::ge, position, zero)), position};
}

/// The iterations, of `count`, that read the elements of a list at their own index plus `step`. The list is a source's, or a range.
delta shifted(update_code& code, delta p, std::int64_t step, value_id count) {
  value_id const by = code.literal(ir::i64, static_cast<std::uint64_t>(step)), list = p.list;
  value_id begin, end;
  if (p.first != ir::nothing) {
    begin = p.first = code.add(op::max, code.add(op::sub, p.first, by), code.literal(ir::i64, 0));
    end = p.end = code.add(op::max, p.first, code.add(op::min, code.add(op::sub, p.end, by), count));
  } else {
    begin = count_below(code, list, by);
    p.skipped = p.skipped == ir::nothing ? begin : code.add(op::add, p.skipped, begin);
    end = code.add(op::max, begin, count_below(code, list, code.add(op::add, count, by)));
  }
  p.list = code.build().map(code.add(op::sub, end, begin), [&](value_id i) {
    value_id const k = code.add(op::add, begin, i);
    return p.first != ir::nothing ? k : code.add(op::sub, code.at(list, k), by);
  });
  p.shift -= step;
  return p;
}

/// The first and the last iteration of a list. Of an empty list `count` and -1.
std::pair<value_id, value_id> bounds_of_list(update_code& code, delta const& p, value_id count) {
  value_id const before = code.literal(ir::i64, ~std::uint64_t{0});
  value_id const length = code.add(op::length, p.list), last = code.add(op::add, length, before);
  auto const ends = code.build().if_(
      code.add(op::gt, length, code.literal(ir::i64, 0)),
      [&] {
        return values{code.at(p.list, code.literal(ir::i64, 0)), code.at(p.list, last)};
      },
      [&] {
        return values{count, before};
      });
  return {ends.results[0], ends.results[1]};
}

} // namespace overdub::increments
