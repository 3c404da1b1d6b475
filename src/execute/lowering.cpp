#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/lowering.hpp>

#include <algorithm>

namespace overdub::execute {
namespace {

// Ends a value, with what it owns besides words of the frame.
void end(function_lowering& fn, value_id v) {
  frame_slot const was = fn.slots.end(v);
  if (was.owner != no_word) fn.out.emit(&release_owner::run, 0, was.owner);
  if (was.row != no_word) fn.lanes->rows.free(was.row);
}

} // namespace

std::uint32_t lowering_of_program::number(ir::function_id f) {
  auto& n = number_of[index_of(f)];
  if (n == ~0u) {
    n = static_cast<std::uint32_t>(order.size());
    order.push_back(f);
  }
  return n;
}

function_lowering::function_lowering(lowering_of_program& of, ir::function_id id)
    : shared(of), p(of.owner), f(p[id]), order(f), counts_of_function(f, order, {of.owners, id}), out(of.out),
      slots(f, order) {}

void function_lowering::refuse(std::string const& what) const {
  throw not_executable(
      message("overdub: @%s cannot be interpreted: %s", std::string(p.text(f.name)).c_str(), what.c_str()));
}

void finish(function_lowering& fn, node_id n, std::span<offset const> overwritten) {
  for (value_id const v : fn.counts().released_after(n))
    if (std::find(overwritten.begin(), overwritten.end(), fn.at(v)) == overwritten.end()) release(fn, v);
  for (value_id const v : fn.slots.ending_at(n)) end(fn, v);
}

void end_scalars(function_lowering& fn, node_id n) {
  for (value_id const v : fn.slots.ending_at(n))
    if (!fn.slots.has_count(v)) end(fn, v);
}

void release(function_lowering& fn, value_id v) {
  if (fn.at(v) == no_word) return;
  fn.out.emit(
      fn.type_of(v).is_function() ? &doing<release_function_at>::run : &release_owner::run, 0,
      fn.slots.owner_word(v));
}

void retain_consumed(function_lowering& fn, node_id n, std::uint32_t operand) {
  if (fn.counts().retains(n, operand))
    fn.out.emit(&retain_owner::run, 0, fn.slots.owner_word(fn.f.operand(n, operand)));
}

bool is_only_use(ir::function const& f, value_id v, node_id n) {
  for (ir::use_id const u : f.uses_of(v))
    if (f[u].user != n) return false;
  return true;
}

std::optional<fused_map> take_fused_map(function_lowering& fn, node_id reduce) {
  auto const found = std::find_if(
      fn.fused_maps.begin(), fn.fused_maps.end(), [&](fused_map const& m) { return m.reduce == reduce; });
  if (found == fn.fused_maps.end()) return {};
  fused_map const m = *found;
  fn.fused_maps.erase(found);
  return m;
}

void refuse_unless_elementwise(function_lowering const& fn, node_id n) {
  if (!ir::is_elementwise(fn.f[n].code))
    fn.refuse(
        "it has the operation " + std::string(ir::name_of(fn.f[n].code)) +
        ", which the interpreter does not have");
}

std::vector<offset> new_slots(function_lowering& fn, ir::id_range<value_id> all) {
  std::vector<offset> where;
  for (value_id const v : all) where.push_back(fn.slots.assign_new(v));
  return where;
}

void append_words(function_lowering const& fn, std::vector<offset>& list, value_id v) {
  for (offset i = 0; i < fn.slots.words_of(v); ++i) list.push_back(fn.at(v) + i * word_size);
}

std::vector<offset> operand_words(function_lowering const& fn, node_id n) {
  std::vector<offset> list;
  for (value_id const v : fn.f.operands_of(n)) list.push_back(fn.at(v));
  return list;
}

} // namespace overdub::execute
