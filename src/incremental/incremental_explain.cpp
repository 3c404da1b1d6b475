// explain(): what a proposal recomputed, as a text.

#include <overdub/implementation/incremental/update_program_text.hpp>
#include <overdub/incremental/incremental_program.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace overdub {
// A line for each map, reduction and loop that was recomputed, in order, and the number of other operations.
std::string incremental_program::explain() const {
  increments::bound_updates const& updates = state_.updates;
  if (updates.proposal == nullptr) return "nothing ran\n";
  increments::update_program_text const text_of(state_.programs->program(), state_.programs->function());
  std::string text, last;
  std::size_t others = 0, times = 0;
  auto const end_line = [&] {
    if (times == 0) return;
    text += last;
    if (times > 1) text += ", " + std::to_string(times) + " times";
    text += '\n';
  };
  for (increments::step const& s : steps()) {
    if (s.ran == increments::step::extent::scalar) {
      ++others;
      continue;
    }
    std::string line = text_of.of(s);
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
