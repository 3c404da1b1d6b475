#include "addresses.hpp"

#include "linear_memory.hpp"
#include "prepare.hpp"
#include "values.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace overdub::lifting {
namespace {

using ir::op;
using ir::value_id;

value_id address_plus(ir::cursor& c, value_id a, value_id b) {
  if (known_number(c, a) == 0) return b;
  return known_number(c, b) == 0 ? a : c.add(op::add, a, b);
}

// The number of a cell of its array.
value_id cell_at(ir::cursor& c, value_id address, element_type const& cell) {
  if (cell.bytes() == 1) return address;
  return c.add(op::shift_right, address, number(c, std::countr_zero(cell.bytes())));
}

value_id unset_of(ir::cursor& c, element_type const& cell) { return c.literal(cell.type, unset_bits(cell)); }

void check(ir::cursor& c, value_id holds) {
  c.insert(
      op::assert_, std::vector<value_id>{holds}, ir::cursor::types{},
      ir::attributes::of(
          c.owner().intern("memory is read that was not written, or was written as another type")));
}

value_id is_either(ir::cursor& c, value_id a, value_id b) { return c.add(op::logical_or, a, b); }

// Whether no byte of a cell was written.
value_id is_unset(environment& e, value_id address, element_type const& cell) {
  ir::cursor& c = e.c;
  value_id all = c.literal(true);
  for (std::uint32_t array = 0; array < e.plan.memory.objects.size(); ++array) {
    element_type const& other = e.plan.memory.objects[array].element;
    if (other.type != ir::i64) continue;
    value_id const first = cell_at(c, address, other);
    for (std::uint64_t n = 0; n < std::max(cell.bytes() / other.bytes(), std::uint64_t{1}); ++n) {
      value_id const x =
          c.add(op::at, e.array_of(array), address_plus(c, first, number(c, static_cast<std::int64_t>(n))));
      all = c.add(op::logical_and, all, c.add(op::eq, x, unset_of(c, other)));
    }
  }
  return all;
}

void load_at_address(environment& e, llvm::LoadInst const& i) {
  ir::cursor& c = e.c;
  std::vector<std::uint32_t> const arrays = arrays_of(i, e.plan.memory);
  element_type const& cell = e.plan.memory.objects[arrays[0]].element;
  value_id const address = e[i.getPointerOperand()], index = cell_at(c, address, cell);
  value_id const x = c.add(op::at, e.array_of(arrays[0]), index);
  auto const is = [&](op code, value_id cell_value, std::uint64_t bits) {
    return c.add(code, cell_value, number(c, static_cast<std::int64_t>(bits)));
  };
  bool const may_be_unset = is_part_of_struct(i);
  if (cell.type != ir::i64) { // it is marked, or all its bytes are 0
    value_id const mark = c.add(op::at, e.array_of(arrays[1]), index);
    value_id zero = is(op::eq, mark, 0);
    if (may_be_unset) zero = is_either(c, zero, is_unset(e, address, cell));
    check(c, is_either(c, is(op::eq, mark, floating_mark), zero));
    return e.set(&i, c.add(op::select, zero, zero_of(c, cell.type), x));
  }
  value_id const holds = c.add(op::logical_and, is(op::ne, x, unset_integer), is(op::ne, x, floating_mark));
  if (may_be_unset && !i.getType()->isPointerTy()) {
    value_id const unset = is_unset(e, address, cell);
    e.set(&i, c.add(op::select, unset, number(c, 0), x));
    return check(c, is_either(c, holds, unset));
  }
  e.set(&i, x);
  if (!i.getType()->isPointerTy()) check(c, holds); // there is no cell at an unset address
}

void store_at_address(environment& e, llvm::StoreInst const& i) {
  ir::cursor& c = e.c;
  std::vector<std::uint32_t> const arrays = arrays_of(i, e.plan.memory);
  element_type const& cell = e.plan.memory.objects[arrays[0]].element;
  value_id const address = e[i.getPointerOperand()], x = e[i.getValueOperand()];
  e.set_array_of(arrays[0], c.add(op::update, e.array_of(arrays[0]), cell_at(c, address, cell), x));
  for (std::size_t k = 1; k < arrays.size(); ++k) {
    element_type const& other = e.plan.memory.objects[arrays[k]].element;
    bool const marks = cell.type != ir::i64 && other.bits == cell.bits;
    value_id const first = cell_at(c, address, other);
    value_id const now = marks ? number(c, static_cast<std::int64_t>(floating_mark)) : unset_of(c, other);
    for (std::uint64_t n = 0; n < std::max(cell.bytes() / other.bytes(), std::uint64_t{1}); ++n)
      e.set_array_of(
          arrays[k], c.add(
                         op::update, e.array_of(arrays[k]),
                         address_plus(c, first, number(c, static_cast<std::int64_t>(n))), now));
  }
}

// The cells that lie within bytes from an address on.
struct cell_range {
  value_id first, count;
};
cell_range cells_within(ir::cursor& c, value_id address, value_id bytes, element_type const& cell) {
  auto const size = static_cast<std::int64_t>(cell.bytes());
  value_id const first = cell_at(c, address_plus(c, address, number(c, size - 1)), cell);
  value_id const end = cell_at(c, address_plus(c, address, bytes), cell);
  return {first, c.add(op::max, number(c, 0), c.add(op::sub, end, first))};
}

// Integers of which some bytes alone are written become unset: those at the ends of bytes from an address on.
void unset_ends(environment& e, value_id address, value_id bytes) {
  ir::cursor& c = e.c;
  value_id const end = address_plus(c, address, bytes);
  value_id const is_empty = c.add(op::eq, bytes, number(c, 0));
  for (std::uint32_t array = 0; array < e.plan.memory.objects.size(); ++array) {
    element_type const& cell = e.plan.memory.objects[array].element;
    if (cell.type != ir::i64 || cell.bytes() == 1) continue;
    for (value_id const at : {address, end}) {
      value_id const rest = c.add(op::bit_and, at, number(c, static_cast<std::int64_t>(cell.bytes() - 1)));
      value_id const is_whole = is_either(c, is_empty, c.add(op::eq, rest, number(c, 0)));
      value_id const before = e.array_of(array);
      e.set_array_of(
          array, ir::builder(c).if_(
                     is_whole, [&] { return before; },
                     [&] { return c.add(op::update, before, cell_at(c, at, cell), unset_of(c, cell)); }));
    }
  }
}

// A cell all of whose bytes are the lowest byte of a number. The bits of a floating-point number are known for a constant, and for 0.
value_id repeated(ir::cursor& c, value_id byte, element_type const& cell) {
  constexpr std::int64_t pattern = 0x0101'0101'0101'0101;
  if (cell.type == ir::i64)
    return wrapped(c, c.add(op::mul, zero_extended(c, byte, 8), number(c, pattern)), cell.bits);
  if (c->is_literal(byte)) {
    std::uint64_t const bits = (c->bits_of(byte) & 0xff) * static_cast<std::uint64_t>(pattern);
    return c.literal(cell.type, cell.type == ir::f32 ? bits & 0xffff'ffff : bits);
  }
  return c.add(
      op::select, c.add(op::eq, byte, number(c, 0)), zero_of(c, cell.type),
      c.literal(cell.type, unset_bits(cell)));
}

void emit_fill(environment& e, value_id address, value_id bytes, value_id byte) {
  ir::cursor& c = e.c;
  unset_ends(e, address, bytes);
  for (std::uint32_t array = 0; array < e.plan.memory.objects.size(); ++array) {
    element_type const& cell = e.plan.memory.objects[array].element;
    cell_range const range = cells_within(c, address, bytes, cell);
    value_id const x = repeated(c, byte, cell);
    e.set_array_of(
        array, ir::builder(c).loop(range.count, {e.array_of(array)}, [&](value_id k, auto const& now) {
          return c.add(op::update, now[0], address_plus(c, range.first, k), x);
        }));
  }
}

// Cells of the destination have those of the source if both are aligned alike; otherwise they are no cells of it, and become unset.
// A copy to a higher address begins at its end, since the two may overlap.
void emit_copy(environment& e, value_id to, value_id from, value_id bytes) {
  ir::cursor& c = e.c;
  value_id const distance = c.add(op::sub, to, from);
  value_id const is_backward = c.add(op::gt, distance, number(c, 0));
  unset_ends(e, to, bytes);
  for (std::uint32_t array = 0; array < e.plan.memory.objects.size(); ++array) {
    element_type const& cell = e.plan.memory.objects[array].element;
    auto const size = static_cast<std::int64_t>(cell.bytes());
    cell_range const range = cells_within(c, to, bytes, cell);
    value_id const moved = cell_at(c, distance, cell);
    value_id const is_aligned =
        c.add(op::eq, c.add(op::bit_and, distance, number(c, size - 1)), number(c, 0));
    value_id const unset = unset_of(c, cell);
    value_id const last = c.add(op::sub, range.count, number(c, 1));
    e.set_array_of(
        array, ir::builder(c).loop(range.count, {e.array_of(array)}, [&](value_id k, auto const& now) {
          value_id const forward = address_plus(c, range.first, k);
          value_id const backward = address_plus(c, range.first, c.add(op::sub, last, k));
          value_id const at = c.add(op::select, is_backward, backward, forward);
          value_id const source = c.add(op::select, is_aligned, c.add(op::sub, at, moved), at);
          value_id const x = c.add(op::at, now[0], source);
          return c.add(op::update, now[0], at, size == 1 ? x : c.add(op::select, is_aligned, x, unset));
        }));
  }
}

void emit_allocation(environment& e, llvm::CallBase const& call, module_plan const& all) {
  ir::cursor& c = e.c;
  if (allocation_of(call) == allocation::release) {
    call_in_memory(e, all.release, {e[call.getArgOperand(0)]}, memory_effect::writes);
    return;
  }
  bool const is_zeroed = allocation_of(call) == allocation::allocate_zeros;
  value_id bytes = e[call.getArgOperand(0)];
  if (is_zeroed) bytes = c.add(op::mul, bytes, e[call.getArgOperand(1)]);
  value_id const address = call_in_memory(e, all.allocate, {bytes}, memory_effect::writes)[0];
  if (is_zeroed) emit_fill(e, address, bytes, number(c, 0));
  e.set(&call, address);
}

void emit_call_in_memory(environment& e, llvm::CallBase const& call, module_plan const& all) {
  std::vector<value_id> arguments;
  for (llvm::Value const* argument : call.args()) arguments.push_back(e[argument]);
  function_plan const* const linear = all.linear_of(call.getCalledFunction());
  function_plan const& callee = linear ? *linear : *all.of(call.getCalledFunction());
  memory_effect const effect = linear ? e.plan.memory.call_effect.lookup(&call) : memory_effect::none;
  e.set_results(call, call_in_memory(e, callee.id, arguments, effect));
}

} // namespace

std::vector<value_id> call_in_memory(
    environment& e, ir::function_id callee, std::vector<value_id> const& arguments, memory_effect effect) {
  ir::cursor& c = e.c;
  auto const arrays = static_cast<std::uint32_t>(e.plan.memory.objects.size());
  std::vector<value_id> operands;
  for (std::uint32_t k = 0; k < arrays && effect != memory_effect::none; ++k)
    operands.push_back(e.array_of(k));
  operands.insert(operands.end(), arguments.begin(), arguments.end());
  std::vector<ir::type> const types = c.owner()[callee].results;
  ir::node_id const n = c.insert(op::call, operands, types, ir::attributes::of(callee));
  std::vector<value_id> results;
  for (std::uint32_t k = 0; k < types.size(); ++k) results.push_back(c->result(n, k));
  if (effect != memory_effect::writes) return results;
  std::size_t const first = results.size() - arrays;
  for (std::uint32_t k = 0; k < arrays; ++k) e.set_array_of(k, results[first + k]);
  results.resize(first);
  return results;
}

void enter_frame(environment& e, module_plan const& all) {
  function_memory const& memory = e.plan.memory;
  if (memory.frame_offset.empty()) return;
  value_id const size = number(e.c, static_cast<std::int64_t>(memory.frame_bytes));
  e.frame = call_in_memory(e, all.allocate, {size}, memory_effect::writes)[0];
  for (llvm::Instruction const& i : e.plan.function->getEntryBlock())
    if (auto const at = memory.frame_offset.find(&i); at != memory.frame_offset.end())
      e.set(&i, address_plus(e.c, e.frame, number(e.c, static_cast<std::int64_t>(at->second))));
}

void leave_frame(environment& e, module_plan const& all) {
  if (!e.plan.memory.frame_offset.empty()) call_in_memory(e, all.release, {e.frame}, memory_effect::writes);
}

value_id address_of(environment& e, llvm::GEPOperator const& gep) {
  ir::cursor& c = e.c;
  pointer_offset const offset = offset_of(gep, {ir::i64, 8}, e.plan.function->getParent()->getDataLayout());
  value_id address = e[offset.base];
  for (pointer_offset::term const& t : offset.terms)
    address =
        address_plus(c, address, t.scale == 1 ? e[t.index] : c.add(op::mul, e[t.index], number(c, t.scale)));
  return address_plus(c, address, number(c, offset.constant));
}

bool is_in_memory(llvm::Instruction const& i, module_plan const& all) {
  if (llvm::isa<llvm::LoadInst>(i) || llvm::isa<llvm::StoreInst>(i) || llvm::isa<llvm::MemIntrinsic>(i))
    return true;
  auto const* const call = llvm::dyn_cast<llvm::CallBase>(&i);
  return call && (allocation_of(*call) != allocation::none || all.linear_of(call->getCalledFunction()) ||
                  all.of(call->getCalledFunction()));
}

void emit_in_memory(environment& e, llvm::Instruction const& i, module_plan const& all) {
  if (auto const* load = llvm::dyn_cast<llvm::LoadInst>(&i)) return load_at_address(e, *load);
  if (auto const* store = llvm::dyn_cast<llvm::StoreInst>(&i)) return store_at_address(e, *store);
  auto const& call = llvm::cast<llvm::CallBase>(i);
  if (auto const* copy = llvm::dyn_cast<llvm::MemTransferInst>(&i))
    return emit_copy(e, e[copy->getRawDest()], e[copy->getRawSource()], e[copy->getLength()]);
  if (auto const* fill = llvm::dyn_cast<llvm::MemSetInst>(&i))
    return emit_fill(e, e[fill->getRawDest()], e[fill->getLength()], e[fill->getValue()]);
  if (allocation_of(call) != allocation::none) return emit_allocation(e, call, all);
  emit_call_in_memory(e, call, all);
}

} // namespace overdub::lifting
