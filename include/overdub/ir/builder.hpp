// Builds operations with regions. Callbacks emit the regions, and return what these yield.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/regions.hpp>

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace overdub::ir {

/// Inserts structured operations at a cursor. A callback runs with the cursor at the end of its region, and returns the yielded
/// values: a vector, one value, or nothing. Result types follow from what the regions yield. Afterwards the cursor is after
/// the operation.
///
///   builder(c).loop(n, {zero}, [&](value_id i, builder::values const& s) { return c.add(op::add, s[0], i); })
///
/// Each function returns the operation and its results. O(operands and yielded values).
class builder {
public:
  using values = std::vector<value_id>;
  /// An operation, and its results.
  struct built {
    node_id node;
    values results;
    value_id result() const { return results.front(); }
    operator value_id() const { return results.front(); }
  };

  explicit builder(cursor& at) : at_(at) {}

  /// `then()` and `otherwise()` return the same number of values, of equal types.
  template <class Then, class Otherwise>
  built if_(value_id condition, Then const& then, Otherwise const& otherwise, attributes const& a = {}) {
    node_id const n = open(op::if_, values{condition}, 2, {}, a);
    in_region(n, 0, then);
    in_region(n, 1, otherwise);
    return close(n);
  }
  /// An `if` whose regions return what is computed already.
  built if_(value_id condition, values const& then, values const& otherwise) {
    return if_(
        condition, [&] { return then; }, [&] { return otherwise; });
  }
  /// `body(index, carried)` returns the next loop-carried values, and after them values that are stacked.
  /// `more`: types of arguments without operands, which follow the carried ones; the caller removes them.
  template <class Body>
  built loop(
      value_id trip_count, values const& initial, Body const& body, attributes const& a = {},
      std::vector<type> const& more = {}) {
    return counted(op::loop, trip_count, initial, body, a, more);
  }
  /// The same for a loop, or for a map, which has no initial values.
  template <class Body>
  built counted(
      op code, value_id trip_count, values const& initial, Body const& body, attributes const& a = {},
      std::vector<type> const& more = {}) {
    std::vector<type> arguments_of_body = with(i64, types_of(initial));
    arguments_of_body.insert(arguments_of_body.end(), more.begin(), more.end());
    node_id const n = open(code, with(trip_count, initial), 1, arguments_of_body, a);
    in_region(n, 0, [&] { return body(argument(n, 0, 0), arguments(n, 0, 1)); });
    return close(n);
  }
  /// `condition(carried)` returns a bool, `body(carried)` as that of a loop.
  template <class Condition, class Body>
  built while_(values const& initial, Condition const& condition, Body const& body) {
    node_id const n = open(op::while_, initial, 2, types_of(initial), {});
    in_region(n, 0, [&] { return condition(arguments(n, 0, 0)); });
    in_region(n, 1, [&] { return body(arguments(n, 1, 0)); });
    return close(n);
  }
  /// `element(index)` returns an element of each result.
  template <class Element>
  built map(value_id count, Element const& element) {
    return counted(op::map, count, {}, [&](value_id i, values const&) { return element(i); });
  }
  /// `add(accumulators)` adds to the arrays. The results are the sums, and what it returns.
  template <class Add>
  built accumulate(values const& arrays, Add const& add) {
    std::vector<type> accumulators;
    for (value_id const v : arrays) accumulators.push_back((*at_).type_of(v).accumulator());
    node_id const n = open(op::accumulate, arrays, 1, accumulators, {});
    in_region(n, 0, [&] { return add(arguments(n, 0, 0)); });
    return close(n);
  }
  /// The reduction of an array by an elementwise operation, from an initial value.
  value_id reduce(op combine, value_id array, value_id initial);

  // ---- for regions that are written in several steps

  /// Inserts an operation without results whose regions have arguments of these types, and are empty.
  node_id open(
      op code, values const& operands, std::uint32_t regions, std::vector<type> const& arguments = {},
      attributes const& a = {});
  /// The same for an operation like `n`, of any function of the program, with other operands.
  node_id open_like(function const& f, node_id n, values const& operands);
  /// Emits to one of its regions: to the end, or before its yield. The region also yields the returned values.
  /// A callback that returns nothing may emit the yield.
  template <class Emit>
  void in_region(node_id n, std::uint32_t region, Emit const& emit) {
    cursor const outside = at_;
    region_id const r = at_->region_at(n, region);
    node_id const end = end_of(r);
    at_.to_yield(r);
    if constexpr (std::is_void_v<std::invoke_result_t<Emit const&>>) {
      emit();
      yield(r, end_of(r), {});
    } else {
      yield(r, end, list(emit()));
    }
    at_ = outside;
  }
  /// Adds the results, once all regions are there.
  built close(node_id n);

private:
  static values with(value_id first, values all) { return all.insert(all.begin(), first), all; }
  static std::vector<type> with(type first, std::vector<type> all) {
    return all.insert(all.begin(), first), all;
  }
  std::vector<type> types_of(values const& all) const {
    std::vector<type> types;
    for (value_id const v : all) types.push_back(at_->type_of(v));
    return types;
  }
  value_id argument(node_id n, std::uint32_t region, std::uint32_t i) const {
    return at_->argument(at_->region_at(n, region), i);
  }
  values arguments(node_id n, std::uint32_t region, std::uint32_t first) const;
  // The yield of a region; nothing, if it has none yet.
  node_id end_of(region_id r) const {
    node_id const last = at_->yield_of(r);
    return last != nothing && (*at_)[last].code == op::yield ? last : node_id(nothing);
  }
  void yield(region_id r, node_id end, values const& more);
  static values list(values all) { return all; }
  static values list(value_id one) { return {one}; }
  static values list(built const& all) { return all.results; }

  cursor& at_;
};

} // namespace overdub::ir
