// Lists of changed elements: searches in a list, and lists of shifted indices.
#pragma once

#include <overdub/implementation/incremental/update_emitter.hpp>

#include <cstdint>
#include <utility>

namespace overdub::increments {

/// Emits operations on lists of indices. O(log length) at run time for a search.
class changed_lists : update_emitter {
public:
  struct list_position {
    value_id is_there, position;
  };

  explicit changed_lists(update_code& code) : update_emitter(code) {}

  list_position find_in(delta const& p, value_id index);
  list_position find_in_source(std::uint32_t input, std::int64_t shift, value_id index);
  delta shifted(delta p, std::int64_t step, value_id count);
  std::pair<value_id, value_id> bounds_of_list(delta const& p, value_id count);

private:
  value_id count_below(value_id list, value_id number);
};

/// The number of elements of an ascending list that are less than a number: binary search, O(log length).
inline value_id changed_lists::count_below(value_id list, value_id number) {
  value_id const zero = literal(ir::i64, 0), one = literal(ir::i64, 1);
  // Loop-carried: how many are known to be less, and how many after these are not compared yet.
  return build().while_(
      {zero, at_.add(op::length, list)}, [&](values const& s) { return at_.add(op::gt, s[1], zero); },
      [&](values const& s) {
        value_id const known = s[0], unknown = s[1];
        value_id const half = at_.add(op::shift_right, unknown, one);
        value_id const middle = at_.add(op::add, known, half);
        value_id const is_below = at_.add(op::lt, at(list, middle), number);
        value_id const after = at_.add(op::sub, at_.add(op::sub, unknown, half), one);
        value_id const next = at_.add(op::select, is_below, at_.add(op::add, middle, one), known);
        return values{next, at_.add(op::select, is_below, after, half)};
      });
}

/// Whether an index is in a delta's list, and its position, which is valid only if it is.
inline changed_lists::list_position changed_lists::find_in(delta const& p, value_id index) {
  if (p.first != ir::nothing) {
    value_id const is_before_end = at_.add(op::lt, index, p.end);
    return {both(at_.add(op::ge, index, p.first), is_before_end), at_.add(op::sub, index, p.first)};
  }
  list_position const at_source = find_in_source(p.source, p.shift, index);
  if (p.skipped == ir::nothing) return at_source;
  // A consecutive part of the source's list.
  value_id const own = at_.add(op::sub, at_source.position, p.skipped);
  value_id const is_before_end = at_.add(op::lt, own, at_.add(op::length, p.list));
  value_id const is_among = both(at_.add(op::ge, own, literal(ir::i64, 0)), is_before_end);
  return {both(at_source.is_there, is_among), own};
}

/// The same for an input's list, whose indices are shifted.
inline changed_lists::list_position
changed_lists::find_in_source(std::uint32_t input, std::int64_t shift, value_id index) {
  value_id const zero = literal(ir::i64, 0);
  value_id const positions =
      parameter_for({.what = update_parameter::kind::positions, .variable = input}, ir::i64.array_of());
  if (shift != 0) index = at_.add(op::sub, index, literal(ir::i64, static_cast<std::uint64_t>(shift)));
  value_id const is_before_end = at_.add(op::lt, index, at_.add(op::length, positions));
  value_id const is_inside = both(at_.add(op::ge, index, zero), is_before_end);
  value_id const position = at(positions, at_.add(op::select, is_inside, index, zero));
  return {both(is_inside, at_.add(op::ge, position, zero)), position};
}

/// The iterations, of `count`, that read the elements of a list at their own index plus `step`. The list is a source's, or a range.
inline delta changed_lists::shifted(delta p, std::int64_t step, value_id count) {
  value_id const by = literal(ir::i64, static_cast<std::uint64_t>(step)), list = p.list;
  value_id begin, end;
  if (p.first != ir::nothing) {
    begin = p.first = at_.add(op::max, at_.add(op::sub, p.first, by), literal(ir::i64, 0));
    end = p.end = at_.add(op::max, p.first, at_.add(op::min, at_.add(op::sub, p.end, by), count));
  } else {
    begin = count_below(list, by);
    p.skipped = p.skipped == ir::nothing ? begin : at_.add(op::add, p.skipped, begin);
    end = at_.add(op::max, begin, count_below(list, at_.add(op::add, count, by)));
  }
  p.list = build().map(at_.add(op::sub, end, begin), [&](value_id i) {
    value_id const k = at_.add(op::add, begin, i);
    return p.first != ir::nothing ? k : at_.add(op::sub, at(list, k), by);
  });
  p.shift -= step;
  return p;
}

/// The first and the last iteration of a list. Of an empty list `count` and -1.
inline std::pair<value_id, value_id> changed_lists::bounds_of_list(delta const& p, value_id count) {
  value_id const before = literal(ir::i64, ~std::uint64_t{0});
  value_id const length = at_.add(op::length, p.list), last = at_.add(op::add, length, before);
  auto const ends = build().if_(
      at_.add(op::gt, length, literal(ir::i64, 0)),
      [&] {
        return values{at(p.list, literal(ir::i64, 0)), at(p.list, last)};
      },
      [&] {
        return values{count, before};
      });
  return {ends.results[0], ends.results[1]};
}

} // namespace overdub::increments
