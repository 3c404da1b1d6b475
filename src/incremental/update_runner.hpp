// Runs update programs: passes their arguments, and replaces those whose guards failed.
#pragma once

#include <overdub/implementation/incremental/bind_update.hpp>
#include <overdub/implementation/incremental/commit_changes.hpp>
#include <overdub/implementation/incremental/counted_work.hpp>
#include <overdub/implementation/incremental/pass_arguments.hpp>
#include <overdub/implementation/incremental/row_lengths.hpp>
#include <overdub/incremental/incremental_state.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace overdub::increments {

/// Whether a run that recomputes everything calls hooks.
enum class hooks_run : bool { no, yes };

/// Each run makes a proposal of the pending changes.
class update_runner {
public:
  explicit update_runner(incremental_state& s) : s_(s) {}

  /// Runs the update program for the pending changes, or a fallback.
  void run_update() {
    if (s_.updates.last == nullptr || !s_.changes.has(s_.updates.last->changes)) [[unlikely]] {
      s_.updates.last = find({});
      // Saving more values found a sum that is not finite.
      if (s_.saved.sums.must_recompute_all()) return recompute_all();
    }
    bound_update& b = *s_.updates.last;
    if (b.fallbacks.preferred != nullptr) [[unlikely]]
      return run_preferred(b);
    run(b);
    if (s_.updates.proposal != &b || s_.updates.last == nullptr) return; // update programs were unbound
    if (*b.results.failed_guards != 0) [[unlikely]]
      return deoptimise(b);
    b.fallbacks.failures = 0;
  }
  /// The same for the last update program, where all arguments but changed elements are current.
  [[gnu::always_inline]] static void run_ready(bound_update& b, incremental_state& s) {
    if (s.updates.direct != &b) copy_changed_elements(b, s);
    b.call.run_as_it_is();
    if (b.results.address != b.call.results()) [[unlikely]]
      bind_results(b, s.saved, s.changes);
    s.updates.proposal = &b;
    if (*b.results.failed_guards != 0) [[unlikely]]
      return deoptimise(b, s);
    b.fallbacks.failures = 0;
  }
  /// Runs the program that recomputes everything.
  void recompute_all(hooks_run hooks = hooks_run::yes) {
    if (s_.updates.full == nullptr) { // an error ended a recomputation, or this is a copy
      s_.is_commit_incomplete = true; // values that are newly saved are valid after the commit
      bind_full_updates();
    }
    bool const is_without = hooks == hooks_run::no && s_.updates.without_hooks != nullptr;
    run(is_without ? *s_.updates.without_hooks : *s_.updates.full);
  }
  [[gnu::always_inline]] void run(bound_update& b) {
    improve(b);
    saved_versions& passed = b.arguments.versions;
    saved_versions const& now = s_.saved.versions;
    if (passed.arrays != now.arrays || passed.lengths != now.lengths) [[unlikely]]
      lend_arrays(b, s_.saved);
    if (passed.numbers != now.numbers) {
      for (word_copy const& copy : b.arguments.numbers) copy();
      passed.numbers = now.numbers;
    }
    copy_changed_elements(b, s_);
    if (b.has_rows) [[unlikely]] {
      if (!run_checking_rows(b)) return recompute_all();
    } else if (b.arguments.others.empty()) [[likely]] {
      b.call.run_as_it_is();
    } else {
      run_with_other_arguments(b);
    }
    note_run(b);
  }
  /// Switches to faster code if there is some.
  void improve(bound_update& b) {
    if (b.call.is_warming()) [[unlikely]]
      if (b.call.improve()) {
        b.results.address = nullptr;
        bind_arguments(b, s_.saved, s_.changes);
      }
  }
  /// Updates the set of saved values, and binds the programs that compute them all. Other computations of the function may add saved values
  /// meanwhile.
  void bind_full_updates() {
    s_.updates.clear();
    std::shared_ptr<runnable_update const> full, without_hooks;
    do {
      full = s_.programs->full_update();
      without_hooks = s_.programs->full_update_without_hooks();
      s_.saved.variables = s_.programs->variables();
    } while (full->version != s_.saved.variables.size() ||
             (without_hooks != nullptr && without_hooks->version != s_.saved.variables.size()));
    s_.saved.resize();
    s_.updates.full = bind(std::move(full), {}, s_);
    if (without_hooks != nullptr) s_.updates.without_hooks = bind(std::move(without_hooks), {}, s_);
  }

  // ---- the work of runs

  void begin_counting() { is_counting_ = true; }
  /// The work of all update programs that ran since then, in additions.
  std::uint64_t work() const { return work_; }

private:
  static void copy_changed_elements(bound_update& b, incremental_state& s) {
    for (word_copy const& copy : b.arguments.changed_elements) copy();
    if (b.direct.input != layout::none) s.updates.direct = &b;
  }
  void run_with_other_arguments(bound_update& b) {
    argument_passer passer(b, s_.saved, s_.changes);
    passer.pass_all();
    work_ += passer.work();
    b.call.run_as_it_is();
  }
  // Runs an update program that may write rows. Returns false if a run that recomputes everything must decide about their lengths.
  bool run_checking_rows(bound_update& b) {
    try {
      run_with_other_arguments(b);
    } catch (size_error const&) { // a row of an array is set to another length, and the others may be, too
      return false;
    } catch (index_error const&) {
      return false;
    }
    return b.failed_guards() != 0 || rows_fit(b, s_.saved);
  }
  void note_run(bound_update& b) {
    if (b.results.address != b.call.results()) [[unlikely]]
      bind_results(b, s_.saved, s_.changes);
    update_strategy const* const strategy = s_.strategies.in_use();
    bool const is_open = strategy != nullptr && !strategy->is_decided(); // every update is counted
    bool const is_ready =
        !b.has_rows && b.arguments.others.empty() && !b.call.is_warming() && b.fallbacks.preferred == nullptr;
    b.ready_state = is_ready && !is_open ? s_.saved.versions.state() : 0;
    s_.updates.proposal = &b;
    s_.changes.set_proposed(true);
    if (is_counting_ && &b != s_.updates.full.get()) [[unlikely]]
      work_ += count_work(b);
  }

  // ---- guards

  [[gnu::noinline]] static void deoptimise(bound_update& speculative, incremental_state& s) {
    update_runner(s).deoptimise(speculative);
  }
  // Runs a fallback. If the same one was needed again and again, it becomes the preferred program for a while.
  void deoptimise(bound_update& speculative) {
    run_fallbacks(&speculative);
    if (s_.updates.last == nullptr) return; // update programs were unbound
    guard_fallbacks& of = speculative.fallbacks;
    bound_update* const ran = s_.updates.proposal;
    of.failures = ran == of.last ? of.failures + 1 : 0;
    of.last = ran;
    if (of.failures < guard_fallbacks::maximum_failures || of.last == s_.updates.full.get()) return;
    of.preferred = of.last;
    of.runs_until_retry = guard_fallbacks::retry_interval;
    speculative.ready_state = 0;
  }
  void run_preferred(bound_update& speculative) {
    guard_fallbacks& of = speculative.fallbacks;
    bound_update* const b = of.preferred;
    if (--of.runs_until_retry == 0) {
      of.preferred = nullptr;
      of.failures = 0;
    }
    run(*b);
    if (s_.updates.proposal == b && b->failed_guards() != 0) run_fallbacks(b);
  }
  // Runs programs without the guards that failed, until none fails.
  void run_fallbacks(bound_update* b) {
    for (std::uint64_t bits = b->failed_guards(); bits != 0;
         bits = s_.updates.proposal == b ? b->failed_guards() : 0) {
      s_.changes.set_proposed(false);
      s_.updates.proposal = nullptr;
      b = fallback_of(*b, bits);
      if (s_.saved.sums.must_recompute_all()) return recompute_all();
      run(*b);
    }
  }
  // The update program without the guards that failed.
  bound_update* fallback_of(bound_update& b, std::uint64_t failed) {
    if (bound_update* const known = b.fallbacks.of(failed)) return known;
    disabled_guards d = b.update->disabled_guards;
    for (std::size_t k = 0; k < b.update->program.guards.size(); ++k)
      if ((failed >> k & 1) != 0) d.of.push_back(b.update->program.guards[k]);
    std::sort(d.of.begin(), d.of.end());
    d.of.erase(std::unique(d.of.begin(), d.of.end()), d.of.end());
    bound_update* const found = find(d);
    if (s_.updates.last != nullptr)
      b.fallbacks.known.emplace_back(failed, found); // else update programs were unbound
    return found;
  }

  // ---- update programs

  // The update program for the pending changes.
  bound_update* find(disabled_guards const& d) {
    if (bound_update* const b = s_.updates.find(s_.changes, d)) return b;
    change_signature const signature = s_.changes.signature();
    auto program = s_.programs->for_changes(signature, d);
    if (program->disabled_guards != d)
      if (bound_update* const b = s_.updates.find(s_.changes, program->disabled_guards)) return b;
    while (program->version != s_.saved.variables.size()) { // other computations need more saved values
      extend_saved_values();
      program = s_.programs->for_changes(signature, d);
    }
    s_.updates.all.push_back(bind(std::move(program), signature, s_));
    return s_.updates.all.back().get();
  }
  // Recomputes everything for the committed inputs, to compute values that are saved from now on.
  void extend_saved_values() {
    s_.is_commit_incomplete = true; // until it succeeds
    bind_full_updates();
    auto const results = s_.saved.results;
    bool const was_committed = s_.strategies.was_committed(s_.saved.versions);
    pending_changes::set_aside changes = s_.changes.put_aside();
    auto const restore = [&] {
      s_.changes.restore(changes);
      s_.saved.results = results;
      if (!was_committed) s_.strategies.forget_commits(s_.saved.versions);
    };
    try {
      recompute_all(hooks_run::no);
      commit_changes(s_);
    } catch (...) {
      restore();
      throw;
    }
    restore();
  }

  incremental_state& s_;
  bool is_counting_ = false;
  std::uint64_t work_ = 0;
};

} // namespace overdub::increments
