// Where the values of a function are in its frame, and how long: slots, last uses, references, moves.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/execute/options.hpp>
#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/block_reduce_handlers.hpp>
#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/emitter.hpp>
#include <overdub/implementation/execute/lane_plan.hpp>
#include <overdub/implementation/ir/reference_counts.hpp>
#include <overdub/implementation/ir/use_order.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::execute {

/// Lowering state that the functions of a program share.
struct lowering_of_program {
  ir::program const& owner;
  execution_options options;
  code& to;
  emitter out;
  std::vector<std::uint32_t> number_of; // of a function of the program; ~0: not called yet
  std::vector<ir::function_id> order;   // of called functions
  ir::parameter_ownership owners{};     // frames own all parameters

  std::uint32_t number(ir::function_id f) {
    auto& n = number_of[index_of(f)];
    if (n == ~0u) {
      n = static_cast<std::uint32_t>(order.size());
      order.push_back(f);
    }
    return n;
  }
};

/// Allocates words of the frame of one function, and rows of lanes. The classes that lower operations derive from it.
class frame_slots {
protected:
  using value_id = ir::value_id;
  using node_id = ir::node_id;
  using region_id = ir::region_id;
  using values = std::vector<value_id>;

  static constexpr offset no_word = ~offset{};

  // The body of a map that is being vectorised.
  struct lanes_context {
    lane_plan const& plan;
    ir::reference_counts counts;    // of the body in lanes
    offset block;                   // the words of the block (block_words)
    frame_words rows{0};            // rows of lanes, in units of words
    std::vector<offset> pointers{}; // for each row: the word that points to it
    std::vector<offset> steps{};    // words of the strides of strided values
    offset mask = no_word;          // in a divergent branch: points to the mask
    int depth = 0;                  // of loops
    struct {                        // an instruction on doubles that the next one may be fused with
      std::uint32_t at = ~0u;
      value_id value = ir::nothing;
      ir::op code = ir::op::none;
      bool b_uniform = false;
    } last{};
  };
  // A result of a map that is reduced and not stored.
  struct fused_map {
    node_id reduce;
    offset state;           // of a nested map: the word that points to eight rows of sums
    offset row = no_word;   // these rows
    offset count = no_word; // the word of the number of elements
  };

  struct slot {
    offset at = no_word;
    bool owns_words = false; // they are freed at the last use
    offset row = no_word;    // of lanes: the row that `at` points to, if the value owns it
    offset owner = no_word;  // of lanes in an array: the word that owns a reference to its buffer
    offset first = no_word;  // of a strided value: the word of the first lane's number
    offset step = no_word;   // the word of the stride
  };
  // A value at its last use.
  struct last_use {
    value_id value;
    bool frees_words;
  };
  struct move {
    offset from, to, words;
    offset lane_size = 0; // words point to lanes of this size, which are moved
  };

  frame_slots(lowering_of_program& shared, ir::function_id id)
      : shared_(shared), p_(shared.owner), f_(p_[id]), out_(shared.out), slots_(f_.value_count()),
        hints_(f_.value_count(), no_word), last_uses_(f_.node_count()), order_(f_),
        counts_(f_, order_, {shared.owners, id}) {}
  frame_slots(frame_slots const&) = delete;
  frame_slots& operator=(frame_slots const&) = delete;

  ir::type type_of(value_id v) const { return f_.type_of(v); }
  ir::reference_counts const& counts() const { return lanes_ != nullptr ? lanes_->counts : counts_; }
  // The index of a function of floating-point numbers, or of the operation of a reduction.
  offset number(ir::op code) const { return ir::number_in(p_.math, code); }
  offset at(value_id v) const { return slots_[index_of(v)].at; }
  bool is_parameter(value_id v) const {
    auto const all = f_.parameters();
    return !all.empty() && index_of(v) - index_of(all[0]) < all.size();
  }
  bool is_lanes(value_id v) const { return lanes_ != nullptr && lanes_->plan.varies(v); }
  // For a scalar in lanes: the pointer to them.
  offset words(value_id v) const { return words_of(type_of(v)); }
  offset owner_word(value_id v) const { return at(v) + (type_of(v).rank > 0 ? word_size : 0); }
  bool is_reference_counted(value_id v) const { return ir::is_reference_counted(type_of(v)); }

  bool has_count(value_id v) const { return is_reference_counted(v) && at(v) != no_word; }

  void assign_slot(value_id v, offset where, bool owns = false) { slots_[index_of(v)] = {where, owns}; }
  // A new slot, or the hinted one.
  offset new_slot(value_id v) {
    if (offset const hint = std::exchange(hints_[index_of(v)], no_word); hint != no_word) {
      assign_slot(v, hint);
      return hint;
    }
    offset const where = words_.allocate(words(v));
    assign_slot(v, where, true);
    return where;
  }
  // ---- live ranges

  bool is_only_use(value_id v, node_id n) const {
    for (ir::use_id const u : f_.uses_of(v))
      if (f_[u].user != n) return false;
    return true;
  }
  // Registers the words of a value defined in region r, which are freed after the last use.
  void live_in(value_id v, region_id r) {
    last_use const d{v, slots_[index_of(v)].owns_words};
    if (node_id const last = order_.last_use_in(v, r); last != ir::nothing)
      last_uses_[index_of(last)].push_back(d);
    else
      free_words(d);
  }
  void live_in(ir::id_range<value_id> all, region_id r) {
    for (value_id const v : all) live_in(v, r);
  }
  void free_words(last_use const& d) {
    slot const& h = slots_[index_of(d.value)];
    if (h.first != no_word && f_.is_result(d.value)) words_.free(h.first, 1);
    if (h.owner != no_word) {
      out_.emit(&release_owner::run, 0, h.owner);
      words_.free(h.owner, 1);
    }
    if (h.row != no_word)
      lanes_->rows.free(h.row * word_size, 1);
    else if (d.frees_words)
      words_.free(h.at, words(d.value));
  }
  // Releases values after an operation, which is emitted, and frees the words of those with their last use here. Those in `overwritten` are
  // released already.
  void finish(node_id n, std::span<offset const> overwritten = {}) {
    for (value_id const v : counts().released_after(n))
      if (!is_one_of(at(v), overwritten)) release(v);
    for (last_use const& d : std::exchange(last_uses_[index_of(n)], {})) free_words(d);
  }
  // Frees the words of scalars with their last use here, so that results of the operation may reuse them.
  void free_scalars(node_id n) {
    std::erase_if(last_uses_[index_of(n)], [&](last_use const& d) {
      bool const is_free = !has_count(d.value);
      if (is_free) free_words(d);
      return is_free;
    });
  }
  // The reference of an operand that an operation consumes, if it is not the operand's own.
  void retain_consumed(node_id n, std::uint32_t operand) {
    if (counts().retains(n, operand)) out_.emit(&retain_owner::run, 0, owner_word(f_.operand(n, operand)));
  }
  // Reuses the words of a value at its last use for another value.
  bool reuse_words(value_id v, node_id n) {
    auto& all = last_uses_[index_of(n)];
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].value == v && all[i].frees_words) {
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
        return true;
      }
    return false;
  }
  // Arrays that are not created have no words.
  void release(value_id v) {
    if (at(v) == no_word) return;
    out_.emit(
        type_of(v).is_function() ? &doing<release_function_at>::run : &release_owner::run, 0, owner_word(v));
  }

  // ---- what regions yield

  // A scalar that the region yields is computed in its destination, unless a value in that slot is still live.
  void hint_results(region_id r, std::span<offset const> to, std::span<value_id const> standing_there) {
    auto const yielded = f_.operands_of(f_.yield_of(r));
    for (std::size_t k = 0; k < to.size(); ++k) {
      value_id const v = yielded[k];
      if (!f_.is_result(v) || f_.region_of(v) != r || is_reference_counted(v)) continue;
      if (hints_[index_of(v)] != no_word || !writes_last(f_.node_of(v))) continue;
      if (to[k] == no_word) continue;
      if (!standing_there.empty() && standing_there[k] != ir::nothing &&
          is_used_after(standing_there[k], f_.node_of(v), r))
        continue;
      hints_[index_of(v)] = to[k];
    }
  }
  // Whether the operation writes its result after reading all operands.
  bool writes_last(node_id n) const {
    ir::op const c = f_[n].code;
    return ir::is_elementwise(c) || c == ir::op::convert || c == ir::op::at || c == ir::op::length;
  }
  bool is_used_after(value_id v, node_id n, region_id r) const {
    for (ir::use_id const u : f_.uses_of(v)) {
      if (is_stacked_first(u, r)) continue;
      node_id const a = order_.anchor(u, r);
      if (a == ir::nothing || order_.is_before(n, a)) return true;
    }
    return false;
  }
  // Whether a loop stacks a loop-carried number at the start of each iteration: the next value can reuse its slot.
  bool is_stacked_first(ir::use_id u, region_id body) const {
    node_id const loop = f_[body].parent, user = f_[u].user;
    if (lanes_ != nullptr || loop == ir::nothing || !ir::is_counted_loop(f_[loop].code)) return false;
    value_id const v = f_[u].value;
    ir::region_flow const flow(f_, loop);
    return user == f_.yield_of(body) && flow.is_stacked(index_of(u) - f_[user].first_operand) &&
           flow.carried_index(v) && type_of(v).rank == 0;
  }
  // Moves the region's first results to these words.
  void yield_to(region_id r, std::span<offset const> to) {
    node_id const last = f_.yield_of(r);
    auto const yielded = f_.operands_of(last);
    std::vector<move> moves;
    for (std::size_t k = 0; k < to.size(); ++k) {
      retain_consumed(last, static_cast<std::uint32_t>(k));
      moves.push_back({at(yielded[k]), to[k], words(yielded[k])});
    }
    release_overwritten(last, to);
    emit_moves(moves);
  }
  // Releases arrays that a yield overwrites.
  void release_overwritten(node_id last, std::span<offset const> to) {
    for (value_id const v : counts().released_after(last))
      if (is_one_of(at(v), to)) release(v);
  }
  void emit_move(move const& m) {
    if (m.lane_size != 0)
      out_.emit(&doing<lane_copy>::run, m.to, m.from, 0, m.lane_size);
    else if (m.words == 1)
      out_.emit(&move_word::run, m.to, m.from);
    else
      out_.emit(&move_words::run, m.to, m.from, 0, m.words);
  }
  // A parallel move: each source is read before it is overwritten.
  void emit_moves(std::vector<move>& moves) {
    std::erase_if(moves, [](move const& m) { return m.from == m.to; });
    while (!moves.empty()) {
      auto const is_read = [&](offset to) {
        return std::any_of(moves.begin(), moves.end(), [&](move const& m) { return m.from == to; });
      };
      auto const ready =
          std::find_if(moves.begin(), moves.end(), [&](move const& m) { return !is_read(m.to); });
      if (ready != moves.end()) {
        emit_move(*ready);
        moves.erase(ready);
        continue;
      }
      // A cycle: one value moves to a temporary.
      move& first = moves.front();
      offset const aside = first.lane_size != 0 ? temporary_lanes() : words_.allocate(first.words);
      emit_move({first.from, aside, first.words, first.lane_size});
      if (first.lane_size == 0) aside_.push_back({0, aside, first.words});
      first.from = aside;
    }
    for (move const& m : aside_) words_.free(m.to, m.words);
    aside_.clear();
    free_temporary_rows();
  }

  std::uint32_t jump_unless(region_id condition);
  void store_output(value_id v, offset index, offset array);

  // ---- arrays

  offset common_length_of(std::span<value_id const> arrays, std::string_view op);
  std::vector<offset> indexed(node_id n, std::uint32_t indices) const;
  void retain_part(node_id n);
  void reuse_array(node_id n);

  // ---- rows of lanes, and maps that are fused with reductions

  offset take_row() { return lanes_->rows.allocate(1) / word_size; }
  offset temporary_lanes() {
    temporary_rows_.push_back(take_row());
    return pointer_to(temporary_rows_.back());
  }
  offset pointer_to(offset row);
  void free_temporary_rows();
  bool is_fused(node_id reduce) const;
  fused_map take_fused_map(node_id reduce);

  void append_words(std::vector<offset>& list, value_id v) const {
    for (offset i = 0; i < words(v); ++i) list.push_back(at(v) + i * word_size);
  }
  std::vector<offset> new_slots(ir::id_range<value_id> all) {
    std::vector<offset> where;
    for (value_id const v : all) where.push_back(new_slot(v));
    return where;
  }
  [[noreturn]] void refuse(std::string const& what) const {
    throw not_executable(message(
        "overdub: @%s cannot be interpreted: %s", std::string(p_.text(f_.name)).c_str(), what.c_str()));
  }

  void refuse_unless_elementwise(ir::node_id n) const {
    if (!ir::is_elementwise(f_[n].code))
      refuse(
          "it has the operation " + std::string(ir::name_of(f_[n].code)) +
          ", which the interpreter does not have");
  }

  static bool is_one_of(offset where, std::span<offset const> all) {
    return std::find(all.begin(), all.end(), where) != all.end();
  }
  static constexpr std::uint32_t scalar_bytes(ir::type t) { return size_of(t.element); }
  static constexpr offset shape_code(ir::type t) { return rank_and_size(t.rank, size_of(t.element)); }

  lowering_of_program& shared_;
  ir::program const& p_;
  ir::function const& f_;
  emitter& out_;
  frame_words words_{first_parameter};
  std::vector<slot> slots_;   // for each value
  std::vector<offset> hints_; // for each value: where its result goes, if that is decided already
  std::vector<std::vector<last_use>> last_uses_; // for each operation
  ir::use_order const order_;
  ir::reference_counts const counts_;
  std::vector<move> aside_;
  std::vector<offset> temporary_rows_;
  lanes_context* lanes_ = nullptr; // while the body of a map is vectorised
  std::vector<fused_map> fused_maps_;
};

// The word with the pointer to a row. It is written before the map begins, and no other value may use it.
inline offset frame_slots::pointer_to(offset row) {
  auto& all = lanes_->pointers;
  if (all.size() <= row) all.resize(row + 1, no_word);
  if (all[row] == no_word) all[row] = words_.allocate_untouched();
  return all[row];
}

inline void frame_slots::free_temporary_rows() {
  for (offset const row : temporary_rows_) lanes_->rows.free(row * word_size, 1);
  temporary_rows_.clear();
}

inline bool frame_slots::is_fused(node_id reduce) const {
  return std::any_of(
      fused_maps_.begin(), fused_maps_.end(), [&](fused_map const& m) { return m.reduce == reduce; });
}

inline frame_slots::fused_map frame_slots::take_fused_map(node_id reduce) {
  auto const found = std::find_if(
      fused_maps_.begin(), fused_maps_.end(), [&](fused_map const& m) { return m.reduce == reduce; });
  fused_map const m = *found;
  fused_maps_.erase(found);
  return m;
}

inline offset frame_slots::common_length_of(std::span<value_id const> arrays, std::string_view op) {
  if (arrays.size() == 1) return extent_at(at(arrays[0]), 0);
  std::vector<offset> list{static_cast<offset>(arrays.size())};
  for (value_id const v : arrays) list.push_back(at(v));
  offset const where = words_.allocate(1);
  out_.emit(&doing<common_length>::run, where, out_.list(list), out_.text(op));
  return where;
}

// The array, its rank, the number of indices, the indices.
inline std::vector<offset> frame_slots::indexed(node_id n, std::uint32_t indices) const {
  value_id const array = f_.operand(n, 0);
  std::vector<offset> list{at(array), offset{type_of(array).rank}, indices};
  for (std::uint32_t i = 1; i <= indices; ++i) list.push_back(at(f_.operand(n, i)));
  return list;
}

// The result of an operation is a part, which shares the buffer of operand 0.
inline void frame_slots::retain_part(node_id n) {
  if (counts().retains(n, 0)) out_.emit(&retain_owner::run, 0, owner_word(f_.result(n)));
}

// The result reuses the words of operand 0, an array, at its last use; else it is a copy of the handle, whose buffer is copied when
// written. Parameters stay unchanged.
inline void frame_slots::reuse_array(node_id n) {
  value_id const array = f_.operand(n, 0), result = f_.result(n);
  if (counts().transfers(n, 0) && !is_parameter(array))
    return assign_slot(result, at(array), reuse_words(array, n));
  offset const where = new_slot(result);
  emit_move({at(array), where, words(array)});
  retain_part(n);
}

// Computes v, which a region yields, into element or row `index` of an array.
inline void frame_slots::store_output(value_id v, offset index, offset array) {
  ir::type const t = type_of(v);
  if (t.rank > 0) {
    out_.emit(&doing<store_row>::run, array, index, at(v), shape_code(t.array_of()));
    return;
  }
  with_type(t.element, [&]<class T>(T) { out_.emit(&store_element<T>::run, array, index, at(v)); });
}

// At the end of the condition of a while: returns the jump that leaves the loop, whose target is set later.
inline std::uint32_t frame_slots::jump_unless(region_id condition) {
  node_id const decides = f_.yield_of(condition);
  value_id const mask = f_.operand(decides, 0);
  std::uint32_t const end = out_.jump_if_false({mask, at(mask), is_only_use(mask, decides)});
  finish(decides);
  return end;
}

} // namespace overdub::execute
