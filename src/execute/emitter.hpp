// Emits instructions: selects the variant for the operands that are in registers, and fuses pairs of instructions.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/scalar_handlers.hpp>
#include <overdub/ir/function.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace overdub::execute {

/// Allocates the words of a function's frame.
class frame_words {
public:
  explicit frame_words(offset first) : end_(first) {}

  /// Allocates `words` consecutive words; returns their offset.
  offset allocate(offset words) {
    if (words < free_.size() && !free_[words].empty()) {
      offset const at = free_[words].back();
      free_[words].pop_back();
      return at;
    }
    offset const at = end_;
    end_ += words * word_size;
    return at;
  }
  /// Allocates a word that no value has used; returns its offset.
  offset allocate_untouched() { return std::exchange(end_, end_ + word_size); }
  void free(offset at, offset words) {
    if (free_.size() <= words) free_.resize(words + 1);
    free_[words].push_back(at);
  }
  offset bytes() const { return end_; }

private:
  offset end_;
  std::vector<std::vector<offset>> free_; // by number of words
};

/// The instructions of one program, in order.
class emitter {
public:
  /// A scalar operand: the value, and its word.
  struct operand {
    ir::value_id value;
    offset at;
    bool only_use; // the current instruction is the only use of the value
  };

  emitter(code& to, ir::math_mode math) : to_(to), math_(math) {}

  std::uint32_t here() const { return static_cast<std::uint32_t>(to_.instructions.size()); }
  instruction& operator[](std::uint32_t i) { return to_.instructions[i]; }

  std::uint32_t emit(handler run, offset out = 0, offset a = 0, offset b = 0, offset c = 0) {
    before_ = last_;
    last_ = {};
    to_.instructions.push_back({run, out, a, b, c});
    return here() - 1;
  }
  std::uint32_t list(std::span<offset const> operands) {
    auto const first = static_cast<std::uint32_t>(to_.lists.size());
    to_.lists.insert(to_.lists.end(), operands.begin(), operands.end());
    return first;
  }
  std::uint32_t text(std::string_view t) {
    to_.texts.emplace_back(t);
    return static_cast<std::uint32_t>(to_.texts.size() - 1);
  }

  /// Makes the next instruction a jump target, at which no value is in a register; returns its index.
  std::uint32_t label() {
    last_ = before_ = {};
    return here();
  }
  /// The displacement of a jump from one instruction to another.
  static offset displacement(std::uint32_t from, std::uint32_t to) { return to - from; }
  /// Sets the target of a jump (operand c) to the next instruction.
  void land(std::uint32_t jump) { to_.instructions[jump].c = displacement(jump, label()); }

  /// States that the last instruction wrote the value to the register and to the frame.
  void set_in_register(ir::value_id v) { last_ = {.value = v}; }

  /// Emits an element-wise operation. Its operands have one type; those of select, ldexp and polygamma may have several.
  void elementwise(ir::op op, ir::scalar type, std::span<operand const> x, ir::value_id result, offset out) {
    variants const& all = scalar_handlers[static_cast<std::size_t>(op)][type_index(type)];
    if (x.size() == 2 && (fuse(op, type, x[0], x[1], side::left, result, out) ||
                          fuse(op, type, x[1], x[0], side::right, result, out)))
      return;
    unsigned variant = 0;
    if (x.size() < 3) {
      if (is_last(x[0].value)) variant |= register_a;
      if (x.size() == 2 && is_last(x[1].value)) variant |= register_b;
      if (all[variant] == nullptr) variant = 0;
      if (variant != 0) pass(x[(variant & register_a) != 0 ? 0 : 1].only_use);
    }
    bool const is_function = !ir::is_elementwise(op) ? false : x.size() < 3 && all[register_a] == nullptr;
    emit(
        all[variant], out, x[0].at, x.size() > 1 ? x[1].at : 0,
        x.size() > 2  ? x[2].at
        : is_function ? ir::number_in(math_, op)
                      : 0);
    made(result, op, type, &all, variant);
  }
  /// Emits the load of an element of an array of rank 1.
  void load(ir::scalar type, offset array, operand const& index, ir::value_id result, offset out) {
    variants const& all = load_handlers[type_index(type)];
    bool const in_register = is_last(index.value);
    bool const was_passed = in_register && pass(index.only_use);
    emit(all[in_register ? register_b : 0], out, array, index.at);
    made(result, ir::op::at, type, &all, in_register ? register_b : 0);
    last_.index_is_stored = !was_passed;
  }
  /// Emits a jump that is taken if the mask is false, and returns its index. `land` sets its target.
  std::uint32_t jump_if_false(operand const& mask) {
    if (is_last(mask.value)) {
      auto const index = type_index_of_jump(last_.type);
      if (last_.code != ir::op::none && mask.only_use && index < 2) {
        handler const fused = jump_handlers[static_cast<std::size_t>(last_.code)][index]
                                           [last_.variant & (register_a | register_b)];
        if (fused != nullptr) {
          instruction const comparison = pop();
          return emit(fused, 0, comparison.a, comparison.b);
        }
      }
      pass(mask.only_use);
      return emit(&jump_unless<source::in_register>::run, 0, mask.at);
    }
    return emit(&jump_unless<source::frame>::run, 0, mask.at);
  }

  /// Removes the last instruction.
  instruction pop() {
    instruction const i = to_.instructions.back();
    to_.instructions.pop_back();
    last_ = before_;
    before_ = {};
    return i;
  }

private:
  // The value that the last instruction left in the register.
  struct left {
    ir::value_id value = ir::nothing;
    ir::op code = ir::op::none;
    ir::scalar type = ir::scalar::none;
    variants const* all = nullptr;
    unsigned variant = 0;
    bool index_is_stored = true;
  };

  bool is_last(ir::value_id v) const { return last_.value != ir::nothing && last_.value == v; }
  void made(ir::value_id result, ir::op op, ir::scalar type, variants const* all, unsigned variant) {
    if (all == nullptr || (*all)[passed] == nullptr) return;
    last_ = {result, op, type, all, variant};
  }
  // Makes the last instruction pass its result in the register alone, if that has one use. Returns whether it does.
  bool pass(bool only_use) {
    if (!only_use || last_.all == nullptr || (*last_.all)[last_.variant | passed] == nullptr) return false;
    to_.instructions.back().run = (*last_.all)[last_.variant | passed];
    return true;
  }
  static std::size_t type_index_of_jump(ir::scalar type) {
    return type == ir::scalar::i64 ? 0 : type == ir::scalar::f64 ? 1 : 2;
  }
  static bool commutes(ir::op op) { return op == ir::op::add || op == ir::op::mul; }

  // Fuses the last instruction with an operation on its result. Returns false if no fused instruction exists.
  bool fuse(
      ir::op op, ir::scalar type, operand const& x, operand const& other, side on, ir::value_id result,
      offset out) {
    if (!is_last(x.value) || !x.only_use || x.value == other.value || last_.type != type) return false;
    if (commutes(op)) on = side::left;
    auto const register_in_pair = [&](unsigned first) {
      return first == 0 && before_.value != ir::nothing && before_.value == other.value ? register_b : first;
    };
    if (last_.code == ir::op::at) {
      if (type != ir::scalar::f64 || !last_.index_is_stored) return false;
      for (fused_load_row const& row : fused_load_rows)
        if (row.second == op && row.on == on) {
          unsigned const variant = last_.variant == 0 ? register_in_pair(0) : 0;
          instruction const first = pop();
          if (variant != 0) pass(other.only_use);
          emit(row.on_doubles[variant], out, first.a, first.b, other.at);
          made(result, op, type, &row.on_doubles, variant);
          last_.code = ir::op::none;
          return true;
        }
      return false;
    }
    if (type != ir::scalar::i64 && type != ir::scalar::f64) return false;
    unsigned first_variant = last_.variant & (register_a | register_b);
    bool const swapped = first_variant == register_b;
    if (first_variant == (register_a | register_b) || (swapped && !commutes(last_.code))) return false;
    if (swapped) first_variant = register_a;
    for (fused_row const& row : fused_rows)
      if (row.first == last_.code && row.second == op && row.on == on) {
        auto const& all = row.integer_double[type == ir::scalar::f64];
        unsigned const variant = register_in_pair(first_variant);
        instruction const first = pop();
        if (variant == register_b) pass(other.only_use);
        emit(all[variant], out, swapped ? first.b : first.a, swapped ? first.a : first.b, other.at);
        made(result, op, type, &all, variant);
        last_.code = ir::op::none;
        return true;
      }
    return false;
  }

  code& to_;
  ir::math_mode math_;
  left last_, before_;
};

} // namespace overdub::execute
