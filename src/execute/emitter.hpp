// Emits instructions: selects the variant for the operands that are in registers, and fuses pairs of instructions.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/implementation/execute/scalar_handlers.hpp>
#include <overdub/ir/function.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace overdub::execute {

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
  void elementwise(ir::op op, ir::scalar type, std::span<operand const> x, ir::value_id result, offset out);
  /// Emits one of two operands in the frame, or of one, which is not fused; returns its index.
  std::uint32_t plain(ir::op op, ir::scalar type, offset out, offset a, offset b = 0);
  /// Emits the load of an element of an array of rank 1.
  void load(ir::scalar type, offset array, operand const& index, ir::value_id result, offset out);
  /// Emits the load of an element at an index in the frame, which is not fused.
  void plain_load(ir::scalar type, offset array, offset index, offset out);
  /// Emits the load of an element of an array of rank 2.
  void load2(ir::scalar type, offset array, offset row, offset index, offset out);
  void convert(ir::scalar from, ir::scalar to, offset x, offset out);
  /// Emits a jump that is taken if the mask is false, and returns its index. `land` sets its target.
  std::uint32_t jump_if_false(operand const& mask);

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

  // Fuses the last instruction with an operation on its result. Returns false if no fused instruction exists.
  bool fuse(
      ir::op op, ir::scalar type, operand const& x, operand const& other, side on, ir::value_id result,
      offset out);

  code& to_;
  ir::math_mode math_;
  left last_, before_;
};

} // namespace overdub::execute
