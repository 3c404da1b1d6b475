// What an update program does, as text: what was decided when it was written.
#pragma once

#include <overdub/implementation/ir/names_of_values.hpp>
#include <overdub/incremental/update_program.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/regions.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace overdub::increments {

std::string_view name_of_extent(step::extent ran);

/// Writes steps, guards, arguments and stores as lines of text, with the names that values have in the printed function.
class update_program_text {
public:
  update_program_text(ir::program const& p, ir::function const& f) : f_(f), names_(p, f) {}

  /// %2 = map: one iteration
  std::string of(step const& s) const {
    std::string line;
    for (ir::value_id const v : f_.results_of(s.node))
      line.append(line.empty() ? "" : ", ").append(names_[v]);
    if (!line.empty()) line.append(" = ");
    line.append(ir::name_of(f_[s.node].code)).append(": ").append(name_of_extent(s.ran));
    if (ir::node_id const enclosing = enclosing_loop(s.node); enclosing != ir::nothing)
      line.append(", in an iteration of ").append(names_[f_.result(enclosing, 0)]);
    if (!s.why.empty()) line.append(", since ").append(s.why);
    return line;
  }

  /// All decisions, a line each. `saved` has the values that the update program reads and writes.
  std::string of(update_program const& u, layout const& saved) const {
    std::string text;
    auto const add = [&](std::string_view kind, std::string const& line) {
      text.append(kind).append(line).append("\n");
    };
    for (guard const& g : u.guards) add("guard: ", of(g));
    for (update_parameter const& p : u.parameters) add("argument: ", of(p, u, saved));
    for (step const& s : u.steps) add("", of(s));
    for (store const& s : u.stores)
      add("commit: ", of(s.does, saved[s.variable], s.path.size(), s.each) +
                          (s.valid.exists() ? ", on a condition" : ""));
    return text;
  }

  /// puts %2[]
  std::string of(store::action does, variable const& to, std::size_t indices, bool each) const {
    std::string line;
    switch (does) {
    case store::action::put:
      line = "puts ";
      break;
    case store::action::put_range:
      line = "puts consecutive elements of ";
      break;
    case store::action::add:
      line = "adds to ";
      break;
    case store::action::append:
      line = "appends to ";
      break;
    }
    line += of(to);
    for (std::size_t k = 0; k < indices; ++k) line += each ? "[each]" : "[]";
    return line;
  }

private:
  // The innermost map or loop that encloses an operation, or nothing.
  ir::node_id enclosing_loop(ir::node_id n) const {
    for (auto const& [region, owner] : ir::enclosing_regions(f_, n))
      if (ir::is_counted(f_[owner].code)) return owner;
    return ir::nothing;
  }
  std::string of(guard const& g) const {
    if (g.iteration == 0) return names_[g.of] + " is unchanged";
    return "the affected iteration " + std::to_string(g.iteration) + " of index " + names_[g.of] + " exists";
  }
  std::string of(variable const& v) const {
    switch (v.what) {
    case variable::role::compensation:
      return "the compensation of " + names_[v.of];
    case variable::role::tree:
      return "the tree of " + names_[v.of];
    default:
      return names_[v.of];
    }
  }
  std::string of(update_parameter const& p, update_program const& u, layout const& saved) const {
    using kind = update_parameter::kind;
    auto const of_element = [&] {
      return "element " + std::to_string(p.ordinal) + " of " + of(saved[p.variable]);
    };
    auto const at_shift = [&] { return p.shift == 0 ? std::string() : " plus " + std::to_string(p.shift); };
    switch (p.what) {
    case kind::variable:
      return "saved " + of(saved[p.variable]);
    case kind::input:
      return "new " + of(saved[p.variable]);
    case kind::index:
      return "index " + std::to_string(p.axis) + " of changed " + of_element();
    case kind::element:
      return "changed " + of_element();
    case kind::list:
      return "indices of changed elements of " + of(saved[p.variable]);
    case kind::elements:
      return "changed elements of " + of(saved[p.variable]);
    case kind::positions:
      return "positions of changed elements of " + of(saved[p.variable]);
    case kind::gathered_rows:
      return "iterations that read changed elements of " + of(saved[p.input]) + at_shift() + " at " +
             names_[u.gathers[p.variable].index];
    case kind::matching_iterations:
      return "iterations whose " + of(saved[p.variable]) + " is an index of changed " +
             (p.ordinal == 0 ? "" : "element " + std::to_string(p.ordinal) + " of ") + of(saved[p.input]) +
             at_shift();
    }
    return {};
  }

  ir::function const& f_;
  ir::names_of_values names_;
};

} // namespace overdub::increments
