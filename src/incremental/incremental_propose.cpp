// Proposals: choose between the update program and a plain run, and run it.

#include <overdub/implementation/incremental/added_sums.hpp>
#include <overdub/implementation/incremental/counted_work.hpp>
#include <overdub/implementation/incremental/update_runner.hpp>
#include <overdub/incremental/incremental_program.hpp>

#include <cstddef>
#include <cstdint>

namespace overdub {
namespace increments {

/// Makes a proposal of the pending changes, by the strategy for their signature.
class proposer {
public:
  explicit proposer(incremental_state& s) : s_(s), runner_(s) {}

  void propose() {
    if (s_.changes.is_empty()) return s_.check_not_moved();
    if (s_.is_commit_incomplete) [[unlikely]] {
      s_.saved.indices.invalidate(); // a commit that failed may have left out writes
      return runner_.recompute_all();
    }
    update_strategy& strategy = s_.strategies.use(s_.changes, s_.saved);
    if (strategy.is_plain()) [[unlikely]]
      return run_plainly(strategy);
    if (s_.saved.sums.must_recompute_all()) [[unlikely]]
      return runner_.recompute_all();
    if (strategy.is_decided()) [[likely]]
      return runner_.run_update();
    if (strategy.needs_plain_work())
      strategy.set_plain_work(plain_work(), size_of_inputs(), s_.programs->minimum_work);
    bool const counts = strategy.counts_next();
    if (counts) runner_.begin_counting();
    runner_.run_update();
    bool const was_counted = counts && s_.updates.proposal != s_.updates.full.get();
    if (strategy.proposed(was_counted, runner_.work())) choose(strategy);
  }

private:
  std::uint64_t plain_work() const { return count_work(*s_.programs->plain(), s_.saved); }
  std::uint64_t size_of_inputs() const { return s_.saved.elements(0, s_.changes.inputs()); }
  void choose(update_strategy& strategy) {
    // A full recomputation does what a plain run does, and writes the saved values.
    std::uint64_t const plain = plain_work();
    std::uint64_t const saved = s_.saved.elements(s_.changes.inputs(), s_.saved.variables.size());
    strategy.choose(plain, plain + 3 * saved);
    for (auto const& b : s_.updates.all) b->work.reset();
  }

  static bool returns_lent(bound_call const& ran) {
    for (std::size_t k = 0; k < ran.code().results.size(); ++k)
      if (ran.code().results[k].rank > 0 && ran.is_lent(k)) return true;
    return false;
  }
  // Runs the function with the pending changes, which are exchanged with the committed inputs meanwhile, and not copied.
  [[gnu::noinline]] void run_plainly(update_strategy& strategy) {
    s_.updates.last = s_.updates.direct =
        nullptr; // so that updates of other signatures look up their strategy
    if (s_.updates.plain == nullptr) s_.updates.plain = bind(s_.programs->plain(), {}, s_);
    bound_update& b = *s_.updates.plain;
    runner_.improve(b);
    if (!b.returns_lent) {
      {
        exchanged_changes const now(s_);
        for (std::uint32_t const k : b.arguments.others)
          s_.saved.pass(b.call, k, b.update->program.parameters[k].variable);
        b.call.run_as_it_is();
      }
      b.returns_lent = returns_lent(b.call); // the result would be an input that is exchanged again
    }
    if (b.returns_lent) runner_.run(b);
    if (b.results.address != b.call.results()) bind_results(b, s_.saved, s_.changes);
    s_.updates.proposal = &b;
    s_.changes.set_proposed(true);
    strategy.ran_plainly();
  }

  incremental_state& s_;
  update_runner runner_;
};

[[gnu::noinline]] inline void propose_by_strategy(incremental_state& s) { proposer(s).propose(); }

// Whether cancellation would make the rounding errors of a sum visible, so that it must be added up again.
inline bool cancels(bound_update const& b, saved_values& saved) {
  for (addition const& a : b.stores.direct.additions)
    if (a.cancels()) [[unlikely]]
      return true;
  for (store const* const each : b.stores.other.stores)
    if (each->does == store::action::add && cancels(*each, b.call, saved)) return true;
  return false;
}
[[gnu::noinline]] inline void recompute_sums(incremental_state& s) {
  s.changes.set_proposed(false);
  update_runner(s).recompute_all(hooks_run::no); // hooks observed the changes already
}

} // namespace increments

void incremental_program::propose() {
  increments::bound_updates& updates = state_.updates;
  state_.changes.set_proposed(false);
  updates.proposal = nullptr;
  if (increments::bound_update* const b = updates.last;
      b != nullptr && b->ready_state == state_.saved.versions.state() && state_.changes.has(b->changes))
      [[likely]]
    increments::update_runner::run_ready(*b, state_);
  else
    increments::propose_by_strategy(state_);
  if (updates.proposal != nullptr && increments::cancels(*updates.proposal, state_.saved)) [[unlikely]]
    increments::recompute_sums(state_);
  state_.changes.set_proposed(true);
}

} // namespace overdub
