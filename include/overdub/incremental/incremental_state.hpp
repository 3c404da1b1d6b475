// The data of an incremental program.
#pragma once

#include <overdub/incremental/bound_update.hpp>
#include <overdub/incremental/pending_changes.hpp>
#include <overdub/incremental/saved_values.hpp>
#include <overdub/incremental/update_program_cache.hpp>
#include <overdub/incremental/update_strategies.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace overdub::increments {

/// `set` writes the pending changes; `append` also writes elements after the end of a saved array. `propose` reads these and the saved
/// values, and writes the results of an update program. `commit` reads all of them, and writes the saved values.
struct incremental_state {
  incremental_state(
      std::shared_ptr<update_program_cache> of, std::shared_ptr<std::vector<void*> const> hooked)
      : programs(std::move(of)), contexts(std::move(hooked)), saved(programs->function()),
        changes(programs->function().parameters().size()) {}

  void check_not_moved() const {
    if (programs == nullptr) [[unlikely]]
      throw_moved();
  }
  [[noreturn]] static void throw_moved();

  std::shared_ptr<update_program_cache> programs;     // null after a move
  std::shared_ptr<std::vector<void*> const> contexts; // the contexts whose hooks are called; null: none
  saved_values saved;
  pending_changes changes;
  bound_updates updates;
  update_strategies strategies;
  bool is_commit_incomplete = false; // memory ran out in a commit: the next proposal recomputes everything
};

/// Exchanges the committed inputs and the changed ones as long as it lives.
class exchanged_changes {
public:
  explicit exchanged_changes(incremental_state& of) : of_(of) { of_.changes.exchange(of_.saved); }
  exchanged_changes(exchanged_changes const&) = delete;
  exchanged_changes& operator=(exchanged_changes const&) = delete;
  ~exchanged_changes() { of_.changes.exchange(of_.saved); }

private:
  incremental_state& of_;
};

} // namespace overdub::increments
