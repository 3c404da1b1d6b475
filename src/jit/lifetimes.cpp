// Live ranges, and placement of retain and release operations.
#include "function.hpp"

#include <overdub/implementation/execute/buffer.hpp>

#include <algorithm>
#include <utility>

namespace overdub::jit {

bool function_compiler::contains(node_id outer, node_id inner) const {
  for (node_id n = inner;;) {
    node_id const owner = f_[f_[n].parent].parent;
    if (owner == ir::nothing) return false;
    if (owner == outer) return true;
    n = owner;
  }
}

// Registers a value defined in region r: its last use, or its definition if it is unused.
void function_compiler::live_in(value_id v, region_id r) {
  if (!is_reference_counted(type_of(v)) || values_[index_of(v)].borrowed || values_[index_of(v)].all.empty())
    return;
  node_id const last = order_.last_use_in(v, r);
  last_use_of_[index_of(v)] = last;
  if (last != ir::nothing)
    last_uses_[index_of(last)].push_back({v, true});
  else
    release(type_of(v), owner_of(v));
}
// Releases values with their last use here, after the operation is compiled.
void function_compiler::finish(node_id n) {
  for (last_use const& d : std::exchange(last_uses_[index_of(n)], {}))
    if (d.releases) release(type_of(d.value), owner_of(d.value));
}
bool function_compiler::has_last_use(value_id v, node_id n) const {
  return std::any_of(last_uses_[index_of(n)].begin(), last_uses_[index_of(n)].end(), [&](last_use const& d) {
    return d.value == v && d.releases;
  });
}
// Transfers the reference of a value at its last use.
bool function_compiler::transfer_reference(value_id v, node_id n) {
  for (last_use& d : last_uses_[index_of(n)])
    if (d.value == v && d.releases) {
      d.releases = false;
      return true;
    }
  return false;
}
// The value with a reference, which an operation transfers: the value's own at its last use, else a new one.
value function_compiler::transferred(value_id v, node_id n) {
  if (is_reference_counted(type_of(v)) && !transfer_reference(v, n)) retain(v);
  value given = get(v);
  given.borrowed = false;
  return given;
}
// Yielded values, operands from `first` on, with transferred references.
std::vector<value>
function_compiler::transferred_yields(region_id r, std::uint32_t first, std::uint32_t count) {
  node_id const last = f_.yield_of(r);
  std::vector<value> all;
  for (std::uint32_t k = 0; k < count; ++k) all.push_back(transferred(f_.operand(last, first + k), last));
  return all;
}

// Marks the buffer as no longer unique.
void function_compiler::mark_shared(value_id v) {
  values_[index_of(v)].unique = false;
  if (value_id const root = borrowed_from_[index_of(v)]; root != ir::nothing)
    values_[index_of(root)].unique = false;
}
void function_compiler::retain(value_id v) {
  mark_shared(v);
  retain_owner(owner_of(v));
}
void function_compiler::retain_owner(llvm::Value* owner) { (void)call(shared_.retainer(), {owner}); }
void function_compiler::release(ir::type t, llvm::Value* owner) {
  (void)call(shared_.releaser(t), {machine(), owner});
}

// References of values with their last use at an operation whose regions run at most once are transferred into the regions,
// which release them at their own last use. Each region begins by releasing those that it does not use.
function_compiler::values function_compiler::pass_into_regions(node_id n) {
  values given;
  for (last_use& d : last_uses_[index_of(n)])
    if (d.releases && order_.is_used_inside(d.value, n)) {
      d.releases = false;
      given.push_back(d.value);
    }
  return given;
}
void function_compiler::begin_region(region_id r, values const& given) {
  for (value_id const v : given) {
    node_id const last = order_.last_use_in(v, r);
    last_use_of_[index_of(v)] = last;
    if (last != ir::nothing)
      last_uses_[index_of(last)].push_back({v, true});
    else
      release(type_of(v), owner_of(v));
  }
}

// Whether a part of an array, which operation n creates, needs no reference: the last use of the array is after that of the
// part.
bool function_compiler::can_borrow(value_id array, value_id part, node_id n) const {
  value_id const root = values_[index_of(array)].borrowed ? borrowed_from_[index_of(array)] : array;
  if (root == ir::nothing) return true;
  node_id const released_at = last_use_of_[index_of(root)];
  if (released_at == ir::nothing) return true;
  node_id last = order_.last_use_in(part, f_[n].parent);
  if (last == ir::nothing) return false;
  region_id const r = f_[released_at].parent;
  while (f_[last].parent != r) {
    last = f_[f_[last].parent].parent;
    if (last == ir::nothing) return false;
  }
  if (last == released_at) return contains(released_at, n);
  return order_.is_before(last, released_at);
}
// `part` shares the buffer of an array: borrowed, with the reference of the array at its last use, or with a new reference.
void function_compiler::make_part(value_id array, value_id part, parts all, node_id n) {
  value made{std::move(all)};
  if (can_borrow(array, part, n)) {
    made.borrowed = true;
    borrowed_from_[index_of(part)] =
        values_[index_of(array)].borrowed ? borrowed_from_[index_of(array)] : array;
  } else if (transfer_reference(array, n))
    made.unique = values_[index_of(array)].unique;
  else
    retain(array);
  set(part, std::move(made));
}

// Makes an array unique: copies it if it is not.
void function_compiler::make_unique(ir::type t, value& x) {
  if (x.unique) return;
  block const look = new_block("counted"), copy = new_block("copy"), next = new_block("own");
  block const from = b_.GetInsertBlock();
  llvm::Value* const none = llvm::ConstantPointerNull::get(pointer_type(context_));
  b_.CreateCondBr(b_.CreateICmpEQ(x.owner(), none), copy, look);
  at(look);
  llvm::Value* const count = b_.CreateAlignedLoad(b_.getInt64Ty(), x.owner(), llvm::Align(8));
  b_.CreateCondBr(b_.CreateICmpEQ(count, integer(1)), next, copy);
  at(copy);
  (void)from;
  llvm::Value* const made =
      call(runtime_function::copied, {machine(), x.elements(), x.owner(), byte_count(t, x, 0)});
  llvm::Value* const elements = byte_offset(made, sizeof(execute::buffer));
  block const copied = b_.GetInsertBlock();
  go(next);
  at(next);
  auto* const new_elements = b_.CreatePHI(pointer(), 2);
  new_elements->addIncoming(x.elements(), look);
  new_elements->addIncoming(elements, copied);
  auto* const new_owner = b_.CreatePHI(pointer(), 2);
  new_owner->addIncoming(x.owner(), look);
  new_owner->addIncoming(made, copied);
  x.all[0] = new_elements;
  x.all[1] = new_owner;
  x.unique = true;
}

} // namespace overdub::jit
