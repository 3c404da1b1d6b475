#include <overdub/implementation/pass/each_function.hpp>
#include <overdub/implementation/pass/reabstraction.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/pass/ir_names.hpp>
#include <overdub/pass/raise_reabstractions.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::pass {
namespace detail {

class reabstraction_raising {
public:
  reabstraction_raising(program& p, function_id f) : program_(p), cursor_(p, f, function::body) {}

  std::size_t run() {
    // Inner operations first: a reabstraction that is moved out of one may also be moved out of the enclosing one.
    std::vector<node_id> order;
    ir::walk(
        *cursor_, function::body, [](node_id) {}, [&](node_id n) { order.push_back(n); });
    std::size_t changes = 0;
    for (node_id const n : order) {
      if (f().is_erased(n)) continue;
      if (f()[n].code == op::if_) changes += move_before(n);
      for (std::uint32_t i = 0; i < f()[n].result_count; ++i)
        if (f().type_of(f().result(n, i)).is_function())
          changes += ir::carries_values(f()[n].code) ? out_of_loop(n, i) : move_after(n, i, sources_of(n, i));
    }
    return changes;
  }

private:
  struct operand {
    node_id node;
    std::uint32_t index;
  };
  function const& f() const { return *cursor_; }
  // The operands that become a result of a selection, or of regions that run once.
  std::vector<operand> sources_of(node_id n, std::uint32_t result) const {
    if (f()[n].code == op::select) return {{n, 1}, {n, 2}};
    std::vector<operand> all;
    if (ir::repeats_regions(f()[n].code) || ir::has_accumulators(f()[n].code)) return all;
    for (region_id const r : f().regions_of(n))
      if (ir::region_flow(f(), n).yields_results(r)) all.push_back({f().yield_of(r), result});
    return all;
  }
  value_id value_of(operand const& o) const { return f().operand(o.node, o.index); }

  // The original type of a value that was reabstracted only for this use; no type, for other values.
  type origin(value_id v) const {
    node_id const made = maker_of(f(), v, op::reabstract);
    return made != nothing && is_used_once(f(), v) ? f().type_of(f().operand(made, 0)) : type{};
  }
  bool can_become(value_id v, type t) const {
    if (origin(v) == t) return true;
    return maker_of(f(), v, op::closure) != nothing && is_used_once(f(), v) &&
           ir::inner_differences(program_, f().type_of(v), t) == 0;
  }
  // Replaces an operand by a value of this type.
  void become(operand const& o, type t) {
    value_id const v = value_of(o);
    node_id const made = f().node_of(v);
    if (f()[made].code == op::closure) {
      cursor_.set_type(v, t);
      return;
    }
    cursor_.set_operand(o.node, o.index, f().operand(made, 0));
    drop_unused(cursor_, v);
  }

  // Moves a reabstraction that both branches share before them.
  std::size_t move_before(node_id n) {
    std::vector<node_id> first, second;
    for (node_id const m : f().nodes_of(f().region_at(n, 0)))
      if (f()[m].code == op::reabstract) first.push_back(m);
    for (node_id const m : f().nodes_of(f().region_at(n, 1)))
      if (f()[m].code == op::reabstract) second.push_back(m);
    std::size_t moved = 0;
    for (node_id const m : second)
      for (node_id const same : first) {
        if (f().operand(m, 0) != f().operand(same, 0) ||
            f().type_of(f().result(m)) != f().type_of(f().result(same)))
          continue;
        cursor_.to_before(n);
        cursor_.move(same);
        value_id const v = f().result(same);
        cursor_.replace(m, cursor::values(&v, 1));
        ++moved;
        break;
      }
    return moved;
  }
  // Moves the reabstraction of a result after the operation; `from` are the operands that become the result.
  bool move_after(node_id n, std::uint32_t result, std::vector<operand> const& from) {
    type t;
    for (operand const& o : from)
      if (!t) t = origin(value_of(o));
    if (!t) return false;
    for (operand const& o : from)
      if (!can_become(value_of(o), t)) return false;
    for (operand const& o : from) become(o, t);
    cursor_.set_place(f()[n].place);
    cursor_.to_after(n);
    retype(cursor_, f().result(n, result), t);
    return true;
  }
  // Moves the reabstraction of a loop-carried value after the loop, if the initial value and the yielded one are reabstracted.
  bool out_of_loop(node_id n, std::uint32_t result) {
    ir::region_flow const flow(f(), n);
    if (flow.is_stacked(result)) return false;
    operand const initial{n, flow.leading_operands() + result};
    operand const next{f().yield_of(flow.body()), result};
    type const t = origin(value_of(initial));
    if (!t || origin(value_of(next)) != t) return false;
    for (region_id const r : f().regions_of(n)) // a condition that reads it
      if (r != flow.body() && f().is_used(f().argument(r, result))) return false;
    become(initial, t);
    become(next, t);
    cursor_.set_place(f()[n].place);
    for (region_id const r : f().regions_of(n)) {
      cursor_.to_start(r);
      retype(cursor_, f().argument(r, flow.leading_arguments() + result), t);
    }
    cursor_.to_after(n);
    retype(cursor_, f().result(n, result), t);
    return true;
  }

  program& program_;
  cursor cursor_;
};

} // namespace detail

std::size_t raise_reabstractions(program& p) {
  return detail::run_on_each_function<detail::reabstraction_raising>(p);
}

} // namespace overdub::pass
