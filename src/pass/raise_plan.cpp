#include <overdub/implementation/ir/names_of_values.hpp>
#include <overdub/implementation/pass/raise_plan.hpp>
#include <overdub/ir/bounds.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/pass/ir_names.hpp>

#include <algorithm>
#include <optional>

namespace overdub::pass {
namespace {

// The analysis of one loop.
class raisable_loop {
public:
  raisable_loop(function const& f, node_id n) : f_(f), n_(n), flow_(f, n), body_(flow_.body()) {}

  loop_plan plan() const {
    loop_plan made{.loop = n_, .carried = {}};
    bool is_map = flow_.stacked() > 0;
    for (std::uint32_t i = 0; i < flow_.carried(); ++i) {
      std::optional<carried_plan> const one = carried(i);
      if (!one) {
        made.remains = "no sum, counter, or array of one element for each iteration";
        made.culprit = flow_.argument(i);
        return made;
      }
      is_map = is_map || one->is == carried_plan::kind::sum || one->is == carried_plan::kind::elements;
      made.carried.push_back(*one);
    }
    if (!is_map) made.remains = "it has no value for each iteration";
    return made;
  }

private:
  using kind = carried_plan::kind;

  std::optional<carried_plan> carried(std::uint32_t i) const {
    value_id const argument = flow_.argument(i), next = flow_.next(i);
    if (next == argument) return carried_plan{.is = kind::unchanged};
    if (!f_.is_result(next) || f_[f_.node_of(next)].parent != body_) return {};
    node_id const made = f_.node_of(next);
    if (auto const found = counter(argument, made)) return found;
    if (!is_used_once(next)) return {};
    if (auto const found = sum(argument, made)) return found;
    return elements(i, made);
  }

  // The side on which an operation combines the value with another; nothing, if it does not.
  std::optional<std::uint32_t> side_of(value_id argument, node_id made) const {
    if (f_[made].operand_count != 2 || f_.operand(made, 0) == f_.operand(made, 1)) return {};
    if (f_.operand(made, 0) == argument) return 0;
    bool const commutes = ir::row_of(f_[made].code).has(ir::op_traits::commutes) ||
                          is_associative(f_[made].code, f_.type_of(argument));
    if (f_.operand(made, 1) == argument && commutes) return 1;
    return {};
  }
  std::optional<carried_plan> counter(value_id argument, node_id made) const {
    op const code = f_[made].code;
    if (f_.type_of(argument) != ir::i64 || (code != op::add && code != op::sub)) return {};
    auto const side = side_of(argument, made);
    if (!side || ir::is_defined_in(f_, f_.operand(made, 1 - *side), body_)) return {};
    return carried_plan{.is = kind::counter, .made_by = made, .operand = 1 - *side};
  }
  std::optional<carried_plan> sum(value_id argument, node_id made) const {
    if (f_.type_of(argument).rank > 0 || !is_combined(f_[made].code) || !is_used_once(argument)) return {};
    auto const side = side_of(argument, made);
    if (!side) return {};
    return carried_plan{.is = kind::sum, .made_by = made, .operand = 1 - *side};
  }
  // The operations that combine terms. None fails.
  static bool is_combined(op code) {
    constexpr op all[] = {op::add,  op::sub,    op::mul,     op::min,     op::max,        op::fmin,
                          op::fmax, op::bit_or, op::bit_and, op::bit_xor, op::logical_or, op::logical_and};
    return std::ranges::find(all, code) != std::end(all);
  }

  std::optional<carried_plan> elements(std::uint32_t i, node_id made) const {
    value_id const argument = flow_.argument(i);
    bool const is_update = f_[made].code == op::update && f_[made].operand_count == 3 &&
                           f_.type_of(argument).rank == 1 && f_.operand(made, 0) == argument &&
                           f_.operand(made, 1) == flow_.index();
    if (!is_update || !ir::is_length_of(f_, flow_.trip_count(), flow_.initial(i))) return {};
    for (ir::use_id const u : f_.uses_of(argument)) {
      node_id const user = f_[u].user;
      bool const is_own = user == made || f_[user].code == op::length ||
                          (f_[user].code == op::at && f_.operand(user, 1) == flow_.index());
      if (!is_own) return {};
    }
    return carried_plan{.is = kind::elements, .made_by = made, .operand = 2};
  }

  bool is_used_once(value_id v) const {
    ir::use_id const first = f_[v].first_use;
    return first != nothing && f_[first].next == nothing;
  }

  function const& f_;
  node_id n_;
  ir::region_flow flow_;
  region_id body_;
};

// Why a loop remains, whatever its loop-carried values are. Empty, if nothing is against raising it.
std::string_view why_it_remains(function const& f, node_id n, std::vector<effect_set> const& effects) {
  if (f[n].attributes.is_reversed()) return "it runs backwards";
  if (!effects[index_of(n)].can_merge()) return "it has side effects";
  ir::region_flow const flow(f, n);
  for (std::uint32_t k = flow.carried(); k < f[n].result_count; ++k)
    if (f.type_of(f.result(n, k)).rank > 1) return "it stacks arrays";
  return {};
}

} // namespace

raise_plan plan_to_raise(ir::effects const& known, function const& f) {
  raise_plan plan;
  std::vector<effect_set> const effects = known.of_each(f);
  auto const region = [&](auto const& self, region_id r, bool runs_in_order) -> void {
    for (node_id const n : f.nodes_of(r)) {
      op const code = f[n].code;
      bool remains = runs_in_order || ir::is_conditional_loop(code);
      if (ir::is_counted_loop(code)) {
        std::string_view why = runs_in_order ? "a loop that remains runs it" : why_it_remains(f, n, effects);
        if (why.empty())
          plan.push_back(raisable_loop(f, n).plan());
        else
          plan.push_back({.loop = n, .carried = {}, .remains = why});
        remains = !plan.back().remains.empty();
      }
      for (region_id const inner : f.regions_of(n)) self(self, inner, remains);
    }
  };
  region(region, function::body, false);
  return plan;
}

bool is_associative(op combine, ir::type t) { return !t.is_floating() && combine != op::sub; }

std::string text_of(raise_plan const& plan, ir::program const& p, function const& f) {
  ir::names_of_values const names(p, f);
  std::string text;
  for (loop_plan const& one : plan) {
    ir::region_flow const flow(f, one.loop);
    text.append("loop ")
        .append(names[flow.index()])
        .append(one.remains.empty() ? ": raised\n" : " remains: ");
    if (!one.remains.empty()) {
      if (one.culprit != nothing) text.append(names[one.culprit]).append(" is ");
      text.append(one.remains).append("\n");
      continue;
    }
    for (std::uint32_t i = 0; i < one.carried.size(); ++i) {
      carried_plan const& c = one.carried[i];
      text.append("  ").append(names[flow.argument(i)]);
      if (c.is == carried_plan::kind::unchanged) {
        text.append(": unchanged\n");
        continue;
      }
      value_id const other = f.operand(c.made_by, c.operand);
      op const code = f[c.made_by].code;
      std::string const of = f.is_literal(other) ? "a literal" : names[other];
      if (c.is == carried_plan::kind::counter) text.append(": a counter, steps by ").append(of);
      if (c.is == carried_plan::kind::elements) text.append(": elements, each ").append(of);
      if (c.is == carried_plan::kind::sum)
        text.append(": combines by ")
            .append(ir::name_of(code))
            .append(is_associative(code, f.type_of(flow.argument(i))) ? " " : " in order ")
            .append(of);
      text.append("\n");
    }
  }
  return text;
}

} // namespace overdub::pass
