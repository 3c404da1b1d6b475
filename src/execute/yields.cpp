#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/lane_handlers.hpp>
#include <overdub/implementation/execute/yields.hpp>
#include <overdub/implementation/ir/ancestor.hpp>
#include <overdub/ir/regions.hpp>

#include <algorithm>

namespace overdub::execute {
namespace {

// Whether the operation writes its result after reading all operands.
bool writes_last(ir::op c) {
  return ir::is_elementwise(c) || c == ir::op::convert || c == ir::op::at || c == ir::op::length;
}
bool is_used_after(function_lowering const& fn, value_id v, node_id n, region_id r) {
  for (ir::use_id const u : fn.f.uses_of(v)) {
    if (is_stacked_first(fn, u, r)) continue;
    node_id const a = ir::ancestor_in(fn.f, fn.f[u].user, r);
    if (a == ir::nothing || fn.order.is_before(n, a)) return true;
  }
  return false;
}

} // namespace

void hint_results(
    function_lowering& fn, region_id r, std::span<offset const> to, std::span<value_id const> old_values) {
  auto const yielded = fn.f.operands_of(fn.f.yield_of(r));
  for (std::size_t k = 0; k < to.size(); ++k) {
    value_id const v = yielded[k];
    if (!fn.f.is_result(v) || fn.f.region_of(v) != r || holds_reference(fn.type_of(v))) continue;
    if (fn.slots.is_hinted(v) || !writes_last(fn.f[fn.f.node_of(v)].code)) continue;
    if (to[k] == no_word) continue;
    if (!old_values.empty() && old_values[k] != ir::nothing &&
        is_used_after(fn, old_values[k], fn.f.node_of(v), r))
      continue;
    fn.slots.hint(v, to[k]);
  }
}

bool is_stacked_first(function_lowering const& fn, ir::use_id u, region_id body) {
  ir::function const& f = fn.f;
  node_id const loop = f[body].parent, user = f[u].user;
  if (fn.lanes != nullptr || loop == ir::nothing || !ir::is_counted_loop(f[loop].code)) return false;
  value_id const v = f[u].value;
  ir::region_flow const flow(f, loop);
  return user == f.yield_of(body) && flow.is_stacked(index_of(u) - f[user].first_operand) &&
         flow.carried_index(v) && fn.type_of(v).rank == 0;
}

void emit_move(function_lowering& fn, word_move const& m) {
  if (m.lane_size != 0)
    fn.out.emit(&doing<lane_copy>::run, m.to, m.from, 0, m.lane_size);
  else if (m.words == 1)
    fn.out.emit(&move_word::run, m.to, m.from);
  else
    fn.out.emit(&move_words::run, m.to, m.from, 0, m.words);
}

void emit_moves(
    function_lowering& fn, std::vector<word_move> moves, std::vector<std::pair<offset, offset>> temporaries) {
  auto const new_temporary = [&](word_move const& m) {
    if (m.lane_size != 0) return fn.lanes->rows.temporary();
    temporaries.push_back({fn.slots.allocate(m.words), m.words});
    return temporaries.back().first;
  };
  for (word_move const& m : in_sequence(std::move(moves), new_temporary)) emit_move(fn, m);
  for (auto const& [at, words] : temporaries) fn.slots.free(at, words);
  if (fn.lanes != nullptr) fn.lanes->rows.free_temporary();
}

void yield_to(function_lowering& fn, region_id r, std::span<offset const> to) {
  node_id const last = fn.f.yield_of(r);
  auto const yielded = fn.f.operands_of(last);
  std::vector<word_move> moves;
  for (std::size_t k = 0; k < to.size(); ++k) {
    retain_consumed(fn, last, static_cast<std::uint32_t>(k));
    moves.push_back({fn.at(yielded[k]), to[k], fn.slots.words_of(yielded[k])});
  }
  release_overwritten(fn, last, to);
  emit_moves(fn, std::move(moves));
}

void release_overwritten(function_lowering& fn, node_id yield, std::span<offset const> to) {
  for (value_id const v : fn.counts().released_after(yield))
    if (std::find(to.begin(), to.end(), fn.at(v)) != to.end()) release(fn, v);
}

std::uint32_t leave_unless(function_lowering& fn, region_id condition) {
  node_id const decides = fn.f.yield_of(condition);
  value_id const mask = fn.f.operand(decides, 0);
  std::uint32_t const end = fn.out.jump_if_false({mask, fn.at(mask), is_only_use(fn.f, mask, decides)});
  finish(fn, decides);
  return end;
}

void store_output(function_lowering& fn, value_id v, offset index, offset array) {
  ir::type const t = fn.type_of(v);
  if (t.rank > 0) {
    fn.out.emit(&doing<store_row>::run, array, index, fn.at(v), shape_code(t.array_of()));
    return;
  }
  with_type(t.element, [&]<class T>(T) { fn.out.emit(&store_element<T>::run, array, index, fn.at(v)); });
}

} // namespace overdub::execute
