// explain(): what a proposal recomputed, as a text.

#include <overdub/implementation/ir/names_of_values.hpp>
#include <overdub/incremental/incremental_program.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/regions.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace overdub {
namespace increments {

inline std::string_view name_of_extent(step::extent ran) {
  switch (ran) {
  case step::extent::one_iteration:
    return "one iteration";
  case step::extent::some_iterations:
    return "a list of iterations";
  case step::extent::appended_iteration:
    return "one appended iteration";
  case step::extent::appended_iterations:
    return "the appended iterations";
  case step::extent::difference:
    return "updated by the difference";
  case step::extent::path:
    return "updated along a path of its tree";
  case step::extent::from_the_first_affected:
    return "from the first affected iteration on";
  case step::extent::branch:
    return "the affected operations of its branch";
  case step::extent::unchanged:
    return "unchanged";
  case step::extent::whole:
    return "recomputed in full";
  default:
    return {};
  }
}

// The innermost map or loop that encloses an operation, or nothing.
inline ir::node_id enclosing_loop(ir::function const& f, ir::node_id n) {
  for (auto const& [region, owner] : ir::enclosing_regions(f, n))
    if (ir::is_counted(f[owner].code)) return owner;
  return ir::nothing;
}

} // namespace increments

// A line for each map, reduction and loop that was recomputed, in order, and the number of other operations.
std::string incremental_program::explain() const {
  increments::bound_updates const& updates = state_.updates;
  if (updates.proposal == nullptr) return "nothing ran\n";
  ir::function const& f = state_.programs->function();
  ir::names_of_values const names(state_.programs->program(), f);
  std::string text, last;
  std::size_t others = 0, times = 0;
  auto const end_line = [&] {
    if (times == 0) return;
    text += last;
    if (times > 1) text += ", " + std::to_string(times) + " times";
    text += '\n';
  };
  for (increments::step const& s : steps()) {
    std::string_view const how = increments::name_of_extent(s.ran);
    if (how.empty()) {
      ++others;
      continue;
    }
    std::string line;
    for (ir::value_id const v : f.results_of(s.node)) {
      line += names[v];
      line += v == f.results_of(s.node)[f[s.node].result_count - 1] ? " = " : ", ";
    }
    line.append(ir::name_of(f[s.node].code)).append(": ").append(how);
    if (ir::node_id const enclosing = increments::enclosing_loop(f, s.node); enclosing != ir::nothing)
      line.append(", in an iteration of ").append(names[f.result(enclosing, 0)]);
    if (!s.why.empty()) line.append(", since ").append(s.why);
    if (line != last) {
      end_line();
      last = std::move(line);
      times = 0;
    }
    ++times;
  }
  end_line();
  text += std::to_string(others);
  text += others == 1 ? " other operation\n" : " other operations\n";
  if (increments::update_strategy const* const strategy = state_.strategies.in_use();
      strategy != nullptr && updates.proposal != updates.full.get() && strategy->has_figures()) {
    text += updates.proposal == updates.plain.get() ? "a plain run" : "the update program";
    if (strategy->is_needed())
      text += ", since updates of other change signatures need the values that it saves";
    text += ": the work of an update is " + std::to_string(strategy->work()) + ", that of a plain run " +
            std::to_string(strategy->plain_work()) + "\n";
  }
  return text;
}

} // namespace overdub
