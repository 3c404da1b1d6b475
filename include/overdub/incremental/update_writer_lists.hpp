// Lists of changed elements: searches in a list, and lists of shifted indices.
#pragma once

#include <overdub/incremental/update_writer_values.hpp>

namespace overdub::increments {

/// The number of elements of an ascending list that are less than a number: binary search, O(log length).
inline value_id update_writer::count_below(value_id list, value_id number) {
  region_id const here = at_.region();
  // Loop-carried: how many are known to be less, and how many after these are not compared yet.
  std::vector<ir::type> const types{ir::i64, ir::i64};
  std::vector<std::vector<ir::type>> const arguments{types, types};
  value_id const zero = literal(ir::i64, 0), one = literal(ir::i64, 1);
  node_id const search =
      at_.insert(op::while_, std::array{zero, at_.add(op::length, list)}, types, {}, arguments);
  region_id const test = written().region_at(search, 0), body = written().region_at(search, 1);
  at_.to_end(test);
  at_.yield(std::array{at_.add(op::gt, written().argument(test, 1), zero)});
  at_.to_end(body);
  value_id const known = written().argument(body, 0), unknown = written().argument(body, 1);
  value_id const half = at_.add(op::shift_right, unknown, one);
  value_id const middle = at_.add(op::add, known, half);
  value_id const is_below = at_.add(op::lt, at(list, middle), number);
  value_id const after = at_.add(op::sub, at_.add(op::sub, unknown, half), one);
  value_id const next = at_.add(op::select, is_below, at_.add(op::add, middle, one), known);
  at_.yield(std::array{next, at_.add(op::select, is_below, after, half)});
  at_.to_end(here);
  return written().result(search);
}

/// Whether `find_in` can search a delta's list.
inline bool update_writer::is_searchable(delta const& p) { return p.is_sorted || p.first != ir::nothing; }

/// Whether an index is in a delta's list, and its position, which is valid only if it is.
inline update_writer::list_position update_writer::find_in(delta const& p, value_id index) {
  if (p.first != ir::nothing)
    return {
        both(at_.add(op::ge, index, p.first), at_.add(op::lt, index, p.end)),
        at_.add(op::sub, index, p.first)};
  list_position const at_source = find_in_source(p.source, p.shift, index);
  if (p.skipped == ir::nothing) return at_source;
  // A consecutive part of the source's list.
  value_id const own = at_.add(op::sub, at_source.position, p.skipped);
  value_id const is_among =
      both(at_.add(op::ge, own, literal(ir::i64, 0)), at_.add(op::lt, own, at_.add(op::length, p.list)));
  return {both(at_source.is_there, is_among), own};
}
/// The same for an input's list, whose indices are shifted.
inline update_writer::list_position
update_writer::find_in_source(std::uint32_t input, std::int64_t shift, value_id index) {
  value_id const zero = literal(ir::i64, 0);
  value_id const positions =
      parameter_for({.what = update_parameter::kind::positions, .variable = input}, ir::i64.array_of());
  if (shift != 0) index = at_.add(op::sub, index, literal(ir::i64, static_cast<std::uint64_t>(shift)));
  value_id const is_inside =
      both(at_.add(op::ge, index, zero), at_.add(op::lt, index, at_.add(op::length, positions)));
  value_id const position = at(positions, at_.add(op::select, is_inside, index, zero));
  return {both(is_inside, at_.add(op::ge, position, zero)), position};
}

/// `count` consecutive indices.
inline value_id update_writer::indices_from(value_id first, value_id count) {
  region_id const here = at_.region();
  std::vector<ir::type> const index[] = {{ir::i64}};
  node_id const made = at_.insert(op::map, std::array{count}, std::array{ir::i64.array_of()}, {}, index);
  region_id const inside = written().region_at(made, 0);
  at_.to_end(inside);
  at_.yield(std::array{at_.add(op::add, first, written().argument(inside, 0))});
  at_.to_end(here);
  return written().result(made);
}

/// The iterations, of `count`, that read the elements of a list at their own index plus `step`. The list is a source's, or a range.
inline delta update_writer::shifted(delta p, std::int64_t step, value_id count) {
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
  region_id const here = at_.region();
  std::vector<ir::type> const index[] = {{ir::i64}};
  node_id const iterations = at_.insert(
      op::map, std::array{at_.add(op::sub, end, begin)}, std::array{ir::i64.array_of()}, {}, index);
  region_id const inside = written().region_at(iterations, 0);
  at_.to_end(inside);
  value_id const k = at_.add(op::add, begin, written().argument(inside, 0));
  at_.yield(std::array{p.first != ir::nothing ? k : at_.add(op::sub, at(list, k), by)});
  at_.to_end(here);
  p.list = written().result(iterations);
  p.shift -= step;
  return p;
}

/// The first and the last iteration of a list. Of an empty list `count` and -1.
inline std::pair<value_id, value_id> update_writer::bounds_of_list(delta const& p, value_id count) {
  value_id const before = literal(ir::i64, ~std::uint64_t{0});
  value_id const length = at_.add(op::length, p.list), last = at_.add(op::add, length, before);
  region_id const here = at_.region();
  std::vector<ir::type> const no_arguments[2];
  node_id const choice = at_.insert(
      op::if_, std::array{at_.add(op::gt, length, literal(ir::i64, 0))}, std::array{ir::i64, ir::i64}, {},
      no_arguments);
  at_.to_end(written().region_at(choice, 0));
  value_id const ends[] = {at(p.list, literal(ir::i64, 0)), at(p.list, last)};
  at_.yield(ends);
  at_.to_end(written().region_at(choice, 1));
  at_.yield(std::array{count, before});
  at_.to_end(here);
  return {written().result(choice, 0), written().result(choice, 1)};
}

} // namespace overdub::increments
