#include "arrays.hpp"

#include "values.hpp"

#include <optional>

namespace overdub::lifting {
namespace {

using ir::op;
using ir::value_id;

value_id sum(ir::cursor& c, value_id a, value_id b) {
  auto const x = known_number(c, a), y = known_number(c, b);
  if (x && y)
    return number(
        c, static_cast<std::int64_t>(static_cast<std::uint64_t>(*x) + static_cast<std::uint64_t>(*y)));
  if (x == 0) return b;
  return y == 0 ? a : c.add(op::add, a, b);
}
value_id scaled(ir::cursor& c, value_id x, std::int64_t by) {
  auto const known = known_number(c, x);
  if (known)
    return number(
        c, static_cast<std::int64_t>(static_cast<std::uint64_t>(*known) * static_cast<std::uint64_t>(by)));
  return by == 1 ? x : c.add(op::mul, x, number(c, by));
}
bool is_zero(ir::cursor const& c, value_id x) { return known_number(c, x) == 0; }

object const& object_of(environment const& e, llvm::Value const* pointer) {
  return e.plan.memory.objects[e.plan.memory.object_at(pointer)];
}

value_id length_of(ir::cursor& c, value_id array) { return c.add(op::length, array); }

// A number of bytes as a number of elements.
value_id element_count(environment& e, llvm::Value const* bytes, element_type const& element) {
  ir::cursor& c = e.c;
  auto const size = static_cast<std::int64_t>(element.bytes());
  if (auto const known = known_number(c, e[bytes])) return number(c, *known / size);
  constant_factor const factor = factor_of(bytes);
  if (factor.other && factor.constant % size == 0) return scaled(c, e[factor.other], factor.constant / size);
  return size == 1 ? e[bytes] : c.add(op::div, e[bytes], number(c, size));
}

// The elements of an array from an index on.
value_id tail_of(ir::cursor& c, value_id array, value_id index) {
  if (is_zero(c, index)) return array;
  return c.add(op::slice, array, index, c.add(op::sub, length_of(c, array), index));
}

// The index of a pointer that may be null, for a call: 0 in an empty array.
value_id index_if_any(environment& e, llvm::Value const* pointer, value_id index) {
  object const& o = object_of(e, pointer);
  if (o.is != object::kind::heap || is_zero(e.c, index)) return index;
  return e.c.add(op::select, e.c.add(op::eq, index, number(e.c, null_index)), number(e.c, 0), index);
}

} // namespace

value_id index_of(environment& e, llvm::GEPOperator const& gep) {
  ir::cursor& c = e.c;
  pointer_offset const offset =
      offset_of(gep, object_of(e, &gep).element, e.plan.function->getParent()->getDataLayout());
  value_id index = e[offset.base];
  for (pointer_offset::term const& t : offset.terms) index = sum(c, index, scaled(c, e[t.index], t.scale));
  return sum(c, index, number(c, offset.constant));
}

void emit_load(environment& e, llvm::LoadInst const& i) {
  llvm::Value const* const pointer = i.getPointerOperand();
  value_id const index = e[pointer];
  e.set(&i, e.c.add(op::at, e.array(pointer), index));
}

void emit_store(environment& e, llvm::StoreInst const& i) {
  llvm::Value const* const pointer = i.getPointerOperand();
  value_id const index = e[pointer], x = e[i.getValueOperand()];
  e.set_array(pointer, e.c.add(op::update, e.array(pointer), index, x));
}

void emit_copy(environment& e, llvm::MemIntrinsic const& i) {
  ir::cursor& c = e.c;
  llvm::Value const* const to = i.getRawDest();
  object const& o = object_of(e, to);
  value_id const count = element_count(e, i.getLength(), o.element);
  value_id const first = e[to], array = e.array(to);
  auto const* const copy = llvm::dyn_cast<llvm::MemTransferInst>(&i);
  value_id const from = copy ? e.array(copy->getRawSource()) : value_id(ir::nothing);
  value_id const start = copy ? e[copy->getRawSource()] : value_id(ir::nothing);
  bool const is_whole = is_zero(c, first) && o.is == object::kind::local &&
                        known_number(c, count) == static_cast<std::int64_t>(o.count());
  if (is_whole && !copy) return e.set_array(to, c.add(op::fill, count, zero_of(c, o.type().element_type())));
  if (is_whole) return e.set_array(to, c.add(op::slice, from, start, count));
  e.set_array(to, ir::builder(c).loop(count, {array}, [&](value_id k, std::vector<value_id> const& carried) {
    value_id const x = copy ? c.add(op::at, from, sum(c, start, k)) : zero_of(c, o.type().element_type());
    return c.add(op::update, carried[0], sum(c, first, k), x);
  }));
}

void emit_allocation(environment& e, llvm::CallBase const& call) {
  ir::cursor& c = e.c;
  if (allocation_of(call) == allocation::release) return;
  object const& o = object_of(e, &call);
  value_id count = number(c, 0);
  if (o.element.is_known()) {
    bool const has_two = allocation_of(call) == allocation::allocate_zeros;
    value_id const times = has_two ? e[call.getArgOperand(0)] : number(c, 1);
    llvm::Value const* const bytes = call.getArgOperand(has_two ? 1 : 0);
    auto const size = static_cast<std::int64_t>(o.element.bytes());
    auto const known = known_number(c, e[bytes]);
    if (has_two && !(known && *known % size == 0)) { // as calloc(8 * n, 1) of numbers of 8 bytes
      count = c.add(op::mul, times, e[bytes]);
      if (size != 1) count = c.add(op::div, count, number(c, size));
    } else {
      count = element_count(e, bytes, o.element);
      if (has_two) count = c.add(op::mul, times, count);
    }
  }
  e.set_array(&call, c.add(op::fill, count, zero_of(c, o.type().element_type())));
  e.set(&call, number(c, 0));
}

void emit_call(environment& e, llvm::CallBase const& call, module_plan const& all) {
  ir::cursor& c = e.c;
  function_plan const& callee = *all.of(call.getCalledFunction());
  std::vector<value_id> arguments;
  for (llvm::Value const* argument : call.args()) {
    auto const k = static_cast<std::uint32_t>(arguments.size());
    value_id x = e[argument];
    if (argument->getType()->isPointerTy()) {
      ir::function const& body = c.owner()[callee.id];
      ir::type const parameter = body.type_of(body.argument(ir::function::body, k));
      bool const is_accessed = all.parameters.lookup(callee.function->getArg(k)).is_accessed;
      x = is_accessed ? tail_of(c, e.array(argument), index_if_any(e, argument, x))
                      : c.add(op::fill, number(c, 0), zero_of(c, parameter.element_type()));
    }
    arguments.push_back(x);
  }
  std::vector<ir::type> const& results = c.owner()[callee.id].results;
  ir::node_id const n = c.insert(op::call, arguments, results, ir::attributes::of(callee.id));
  std::uint32_t next = 0;
  std::vector<value_id> returned;
  while (returned.size() < result_types(*call.getCalledFunction()).size())
    returned.push_back(c->result(n, next++));
  e.set_results(call, returned);
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    llvm::Value const* const argument = call.getArgOperand(i);
    if (!argument->getType()->isPointerTy() || !writes_argument(call, i, all.parameters)) continue;
    value_id written = c->result(n, next++);
    value_id const index = e[argument];
    if (!is_zero(c, index))
      written = c.add(op::concat, c.add(op::slice, e.array(argument), number(c, 0), index), written);
    e.set_array(argument, written);
  }
}

} // namespace overdub::lifting
