// Vectorised lowering: operations whose results vary between the elements of a block. A varying scalar is a pointer to its
// lanes: to a row of the map's memory, or into an array. A varying array is an array of lanes. Uniform operations are
// lowered as usual, and run once for the block.
#pragma once

#include <overdub/implementation/execute/add_handlers.hpp>
#include <overdub/implementation/execute/block_reduce_handlers.hpp>
#include <overdub/implementation/execute/frame_slots.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace overdub::execute {

/// Lowers maps in blocks of elements, and the operations in lanes of their bodies.
class lane_lowering : protected frame_slots {
protected:
  using frame_slots::frame_slots;
  ~lane_lowering() = default;
  /// Lowers the operations of a region but one: uniform ones as usual, others by `lower_in_lanes`.
  virtual void lower_region(region_id r, node_id left_out) = 0;

  void lower_in_blocks(node_id n, lane_plan const& plan);
  void lower_in_lanes(node_id n);

private:
  // A result of a vectorised map.
  struct block_output {
    value_id result, yielded;
    offset array = no_word;       // the result, or three words in place of an array that is not created
    node_id reduce = ir::nothing; // the reduction that consumes the result instead of storing it
    offset state = no_word;       // of the reduction
    offset place = no_word;       // points to the destination of the block's elements
    offset row = no_word;         // of lanes, if they are there
  };

  void lane_elementwise(node_id n);
  void lane_strided(node_id n);
  void make_strided(value_id v, offset first, offset step);
  std::vector<offset> indices_of_lanes(node_id n, std::uint32_t count) const;
  bool fuse_in_lanes(ir::op code, value_id x, value_id other, side on, node_id n);
  void lane_at_uniform(node_id n);
  void lane_at_lanes(node_id n);
  void lane_update_array(node_id n);
  void lane_make_array(node_id n);
  void lane_if(node_id n);
  void lane_masked_if(node_id n);
  void lane_loop(node_id n);
  void lane_while(node_id n);
  void lane_map(node_id n);
  void lane_reduction(node_id n);
  void lane_accumulate(node_id n);
  void lane_add_to(node_id n);
  void lane_add_early(region_id body);
  std::vector<offset> branch_mask(node_id n, bool is_else);

  offset new_lanes(value_id v);
  void new_alias(value_id v, value_id array, node_id n);
  offset lanes_of(value_id v);
  offset array_of_lanes(value_id v);
  void emit_broadcast(value_id array, offset to);
  void free_lanes(node_id n);
  static ir::op mirrored(ir::op code);
  void emit_fill(value_id scalar, offset to);
  std::vector<offset> start_loop_carried_lanes(node_id n, std::uint32_t first_operand, std::uint32_t count);
  void yield_lanes(region_id r, std::span<offset const> to, std::span<value_id const> results);
  std::vector<offset> new_results(std::span<value_id const> all);
  void store_lanes(value_id v, value_id result, offset index, offset array, offset place);
  node_id product_to_sum(region_id r, node_id reduce, bool of_lanes) const;

  std::vector<offset>
  fitting_places(region_id r, std::span<offset const> to, std::span<value_id const> results) const;
  void place_outputs(
      std::span<value_id const> results, std::span<offset const> arrays, std::span<offset const> places,
      offset index);
  std::vector<offset> new_places(std::span<value_id const> results);
  void free_destinations(std::span<offset const> places);
  offset new_output(value_id v, offset count, handler make);
  void release_temporaries();

  // ---- blocks (lower_blocks.hpp)

  std::vector<block_output> make_block_outputs(node_id n, offset count);
  void lower_block_in_lanes(region_id body, std::vector<block_output>& outputs);
  void lower_block_one_by_one(region_id body, offset block, std::vector<block_output> const& outputs);
  void store_block(block_output const& o, offset first);
  void set_rows(std::uint32_t bind, lanes_context const& context);
  void limit_rows_in(region_id r, lane_plan const& plan, offset block, offset longest);
  static offset as_operand(i64 limit);
  void reduce_block(block_output const& o);
  void store_rows_of_lanes(value_id v, offset array, offset first);

  std::vector<std::pair<offset, offset>> temporary_arrays_; // of lanes: their words, and how many
};

// Allocates the lanes of a scalar: a row, or the destination that its hint names.
inline offset lane_lowering::new_lanes(value_id v) {
  if (offset const hint = std::exchange(hints_[index_of(v)], no_word); hint != no_word) {
    assign_slot(v, hint);
    return hint;
  }
  offset const row = take_row();
  slots_[index_of(v)] = {.at = pointer_to(row), .row = row};
  return at(v);
}

// Makes a scalar a pointer into an array. The array must not be written or released while the pointer is used: if the last use
// of the array may precede that of the pointer, the pointer retains the array's buffer.
inline void lane_lowering::new_alias(value_id v, value_id array, node_id n) {
  hints_[index_of(v)] = no_word;
  slots_[index_of(v)] = {.at = words_.allocate(1), .owns_words = true};
  if (lanes_->plan.is_outside(array)) return;
  region_id const of_array = f_.region_of(array);
  node_id ancestor = n; // n's ancestor in the array's region
  while (f_[ancestor].parent != of_array) ancestor = f_[f_[ancestor].parent].parent;
  node_id const array_last_use = order_.last_use_in(array, of_array);
  node_id const pointer_last_use = order_.last_use_in(v, f_[n].parent);
  bool const outlives =
      ancestor != n ? array_last_use == ancestor || order_.is_before(ancestor, array_last_use)
                    : pointer_last_use == ir::nothing || order_.is_before(pointer_last_use, array_last_use);
  if (outlives) return;
  offset const count = words_.allocate(1);
  slots_[index_of(v)].owner = count;
  emit_move({owner_word(array), count, 1});
  out_.emit(&retain_owner::run, 0, count);
}

inline void lane_lowering::emit_fill(value_id scalar, offset to) {
  ir::type const t = type_of(scalar);
  out_.emit(&doing<lane_fill>::run, to, at(scalar), 0, t == ir::boolean ? 1 : lane_size_of(t.element));
}

// The lanes of any scalar, broadcast if it is uniform.
inline offset lane_lowering::lanes_of(value_id v) {
  if (is_lanes(v)) return at(v);
  offset const to = temporary_lanes();
  emit_fill(v, to);
  return to;
}

// Any array as an array of lanes, broadcast if it is uniform. A broadcast array is released after the operation.
inline offset lane_lowering::array_of_lanes(value_id v) {
  if (is_lanes(v)) return at(v);
  offset const to = words_.allocate(words(v));
  temporary_arrays_.push_back({to, words(v)});
  emit_broadcast(v, to);
  return to;
}

inline void lane_lowering::emit_broadcast(value_id array, offset to) {
  with_type(type_of(array).element, [&]<class T>(T) {
    out_.emit(&doing<lane_broadcast<T>>::run, to, at(array), 0, offset{type_of(array).rank});
  });
}

// The operand list of an indexed access: the array, its rank, and for each of `count` indices {kind, word, word of the stride}.
inline std::vector<offset> lane_lowering::indices_of_lanes(node_id n, std::uint32_t count) const {
  value_id const array = f_.operand(n, 0);
  std::vector<offset> list{at(array), offset{type_of(array).rank}};
  for (std::uint32_t i = 1; i <= count; ++i) {
    value_id const v = f_.operand(n, i);
    slot const& h = slots_[index_of(v)];
    auto const how = !is_lanes(v)                 ? indexed_by::uniform
                     : lanes_->plan.is_strided(v) ? indexed_by::strided
                                                  : indexed_by::varying;
    list.push_back(static_cast<offset>(how));
    list.push_back(how == indexed_by::strided ? h.first : h.at);
    list.push_back(how == indexed_by::strided ? h.step : 0);
  }
  return list;
}

// Frees the rows of operands at their last use before the result is allocated, if all operands have elements of the result's size.
inline void lane_lowering::free_lanes(node_id n) {
  offset const size = lane_size_of(type_of(f_.result(n)).element);
  for (value_id const v : f_.operands_of(n))
    if (is_lanes(v) && lane_size_of(type_of(v).element) != size) return;
  free_scalars(n);
}

inline void lane_lowering::lane_elementwise(node_id n) {
  ir::op code = f_[n].code;
  value_id const result = f_.result(n);
  if (lanes_->plan.is_strided(result)) return lane_strided(n);
  std::uint32_t const count = f_[n].operand_count;
  ir::scalar const type = type_of(f_.operand(n, ir::main_operand(code))).element;
  lane_variants const& all = lane_handlers[static_cast<std::size_t>(code)][type_index(type)];
  if (count == 2 && type == ir::scalar::f64) {
    if (fuse_in_lanes(code, f_.operand(n, 0), f_.operand(n, 1), side::left, n)) return;
    if (fuse_in_lanes(code, f_.operand(n, 1), f_.operand(n, 0), side::right, n)) return;
  }
  offset x[3]{};
  std::size_t variant = 0;
  handler run = all[0];
  if (count == 2) {
    value_id a = f_.operand(n, 0), b = f_.operand(n, 1);
    // A uniform number becomes the right operand, if the operation has a mirrored form.
    if (ir::op const swapped = mirrored(code); !is_lanes(a) && is_lanes(b) && swapped != ir::op::none) {
      std::swap(a, b);
      code = swapped;
    }
    lane_variants const& swapped = lane_handlers[static_cast<std::size_t>(code)][type_index(type)];
    variant = is_lanes(a) ? (is_lanes(b) ? 0 : 1) : (is_lanes(b) ? 2 : 0);
    if (swapped[variant] == nullptr) variant = 0;
    run = swapped[variant];
    x[0] = variant == 2 ? at(a) : lanes_of(a);
    x[1] = variant == 1 ? at(b) : lanes_of(b);
  } else
    for (std::uint32_t i = 0; i < count; ++i) x[i] = lanes_of(f_.operand(n, i));
  free_lanes(n);
  offset const to = new_lanes(result);
  std::uint32_t const made = out_.emit(run, to, x[0], x[1], count == 3 ? x[2] : number(code));
  if (type == ir::scalar::f64 && count == 2 && variant != 2)
    lanes_->last = {made, result, code, variant == 1};
}

// Lowers a sum, difference or product of a strided value and a uniform number: computes the first lane and the stride.
inline void lane_lowering::lane_strided(node_id n) {
  value_id const a = f_.operand(n, 0), b = f_.operand(n, 1), result = f_.result(n);
  ir::op const code = f_[n].code;
  bool const is_left = is_lanes(a); // the strided operand
  slot const& strided = slots_[index_of(is_left ? a : b)];
  offset const other = at(is_left ? b : a);
  auto const compute = [&](ir::op c, offset to, offset x, offset y) {
    out_.emit(scalar_handlers[static_cast<std::size_t>(c)][type_index(ir::scalar::i64)][0], to, x, y);
  };
  offset step = strided.step;
  if (code == ir::op::mul || (code == ir::op::sub && !is_left)) {
    lanes_->steps.push_back(words_.allocate(1));
    step = lanes_->steps.back();
    code == ir::op::mul ? compute(code, step, strided.step, other)
                        : compute(ir::op::neg, step, strided.step, 0);
  }
  offset const first = words_.allocate(1);
  compute(code, first, is_left ? strided.first : other, is_left ? other : strided.first);
  make_strided(result, first, step);
}

inline void lane_lowering::make_strided(value_id v, offset first, offset step) {
  if (lanes_->plan.needs_lanes(v))
    out_.emit(&doing<lane_indices>::run, new_lanes(v), first, step);
  else
    assign_slot(v, no_word);
  slots_[index_of(v)].first = first;
  slots_[index_of(v)].step = step;
}

inline ir::op lane_lowering::mirrored(ir::op code) {
  using ir::op;
  switch (code) {
  case op::add:
  case op::mul:
  case op::eq:
  case op::ne:
  case op::bit_and:
  case op::bit_or:
  case op::bit_xor:
    return code;
  case op::lt:
    return op::gt;
  case op::gt:
    return op::lt;
  case op::le:
    return op::ge;
  case op::ge:
    return op::le;
  default:
    return op::none;
  }
}

// Fuses the last instruction and an operation on its result x.
inline bool lane_lowering::fuse_in_lanes(ir::op code, value_id x, value_id other, side on, node_id n) {
  auto const last = lanes_->last;
  if (last.value == ir::nothing || last.at + 1 != out_.here() || last.value != x || x == other ||
      !is_only_use(x, n))
    return false;
  if (code == ir::op::add || code == ir::op::mul) on = side::left;
  bool const uniform = !is_lanes(other);
  if (uniform && last.b_uniform) return false;
  for (lane_fused_row const& row : lane_fused_rows)
    if (row.first == last.code && row.second == code && row.on == on) {
      instruction const first = out_.pop();
      offset const c = at(other);
      free_lanes(n);
      out_.emit(
          row.handlers
              [last.b_uniform ? 1
               : uniform      ? 2
                              : 0],
          new_lanes(f_.result(n)), first.a, first.b, c);
      lanes_->last = {};
      return true;
    }
  return false;
}

inline void lane_lowering::lower_in_lanes(node_id n) {
  switch (f_[n].code) {
  case ir::op::convert: {
    value_id const from = f_.operand(n, 0), result = f_.result(n);
    offset const source = at(from);
    free_lanes(n);
    out_.emit(
        lane_convert_handlers[type_index(type_of(from).element)][type_index(type_of(result).element)],
        new_lanes(result), source);
    break;
  }
  case ir::op::at:
    is_lanes(f_.operand(n, 0)) ? lane_at_lanes(n) : lane_at_uniform(n);
    break;
  case ir::op::update:
    lane_update_array(n);
    break;
  case ir::op::array:
  case ir::op::concat:
  case ir::op::fill:
  case ir::op::gather:
  case ir::op::slice:
  case ir::op::copy:
    lane_make_array(n);
    break;
  case ir::op::if_:
    is_lanes(f_.operand(n, 0)) ? lane_masked_if(n) : lane_if(n);
    break;
  case ir::op::loop:
    lane_loop(n);
    break;
  case ir::op::while_:
    lane_while(n);
    break;
  case ir::op::map:
    lane_map(n);
    break;
  case ir::op::reduce:
    lane_reduction(n);
    break;
  case ir::op::accumulate:
    lane_accumulate(n);
    break;
  case ir::op::add_to:
    lane_add_to(n);
    break;
  case ir::op::assert_:
    out_.emit(&trying<lane_assert>::run, 0, at(f_.operand(n, 0)));
    break;
  default:
    refuse_unless_elementwise(n);
    lane_elementwise(n);
  }
  release_temporaries();
  live_in(f_.results_of(n), f_[n].parent);
}

inline void lane_lowering::release_temporaries() {
  free_temporary_rows();
  for (auto const& [where, size] : std::exchange(temporary_arrays_, {})) {
    out_.emit(&release_owner::run, 0, where + word_size);
    words_.free(where, size);
  }
}

} // namespace overdub::execute
