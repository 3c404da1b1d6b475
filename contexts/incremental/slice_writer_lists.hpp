// Elements that changed, in a list: which of them stands at an index, and which indices a step before or behind there are.
#pragma once

#include <overdub/contexts/incremental/slice_writer_values.hpp>

namespace overdub::contexts::increments {

/// How many elements of an ascending list are less than a number: O(log length).
inline value_id slice_writer::count_below(value_id list, value_id number) {
  region_id const here = at_.region();
  // Carried: how many are known to be, and how many behind them are not known yet.
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
  value_id const behind = at_.add(op::sub, at_.add(op::sub, unknown, half), one);
  value_id const next = at_.add(op::select, is_below, at_.add(op::add, middle, one), known);
  at_.yield(std::array{next, at_.add(op::select, is_below, behind, half)});
  at_.to_end(here);
  return written().result(search);
}

/// Whether it is known how to find an index in a piece's list.
inline bool slice_writer::is_searchable(piece const& p) { return p.is_sorted || p.first != ir::nothing; }

/// Whether an index is on a list, and where: that is for where it is.
inline slice_writer::place_in_list slice_writer::find_in(piece const& p, value_id index) {
  if (p.first != ir::nothing)
    return {
        both(at_.add(op::ge, index, p.first), at_.add(op::lt, index, p.end)),
        at_.add(op::sub, index, p.first)};
  place_in_list const at_source = find_in_source(p.source, p.shift, index);
  if (p.skipped == ir::nothing) return at_source;
  // Some of the source's list, from one of its elements on.
  value_id const own = at_.add(op::sub, at_source.position, p.skipped);
  value_id const is_among =
      both(at_.add(op::ge, own, literal(ir::i64, 0)), at_.add(op::lt, own, at_.add(op::length, p.list)));
  return {both(at_source.is_there, is_among), own};
}
/// The same of an index that is shifted from those of an input's list.
inline slice_writer::place_in_list
slice_writer::find_in_source(std::uint32_t input, std::int64_t shift, value_id index) {
  value_id const zero = literal(ir::i64, 0);
  value_id const positions =
      parameter_for({.what = slice_parameter::kind::positions, .variable = input}, ir::i64.array_of());
  if (shift != 0) index = at_.add(op::sub, index, literal(ir::i64, static_cast<std::uint64_t>(shift)));
  value_id const is_inside =
      both(at_.add(op::ge, index, zero), at_.add(op::lt, index, at_.add(op::length, positions)));
  value_id const position = at(positions, at_.add(op::select, is_inside, index, zero));
  return {both(is_inside, at_.add(op::ge, position, zero)), position};
}

/// So many indices, from one on.
inline value_id slice_writer::indices_from(value_id first, value_id count) {
  region_id const here = at_.region();
  std::vector<ir::type> const index[] = {{ir::i64}};
  node_id const made = at_.insert(op::map, std::array{count}, std::array{ir::i64.array_of()}, {}, index);
  region_id const inside = written().region_at(made, 0);
  at_.to_end(inside);
  at_.yield(std::array{at_.add(op::add, first, written().argument(inside, 0))});
  at_.to_end(here);
  return written().result(made);
}

/// The turns, of so many, that use the elements of a list at a step behind their own index. The list is a source's as it is, or a loop's.
inline piece slice_writer::shifted(piece p, std::int64_t step, value_id count) {
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
  node_id const turns = at_.insert(
      op::map, std::array{at_.add(op::sub, end, begin)}, std::array{ir::i64.array_of()}, {}, index);
  region_id const inside = written().region_at(turns, 0);
  at_.to_end(inside);
  value_id const k = at_.add(op::add, begin, written().argument(inside, 0));
  at_.yield(std::array{p.first != ir::nothing ? k : at_.add(op::sub, at(list, k), by)});
  at_.to_end(here);
  p.list = written().result(turns);
  p.shift -= step;
  return p;
}

/// The first and the last turn of a list: the number of turns, and -1, where it is empty.
inline std::pair<value_id, value_id> slice_writer::ends_of_list(piece const& p, value_id count) {
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

} // namespace overdub::contexts::increments
