#include <overdub/implementation/pass/dead_code.hpp>
#include <overdub/implementation/pass/replace_by_empty.hpp>
#include <overdub/ir/regions.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::pass {
namespace {

/// The live operations and values of a function.
class needs {
public:
  needs(function const& f, effects const& known, erasable which)
      : f_(f), effects_(known.of_each(f)), which_(which), node_(f.node_count()), value_(f.value_count()) {
    need_effects(function::body);
    for (value_id const v : f_.operands_of(f_.yield_of(function::body))) need(v);
    while (!open_.empty()) {
      value_id const v = open_.back();
      open_.pop_back();
      if (f_.is_result(v)) need_result(f_.node_of(v), f_[v].index);
      if (f_.is_argument(v)) need_argument(v);
    }
  }

  bool has(node_id n) const { return node_[index_of(n)]; }
  /// Whether a result, or an argument of a region, is live, as far as it can be dropped.
  bool has(value_id v) const { return value_[index_of(v)]; }

private:
  void need(value_id v) {
    if (f_.is_literal(v) || std::exchange(value_[index_of(v)], std::uint8_t{1})) return;
    open_.push_back(v);
  }

  void need_effects(region_id r) {
    for (node_id n = f_[r].first; n != nothing; n = f_[n].next)
      if (f_[n].code == op::yield || !can_drop(n)) need(n);
  }
  bool can_drop(node_id n) const {
    effect_set const all = effects_[index_of(n)];
    switch (which_) {
    case erasable::pure:
      return all.can_drop();
    case erasable::what_may_fail:
      return all.without(effect::may_fail).can_drop();
    default:
      return true;
    }
  }
  // The additions to an accumulator, and the operations around them. Those around a live operation are live.
  void need_additions(value_id accumulator) {
    for (ir::use_id const u : f_.uses_of(accumulator))
      for (node_id m = f_[u].user; !has(m); m = ir::owner_of(f_, m)) need(m);
  }

  // Marks an operation, and the operands that it needs in any case.
  void need(node_id n) {
    if (std::exchange(node_[index_of(n)], std::uint8_t{1})) return;
    function::node const& node = f_[n];
    for (region_id const r : f_.regions_of(n)) need_effects(r);
    if (node.code == op::yield) return;
    ir::region_flow const flow(f_, n);
    bool const drops_results =
        node.region_count > 0 && !ir::row_of(node.code).has(ir::region_traits::combines);
    std::uint32_t const operands =
        drops_results ? flow.leading_operands() + flow.first_yielded() : node.operand_count;
    for (std::uint32_t i = 0; i < operands; ++i) need(f_.operand(n, i));
    for (std::uint32_t i = 0; i < node.result_count; ++i) {
      bool const is_ragged =
          flow.is_stacked(i) && f_.type_of(f_.result(n, i)).rank > 1; // its parts may differ in shape
      if (!drops_results || i < flow.first_yielded() || is_ragged) need(f_.result(n, i));
    }
    for (region_id const r : f_.regions_of(n)) {
      if (!drops_results || ir::has_accumulators(node.code))
        for (value_id const v : f_.arguments_of(r)) need(v);
      if (ir::has_accumulators(node.code))
        for (value_id const v : f_.arguments_of(r)) need_additions(v);
      if (!flow.yields_results(r)) // a condition
        for (value_id const v : f_.operands_of(f_.yield_of(r))) need(v);
    }
  }

  void need_result(node_id n, std::uint32_t i) {
    need(n);
    ir::region_flow const flow(f_, n);
    if (i < flow.carried()) return need_loop_carried(n, i);
    for (region_id const r : f_.regions_of(n))
      if (i >= flow.first_yielded() && flow.yields_results(r))
        need(f_.operand(f_.yield_of(r), i - flow.first_yielded()));
  }
  void need_argument(value_id v) {
    node_id const n = ir::owner_of(f_, v);
    if (n == nothing) return;
    if (auto const i = ir::region_flow(f_, n).carried_index(v)) need_loop_carried(n, *i);
  }
  // A loop-carried value: the initial value, the arguments, the yielded operand and the result are live together.
  void need_loop_carried(node_id n, std::uint32_t i) {
    ir::region_flow const flow(f_, n);
    need(flow.final(i));
    need(flow.initial(i));
    for (region_id const r : f_.regions_of(n)) need(f_.argument(r, flow.leading_arguments() + i));
    need(flow.next(i));
  }

  function const& f_;
  std::vector<effect_set> effects_;
  erasable which_;
  std::vector<std::uint8_t> node_;
  std::vector<std::uint8_t> value_;
  std::vector<value_id> open_;
};

/// Copies the live part of a function.
class sweep {
public:
  sweep(function const& from, needs const& needed) : f_(from), needed_(needed) {}

  /// The number of dead operations and results.
  std::size_t excess() const {
    std::size_t count = 0;
    ir::walk(f_, function::body, [&](node_id n) {
      if (!needed_.has(n)) ++count;
      if (needed_.has(n) && f_[n].region_count > 0)
        for (value_id const v : f_.results_of(n)) count += !needed_.has(v);
    });
    return count;
  }
  /// Writes into a function of the same parameters with an empty body.
  void write(program& p, function_id into) {
    cursor c(p, into, function::body);
    written_.assign(f_.value_count(), nothing);
    note(c, nothing, f_.parameters(), c->parameters());
    write(c, function::body, function::body);
  }

private:
  void write(cursor& c, region_id r, region_id into) {
    for (node_id n = f_[r].first; n != nothing; n = f_[n].next) {
      if (!needed_.has(n)) continue;
      c.to_end(into);
      write(c, n);
    }
  }
  void write(cursor& c, node_id n) {
    function::node const& node = f_[n];
    operands_.clear();
    results_.clear();
    arguments_.resize(node.region_count);
    for (std::uint32_t i = 0; i < node.operand_count; ++i)
      if (keeps_operand(n, i)) operands_.push_back(written(c, f_.operand(n, i)));
    for (value_id const v : f_.results_of(n))
      if (survives(n, v)) results_.push_back(f_.type_of(v));
    for (std::uint32_t i = 0; i < node.region_count; ++i) {
      arguments_[i].clear();
      for (value_id const v : f_.arguments_of(f_.region_at(n, i)))
        if (survives(n, v)) arguments_[i].push_back(f_.type_of(v));
    }
    c.set_place(node.place);
    node_id const made = c.insert(node.code, operands_, results_, node.attributes, arguments_);
    note(c, n, f_.results_of(n), c->results_of(made));
    for (std::uint32_t i = 0; i < node.region_count; ++i) {
      region_id const r = f_.region_at(n, i);
      note(c, n, f_.arguments_of(r), c->arguments_of(c->region_at(made, i)));
      write(c, r, c->region_at(made, i));
    }
  }
  void note(cursor& c, node_id n, id_range<value_id> from, id_range<value_id> to) {
    std::size_t next = 0;
    for (value_id const v : from)
      if (survives(n, v)) {
        if (f_[v].name != nothing) c.set_name(to[next], f_[v].name);
        written_[index_of(v)] = to[next++];
      }
  }
  // Whether the result of a live operation, or the argument of its region, is live.
  bool survives(node_id n, value_id v) const {
    if (n == nothing) return true; // the function's own parameters
    return needed_.has(v) || f_[n].region_count == 0 || ir::is_iteration_index(f_, v);
  }
  bool keeps_operand(node_id n, std::uint32_t i) const {
    op const code = f_[n].code;
    if (code == op::yield) return keeps_yielded(f_[n].parent, i);
    std::uint32_t const leading = ir::region_flow(f_, n).leading_operands();
    return !ir::carries_values(code) || i < leading || needed_.has(f_.result(n, i - leading));
  }
  bool keeps_yielded(region_id r, std::uint32_t i) const {
    node_id const owner = f_[r].parent;
    if (owner == nothing) return true;
    ir::region_flow const flow(f_, owner);
    return !flow.yields_results(r) || needed_.has(f_.result(owner, flow.first_yielded() + i));
  }
  value_id written(cursor& c, value_id v) const {
    return f_.is_literal(v) ? c.literal(f_.type_of(v), f_.bits_of(v)) : written_[index_of(v)];
  }

  function const& f_;
  needs const& needed_;
  std::vector<value_id> written_;
  std::vector<value_id> operands_;
  std::vector<type> results_;
  std::vector<std::vector<type>> arguments_;
};

} // namespace

std::size_t drop_dead_code(program& p, function_id f, effects const& known, erasable which) {
  needs const needed(p[f], known, which);
  std::size_t const excess = sweep(p[f], needed).excess();
  if (excess == 0) return 0;
  function const from = detail::replace_by_empty(p, f);
  sweep(from, needed).write(p, f);
  return excess;
}

} // namespace overdub::pass
