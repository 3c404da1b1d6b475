// The sums of the cotangents of a function's values, while the adjoint is written.
#pragma once

#include <overdub/implementation/ir/maker.hpp>
#include <overdub/implementation/reverse/activity.hpp>
#include <overdub/ir/bounds.hpp>
#include <overdub/ir/builder.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace overdub::adjoint {

/// Emits sums of cotangents at its cursor. Scopes are nested like regions: the contributions that a scope collects are
/// taken when it ends. For an array whose elements are read in a region that runs repeatedly, an accumulator collects the
/// contributions of all nested scopes (Schenck, Rønning, Henriksen and Oancea, AD for an array language with nested parallelism,
/// SC 2022; the accumulators of Futhark and Dex).
class cotangents {
public:
  cotangents(ir::cursor& at, activity const& known) : at_(at), activity_(known) { scopes_.emplace_back(); }

  void enter() { scopes_.emplace_back(); }
  void leave() { scopes_.pop_back(); }

  /// Adds a contribution to the cotangent of a value.
  void add(value_id v, value_id contribution) {
    if (!activity_.varies(v)) return;
    if (!top().collected.contains(v))
      if (place const to = place_of(v); to.accumulator != ir::nothing) return add_whole(to, contribution);
    auto const [at, is_new] = top().sums.try_emplace(v, contribution);
    if (!is_new) at.value() = plus(at->second, contribution);
  }
  /// Adds a contribution to the cotangent of an element, or a part, of an array.
  void add_at(value_id array, std::span<value_id const> indices, value_id contribution) {
    if (!activity_.varies(array)) return;
    if (auto const at = top().by_index.find(array); at != top().by_index.end()) {
      at.value() = at->second == ir::nothing ? contribution : plus(at->second, contribution);
      return;
    }
    if (place to = place_of(array); to.accumulator != ir::nothing) {
      to.indices.insert(to.indices.end(), indices.begin(), indices.end());
      return add_to(to.accumulator, to.indices, contribution);
    }
    top().elements[array].push_back({{indices.begin(), indices.end()}, contribution});
  }
  /// Moves the cotangent that a scope has collected for a part of an array to the cotangent of the array. Single elements
  /// are added at their own indices, without an array of zeros.
  void move_to_array(value_id v, value_id array, std::span<value_id const> indices) {
    bool const as_whole = top().by_index.contains(array);
    std::vector<part> parts;
    if (auto const at = top().elements.find(v); !as_whole && at != top().elements.end()) {
      parts = std::move(at.value());
      top().elements.erase(at);
    }
    value_id const whole = take(v);
    if (whole != ir::nothing) add_at(array, indices, whole);
    for (part& p : parts) {
      p.indices.insert(p.indices.begin(), indices.begin(), indices.end());
      add_at(array, p.indices, p.contribution);
    }
  }
  /// Returns and removes the sum that the scope has collected for a value; nothing, if there is none.
  value_id take(value_id v) {
    value_id sum = ir::nothing;
    if (auto const at = top().sums.find(v); at != top().sums.end()) {
      sum = at->second;
      top().sums.erase(at);
    }
    auto const at = top().elements.find(v);
    if (at == top().elements.end()) return sum;
    std::vector<part> const parts = std::move(at.value());
    top().elements.erase(at);
    if (sum == ir::nothing) sum = zeros_like(v);
    return with_parts(sum, parts);
  }
  /// In this scope, contributions to these numbers are summed, also to elements of an array that has an accumulator.
  void collect(std::vector<value_id> const& numbers) {
    for (value_id const v : numbers) top().collected.insert(v);
  }
  /// In this scope, all contributions to elements of an array are to the element at the iteration's index: one number sums
  /// them.
  void sum_elements_of(value_id array) { top().by_index.insert_or_assign(array, ir::nothing); }
  /// That sum; nothing, if there is none.
  value_id take_element(value_id array) const { return top().by_index.find(array)->second; }

  /// Emits pending sums that use these indices, or any index, because the indices are about to be redefined.
  void emit_pending(std::span<value_id const> indices) {
    emit_pending_where(
        [&](value_id i) { return std::find(indices.begin(), indices.end(), i) != indices.end(); });
  }
  void emit_pending() {
    emit_pending_where([](value_id) { return true; });
  }
  void set(value_id v, value_id sum) { top().sums.insert_or_assign(v, sum); }

  /// From now on, contributions to an array go to this accumulator; with ir::nothing, to its cotangent again.
  void accumulate_in(value_id array, value_id accumulator) {
    if (accumulator == ir::nothing)
      top().accumulators.erase(array);
    else
      top().accumulators.insert_or_assign(array, accumulator);
  }
  /// Whether contributions go to an accumulator: of the array, or of one that it is a part of.
  bool is_accumulated(value_id array) const { return place_of(array).accumulator != ir::nothing; }
  bool has_accumulator(value_id array) const { return accumulator(array) != ir::nothing; }

  /// 0, or an array of zeros of the shape of a value.
  value_id zeros_like(value_id v) {
    ir::type const t = at_->type_of(v);
    if (t.rank == 0) return zero(t);
    value_id const n = size_of(v);
    if (t.rank == 1) return at_.add(op::fill, n, zero(t.element_type()));
    return build().map(n, [&](value_id i) { return zeros_like(at_.add(op::at, v, i)); });
  }
  value_id zero(ir::type t) { return at_.literal(t, 0); }
  /// The zero of an element, or a row, of an array.
  value_id zero_element(value_id array, value_id index) {
    ir::type const t = at_->type_of(array).element_type();
    return t.rank == 0 ? zero(t) : zeros_like(at_.add(op::at, array, index));
  }
  /// The length of an array, from its definition where that does not read the array.
  value_id size_of(value_id array) {
    value_id const known = ir::length_of(*at_, array);
    return known == ir::nothing ? at_.add(op::length, array) : known;
  }

  /// An element, or a part, of an array. That of a fill is the filled value.
  value_id element(value_id array, std::span<value_id const> indices) {
    ir::cursor const& at = at_;
    if (node_id const filled = ir::maker_of(*at, array, op::fill);
        filled != ir::nothing && indices.size() == 1)
      return at->operand(filled, 1);
    std::vector<value_id> operands{array};
    operands.insert(operands.end(), indices.begin(), indices.end());
    return at_->result(at_.insert(op::at, operands));
  }
  value_id element(value_id array, value_id index) {
    return element(array, std::span<value_id const>(&index, 1));
  }
  /// a + b, element-wise.
  value_id plus(value_id a, value_id b) {
    if (at_->type_of(a).rank == 0) return at_.add(op::add, a, b);
    value_id const known = size_of(a);
    value_id const n = known == size_of(b) ? known : at_.add(op::length, a, b);
    return build().map(n, [&](value_id i) {
      // The order of arguments' evaluation depends on the compiler, and programs do not.
      value_id const y = element(b, i), x = element(a, i);
      return plus(x, y);
    });
  }

  /// Accumulates contributions to the cotangents of these arrays in place while `write` runs. Returns the results of `write`,
  /// as results of the accumulate.
  template <class Write>
  std::vector<value_id> in_accumulators(std::vector<value_id> const& arrays, Write const& write) {
    if (arrays.empty()) return write();
    std::vector<value_id> sums;
    for (value_id const v : arrays) {
      value_id const sum = take(v);
      sums.push_back(sum == ir::nothing ? zeros_like(v) : sum);
    }
    auto const made = build().accumulate(sums, [&](std::vector<value_id> const& accumulators) {
      for (std::size_t i = 0; i < arrays.size(); ++i) accumulate_in(arrays[i], accumulators[i]);
      std::vector<value_id> const given = write();
      for (value_id const v : arrays) accumulate_in(v, ir::nothing);
      return given;
    });
    for (std::size_t i = 0; i < arrays.size(); ++i) set(arrays[i], made.results[i]);
    return {made.results.begin() + static_cast<std::ptrdiff_t>(arrays.size()), made.results.end()};
  }
  /// Runs `write`, which adds contributions to many elements of an array, where an accumulator collects them.
  template <class Write>
  void scatter(value_id array, Write const& write) {
    if (!activity_.varies(array)) return;
    if (is_accumulated(array)) return write();
    (void)in_accumulators({array}, [&] {
      write();
      return std::vector<value_id>{};
    });
  }
  /// The sum of the elements of an array. One of rows is not empty.
  value_id sum_of(value_id elements) {
    ir::type const t = at_->type_of(elements).element_type();
    if (t.rank == 0) return build().reduce(op::add, elements, zero(t));
    // The sum of rows has the shape of the first row.
    value_id const one = at_.literal(std::int64_t{1}), rows = at_.add(op::length, elements);
    value_id const first = at_.add(op::at, elements, at_.literal(std::int64_t{0}));
    return build().loop(
        at_.add(op::sub, rows, one), {first}, [&](value_id i, std::vector<value_id> const& sum) {
          value_id const row = at_.add(op::add, i, one);
          return plus(sum[0], at_.add(op::at, elements, row));
        });
  }

private:
  struct part {
    std::vector<value_id> indices;
    value_id contribution;
  };
  struct scope {
    value_map<value_id> sums;
    value_map<std::vector<part>> elements;
    value_map<value_id> accumulators;
    value_map<value_id> by_index;
    ir::value_set collected;
  };
  scope& top() { return scopes_.back(); }
  scope const& top() const { return scopes_.back(); }
  ir::builder build() { return ir::builder(at_); }

  value_id accumulator(value_id array) const {
    for (std::size_t i = scopes_.size(); i-- > 0;)
      if (auto const at = scopes_[i].accumulators.find(array); at != scopes_[i].accumulators.end())
        return at->second;
    return ir::nothing;
  }

  // Where contributions to an array are added: all of an accumulator, or a part of it.
  struct place {
    value_id accumulator = ir::nothing;
    std::vector<value_id> indices = {};
  };
  place place_of(value_id array) const {
    if (value_id const own = accumulator(array); own != ir::nothing) return {own};
    ir::function const& f = *std::as_const(at_);
    if (!f.is_result(array) || f[f.node_of(array)].code != op::at) return {};
    auto const operands = f.operands_of(f.node_of(array));
    place whole = place_of(operands[0]);
    if (whole.accumulator != ir::nothing)
      whole.indices.insert(whole.indices.end(), std::next(operands.begin()), operands.end());
    return whole;
  }

  template <class Is>
  void emit_pending_where(Is const& is) {
    std::vector<value_id> arrays;
    for (auto const& [array, parts] : top().elements)
      for (part const& p : parts)
        if (std::any_of(p.indices.begin(), p.indices.end(), is)) {
          arrays.push_back(array);
          break;
        }
    std::sort(arrays.begin(), arrays.end());
    for (value_id const v : arrays) {
      value_id const sum = take(v); // before `set` inserts
      set(v, sum);
    }
  }
  void add_to(value_id accumulator, std::span<value_id const> indices, value_id contribution) {
    std::vector<value_id> operands{accumulator};
    operands.insert(operands.end(), indices.begin(), indices.end());
    operands.push_back(contribution);
    at_.insert(op::add_to, operands, std::span<ir::type const>());
  }
  // A part is added by one operation; an accumulator without indices, element by element or row by row.
  void add_whole(place const& to, value_id contribution) {
    if (!to.indices.empty()) return add_to(to.accumulator, to.indices, contribution);
    build().loop(at_.add(op::length, contribution), {}, [&](value_id i, std::vector<value_id> const&) {
      add_to(to.accumulator, std::span<value_id const>(&i, 1), at_.add(op::at, contribution, i));
    });
  }
  value_id with_parts(value_id sum, std::vector<part> const& parts) {
    return build().accumulate({sum}, [&](std::vector<value_id> const& to) {
      for (part const& p : parts) add_to(to[0], p.indices, p.contribution);
    });
  }

  ir::cursor& at_;
  activity const& activity_;
  std::vector<scope> scopes_;
};

} // namespace overdub::adjoint
