#include <overdub/implementation/pass/each_function.hpp>
#include <overdub/implementation/pass/reabstraction.hpp>
#include <overdub/pass/cancel_reabstractions.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::pass {
namespace detail {

class reabstraction_cancelling {
public:
  reabstraction_cancelling(program& p, function_id f) : program_(p), cursor_(p, f) {}

  std::size_t run() {
    std::size_t changes = 0;
    while (cursor_.next()) {
      if (cursor_.code() == op::reabstract)
        changes += shorten();
      else if (cursor_.code() == op::apply)
        changes += apply_directly();
    }
    return changes;
  }

private:
  // Operands have been simplified before.
  bool shorten() {
    function const& f = *cursor_;
    node_id const n = cursor_.node();
    value_id const given = cursor_.operand(0);
    type const to = f.type_of(cursor_.result());
    value_id const first = before_reabstraction(f, given);
    if (f.type_of(first) == to) {
      cursor_.replace(first);
      drop_unused(cursor_, given);
      return true;
    }
    if (node_id const made = maker_of(f, first, op::closure);
        made != nothing && ir::inner_differences(program_, f.type_of(first), to) == 0) {
      std::vector<value_id> captured;
      for (value_id const v : f.operands_of(made)) captured.push_back(v);
      type const results[] = {to};
      cursor_.set_place(f[made].place);
      node_id const other = cursor_.insert(op::closure, captured, results, attributes(f[made].attributes));
      cursor_.replace(cursor_->result(other));
      drop_unused(cursor_, given);
      return true;
    }
    if (first == given) return false;
    cursor_.set_operand(n, 0, first);
    drop_unused(cursor_, given);
    return true;
  }
  bool apply_directly() {
    function const& f = *cursor_;
    node_id const n = cursor_.node();
    value_id const given = cursor_.operand(0), first = before_reabstraction(f, given);
    if (first == given) return false;
    ir::signature const inner = program_.signature_of(f.type_of(first));
    cursor_.set_place(f[n].place);
    std::vector<value_id> operands{first};
    for (std::uint32_t i = 0; i < inner.parameters.size(); ++i)
      operands.push_back(reabstracted(cursor_, cursor_.operand(i + 1), inner.parameters[i]));
    node_id const applied = cursor_.insert(op::apply, operands, inner.results);
    std::vector<value_id> results;
    for (std::uint32_t i = 0; i < inner.results.size(); ++i)
      results.push_back(reabstracted(cursor_, cursor_->result(applied, i), f.type_of(f.result(n, i))));
    cursor_.replace(results);
    drop_unused(cursor_, given);
    return true;
  }

  program& program_;
  cursor cursor_;
};

} // namespace detail

std::size_t cancel_reabstractions(program& p) {
  return detail::run_on_each_function<detail::reabstraction_cancelling>(p);
}

} // namespace overdub::pass
