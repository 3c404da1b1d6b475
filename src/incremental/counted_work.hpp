// Counts the work of runs, in additions, for the choice of a strategy (update_strategy.hpp).
#pragma once

#include <overdub/incremental/bound_update.hpp>
#include <overdub/incremental/saved_values.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>

namespace overdub::increments {

/// The work of an update program that ran, and of its commit. 0 if it cannot be counted.
[[gnu::noinline]] inline std::uint64_t count_work(bound_update& b) {
  try {
    if (b.work == nullptr) b.work = std::make_unique<bound_call>(b.update->work());
    b.work->take_arguments(b.call);
    b.work->run();
  } catch (std::exception const&) { // the update itself must not fail
    return 0;
  }
  std::uint64_t work = b.work->word(0);
  for (store const& s : b.update->program.stores) {
    if (s.value.result == update_value::none || b.call.code().results[s.value.result].rank == 0) continue;
    i64 const* const extents = b.call.extents(s.value.result);
    std::uint64_t elements = 1;
    for (std::size_t k = 0; k < b.call.code().results[s.value.result].rank; ++k)
      elements *= static_cast<std::uint64_t>(extents[k]);
    work += elements;
  }
  return work;
}
/// The work of a program with the committed inputs, which did not run. 0 if it cannot be counted.
[[gnu::noinline]] inline std::uint64_t count_work(runnable_update const& s, saved_values const& saved) {
  try {
    bound_call counts(s.work());
    for (std::uint32_t k = 0; k < s.program.parameters.size(); ++k)
      saved.pass(counts, k, s.program.parameters[k].variable);
    counts.run();
    std::uint64_t work = counts.word(0);
    for (store const& each : s.program.stores) work += saved.elements(each.variable, each.variable + 1);
    return work;
  } catch (std::exception const&) { // the update itself must not fail
    return 0;
  }
}

} // namespace overdub::increments
