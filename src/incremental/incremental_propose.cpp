// Proposals: choose an update program, pass its arguments, and run it.

#include <overdub/implementation/incremental/gather_index.hpp>
#include <overdub/implementation/incremental/reverse_index.hpp>
#include <overdub/incremental/incremental_program.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace overdub {

void incremental_program::propose() {
  is_proposed_ = false;
  proposal_ = nullptr;
  if (bound_update* const b = last_; b != nullptr && b->ready_state == state() && fits(*b)) [[likely]]
    run_ready(*b);
  else if (change_count_ > 0)
    run_changes();
  else
    check_not_moved();
  if (proposal_ != nullptr && cancels(*proposal_)) [[unlikely]] {
    is_proposed_ = false;
    recompute_all(hooks_run::no); // hooks observed the changes already
  }
  is_proposed_ = true;
}

// Whether cancellation would make the rounding errors of a sum visible, so that it must be added up again.
inline bool incremental_program::cancels(bound_update const& b) {
  for (auto const& a : b.additions)
    if (a.cancels()) [[unlikely]]
      return true;
  for (increments::store const* const s : b.other_stores)
    if (s->does == increments::store::action::add && cancels_other_sums(*s, b.call)) return true;
  return false;
}
[[gnu::noinline]] inline bool
incremental_program::cancels_other_sums(increments::store const& s, bound_call const& from) {
  auto const cancels = [&](std::size_t number_of, std::uint64_t sum, std::uint64_t by) {
    return execute::with_type(layout_[s.variable].type.element, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        T const before = increments::number_in<T>(sum), now = before + increments::number_in<T>(by);
        return increments::is_cancelled(
            now, increments::larger_magnitude(before, *largest_magnitude_of(s.variable, number_of)));
      } else
        return false;
    });
  };
  if (is_number(s.variable))
    return !(s.valid.exists() && increments::word_of(from, s.valid) == 0) &&
           cancels(0, numbers_[s.variable], increments::word_of(from, s.value));
  increments::cells const& to = arrays_[s.variable];
  bool any = false;
  increments::for_each_part(
      s, from, nullptr, to.size_of_scalar(), [&](std::span<i64 const> path, std::byte const* part) {
        std::size_t const at = to.at(path);
        any =
            any ||
            cancels(at / to.size_of_scalar(), to.bits_at(at), increments::bits_of(part, to.size_of_scalar()));
      });
  return any;
}

inline bool incremental_program::fits(bound_update const& b) const {
  if (b.signature_code != signature_code_) return false;
  if (b.has_exact_signature) [[likely]]
    return true;
  if (b.change_count != change_count_) return false;
  return std::all_of(changed_.begin(), changed_.begin() + b.change_count, [&](std::uint32_t i) {
    return b.changes[i] == pending_[i].how;
  });
}

// As `run`, if all arguments but changed elements are current.
[[gnu::always_inline]] inline void incremental_program::run_ready(bound_update& b) {
  if (direct_ != &b) copy_changed_elements(b);
  b.call.run_as_it_is();
  if (b.results_address != b.call.results()) [[unlikely]]
    bind_results(b);
  proposal_ = &b;
  check_guards(b);
}
inline void incremental_program::copy_changed_elements(bound_update& b) {
  for (bound_update::word_copy const& copy : b.changed_elements) copy();
  if (b.direct_input != increments::layout::none) direct_ = &b;
}
[[gnu::always_inline]] inline void incremental_program::check_guards(bound_update& b) {
  if (*b.failed_word != 0) [[unlikely]]
    return deoptimise(b);
  b.failures = 0;
}

[[gnu::noinline]] inline void incremental_program::run_changes() {
  if (is_commit_incomplete_) [[unlikely]]
    for (auto const& each : reverse_indices_) // a commit that failed may have left out writes
      if (each != nullptr) each->invalidate();
  if (is_commit_incomplete_) [[unlikely]]
    return recompute_all();
  increments::update_strategy& strategy = strategy_of_changes();
  if (strategy.is_plain()) [[unlikely]]
    return run_plainly(strategy);
  if (must_recompute_all_) [[unlikely]]
    return recompute_all();
  if (strategy.is_decided()) [[likely]]
    return run_update_program();
  if (strategy.needs_plain_work()) count_plain_work(strategy);
  work_ = 0;
  is_counting_ = strategy.counts_next();
  run_update_program();
  bool const was_counted = std::exchange(is_counting_, false) && proposal_ != full_update_.get();
  if (strategy.proposed(was_counted, work_)) choose(strategy);
}
inline void incremental_program::run_update_program() {
  if (last_ == nullptr || !fits(*last_)) [[unlikely]] {
    last_ = find_update({});
    if (must_recompute_all_) return recompute_all(); // saving more values found a sum that is not finite
  }
  if (last_->preferred != nullptr) [[unlikely]]
    return run_preferred(*last_);
  run(*last_);
  if (last_ == nullptr || proposal_ != last_) return; // recomputing everything unbinds update programs
  check_guards(*last_);
}

// Runs a fallback. If the same one was needed again and again, it becomes the preferred program for a while.
[[gnu::noinline]] inline void incremental_program::deoptimise(bound_update& speculative) {
  run_fallbacks(&speculative);
  if (last_ == nullptr) return; // update programs were unbound
  speculative.failures = proposal_ == speculative.last_fallback ? speculative.failures + 1 : 0;
  speculative.last_fallback = proposal_;
  if (speculative.failures < bound_update::maximum_failures ||
      speculative.last_fallback == full_update_.get())
    return;
  speculative.preferred = speculative.last_fallback;
  speculative.ready_state = 0;
  speculative.runs_until_retry = bound_update::retry_interval;
}
inline void incremental_program::run_preferred(bound_update& speculative) {
  bound_update* const b = speculative.preferred;
  if (--speculative.runs_until_retry == 0) {
    speculative.preferred = nullptr;
    speculative.failures = 0;
  }
  run(*b);
  if (proposal_ == b && failed(*b) != 0) run_fallbacks(b);
}
// Runs programs without the guards that failed, until none fails.
inline void incremental_program::run_fallbacks(bound_update* b) {
  for (std::uint64_t bits = failed(*b); bits != 0; bits = proposal_ == b ? failed(*b) : 0) {
    is_proposed_ = false;
    proposal_ = nullptr;
    b = fallback_of(*b, bits);
    if (must_recompute_all_) return recompute_all();
    run(*b);
  }
}
// The update program without the guards that failed.
inline bound_update* incremental_program::fallback_of(bound_update& b, std::uint64_t failed) {
  for (auto const& [bits, known] : b.fallbacks)
    if (bits == failed) return known;
  increments::disabled_guards d = b.update->disabled_guards;
  for (std::size_t k = 0; k < b.update->program.guards.size(); ++k)
    if ((failed >> k & 1) != 0) d.of.push_back(b.update->program.guards[k]);
  std::sort(d.of.begin(), d.of.end());
  d.of.erase(std::unique(d.of.begin(), d.of.end()), d.of.end());
  bound_update* const found = find_update(d);
  if (last_ != nullptr) b.fallbacks.emplace_back(failed, found); // else update programs were unbound
  return found;
}

// The update program for the pending changes.
inline bound_update* incremental_program::find_update(increments::disabled_guards const& d) {
  auto const known = [&](increments::disabled_guards const& wanted) {
    auto const at = std::find_if(bound_.begin(), bound_.end(), [&](auto const& b) {
      return fits(*b) && b->update->disabled_guards == wanted;
    });
    return at == bound_.end() ? nullptr : at->get();
  };
  if (bound_update* const b = known(d)) return b;
  increments::change_signature const changes = signature_of_changes();
  auto s = update_programs_->for_changes(changes, d);
  if (s->disabled_guards != d)
    if (bound_update* const b = known(s->disabled_guards)) return b;
  while (s->version != layout_.size()) { // another computation of the function needs more saved values
    extend_saved_values();
    s = update_programs_->for_changes(changes, d);
  }
  bound_.push_back(bind(std::move(s), changes));
  return bound_.back().get();
}

// Recomputes everything for the committed inputs, to compute values that are saved from now on.
inline void incremental_program::extend_saved_values() {
  is_commit_incomplete_ = true; // until it succeeds
  reset_saved_values();
  std::vector<change> pending = pending_;
  auto const values = values_;
  bool const was_committed = numbers_version_ != version_of_strategy_;
  auto const count = std::exchange(change_count_, 0);
  auto const signature = std::exchange(signature_code_, 0);
  for (change& c : pending_) c = {};
  auto const restore = [&] { // update programs refer to the addresses of changes
    std::move(pending.begin(), pending.end(), pending_.begin());
    change_count_ = count;
    signature_code_ = signature;
    values_ = values;
    if (!was_committed) version_of_strategy_ = numbers_version_;
  };
  try {
    recompute_all(hooks_run::no);
    commit();
  } catch (...) {
    restore();
    throw;
  }
  restore();
}

[[gnu::always_inline]] inline void incremental_program::run(bound_update& b) {
  if (b.call.is_warming()) [[unlikely]]
    if (b.call.improve()) {
      b.results_address = nullptr;
      bind_arguments(b);
    }
  if (b.arrays_version != arrays_version_ || b.lengths_version != lengths_version_) [[unlikely]]
    lend_arrays(b);
  if (b.version != numbers_version_) {
    for (auto const& copy : b.number_arguments) copy();
    b.version = numbers_version_;
  }
  copy_changed_elements(b);
  if (b.has_rows) [[unlikely]] {
    if (!run_checking_rows(b)) return recompute_all();
  } else if (b.other_parameters.empty()) [[likely]] {
    b.call.run_as_it_is();
  } else {
    run_with_other_arguments(b);
  }
  if (b.results_address != b.call.results()) [[unlikely]]
    bind_results(b);
  bool const is_open =
      strategy_ < strategies_.size() && !strategies_[strategy_].is_decided(); // every update is counted
  bool const is_ready =
      !b.has_rows && b.other_parameters.empty() && !b.call.is_warming() && b.preferred == nullptr;
  b.ready_state = is_ready && !is_open ? state() : 0;
  proposal_ = &b;
  is_proposed_ = true;
  if (is_counting_ && &b != full_update_.get()) [[unlikely]]
    work_ += count_work(b);
}

// ---- the choice between update programs and plain runs

// The strategy for the pending changes. Records whether plain runs of another change signature were committed, whose saved values are
// needed now.
inline increments::update_strategy& incremental_program::strategy_of_changes() {
  auto const is_known = [&](increments::update_strategy const& k) {
    return k.is_of(signature_code_) &&
           (pending_.size() <= maximum_encoded || k.changes() == signature_of_changes());
  };
  if (strategy_ >= strategies_.size() || !is_known(strategies_[strategy_])) {
    auto const at = std::find_if(strategies_.begin(), strategies_.end(), is_known);
    auto const found = static_cast<std::uint32_t>(at - strategies_.begin());
    if (at == strategies_.end()) strategies_.emplace_back(signature_of_changes(), signature_code_);
    bool const was_committed = strategy_ < strategies_.size() && numbers_version_ != version_of_strategy_;
    if (was_committed && !strategies_[found].is_plain()) strategies_[strategy_].was_needed();
    strategy_ = found;
    version_of_strategy_ = numbers_version_;
    shape_of_strategy_ = 0;
  }
  increments::update_strategy& strategy = strategies_[strategy_];
  if (std::uint64_t const shape = arrays_version_ + lengths_version_ + layout_.size();
      shape_of_strategy_ != shape) [[unlikely]] {
    shape_of_strategy_ = shape;
    strategy.has_size(size_of_inputs(), layout_.size());
  }
  return strategy;
}
inline std::uint64_t incremental_program::size_of_inputs() const {
  std::uint64_t size = 0;
  for (std::uint32_t i = 0; i < pending_.size(); ++i)
    if (!is_number(i)) size += static_cast<std::uint64_t>(arrays_[i].scalars());
  return size;
}

// The work of an update program that ran, and of its commit. 0 if it cannot be counted.
[[gnu::noinline]] inline std::uint64_t incremental_program::count_work(bound_update& b) {
  try {
    if (b.work == nullptr) b.work = std::make_unique<bound_call>(b.update->work());
    b.work->take_arguments(b.call);
    b.work->run();
  } catch (std::exception const&) { // the update itself must not fail
    return 0;
  }
  std::uint64_t work = b.work->word(0);
  for (increments::store const& s : b.update->program.stores) {
    if (s.value.result == increments::update_value::none || b.call.code().results[s.value.result].rank == 0)
      continue;
    i64 const* const extents = b.call.extents(s.value.result);
    std::uint64_t elements = 1;
    for (std::size_t k = 0; k < b.call.code().results[s.value.result].rank; ++k)
      elements *= static_cast<std::uint64_t>(extents[k]);
    work += elements;
  }
  return work;
}
// The work of a program with the committed inputs, which did not run.
[[gnu::noinline]] inline std::uint64_t incremental_program::count_full_work(runnable_update const& s) const {
  try {
    bound_call counts(s.work());
    for (std::uint32_t k = 0; k < s.program.parameters.size(); ++k)
      pass_input(counts, k, s.program.parameters[k].variable);
    counts.run();
    std::uint64_t work = counts.word(0);
    for (increments::store const& each : s.program.stores)
      if (!is_number(each.variable)) work += static_cast<std::uint64_t>(arrays_[each.variable].scalars());
    return work;
  } catch (std::exception const&) { // the update itself must not fail
    return 0;
  }
}

void incremental_program::count_plain_work(increments::update_strategy& strategy) {
  strategy.set_plain_work(
      count_full_work(*update_programs_->plain()), size_of_inputs(), update_programs_->minimum_work);
}
void incremental_program::choose(increments::update_strategy& strategy) {
  // A full recomputation does what a plain run does, and writes the saved values.
  std::uint64_t const plain = count_full_work(*update_programs_->plain());
  std::uint64_t saved = 0;
  for (std::uint32_t k = static_cast<std::uint32_t>(pending_.size()); k < layout_.size(); ++k)
    if (!is_number(k)) saved += static_cast<std::uint64_t>(arrays_[k].scalars());
  strategy.choose(plain, plain + 3 * saved);
  for (auto const& b : bound_) b->work.reset();
}

inline bool incremental_program::returns_lent(bound_update const& b) {
  for (std::size_t k = 0; k < b.call.code().results.size(); ++k)
    if (b.call.code().results[k].rank > 0 && b.call.is_lent(k)) return true;
  return false;
}

// Runs the function with the pending changes, which are exchanged with the committed inputs meanwhile, and not copied.
[[gnu::noinline]] inline void incremental_program::run_plainly(increments::update_strategy& strategy) {
  last_ = direct_ = nullptr; // so that updates of other change signatures look up their strategy
  if (plain_ == nullptr) plain_ = bind(update_programs_->plain(), {});
  bound_update& b = *plain_;
  if (b.call.is_warming() && b.call.improve()) {
    b.results_address = nullptr;
    bind_arguments(b);
  }
  if (!b.returns_lent) {
    as_proposed([&] {
      for (std::uint32_t const k : b.other_parameters)
        pass_input(b.call, k, b.update->program.parameters[k].variable);
      b.call.run_as_it_is();
    });
    b.returns_lent = returns_lent(b); // the result would be an input that is exchanged again
  }
  if (b.returns_lent) run(b);
  if (b.results_address != b.call.results()) bind_results(b);
  proposal_ = &b;
  is_proposed_ = true;
  strategy.ran_plainly();
}

// Runs an update program that may write rows. Returns false if a run that recomputes everything must decide about their lengths.
inline bool incremental_program::run_checking_rows(bound_update& b) {
  try {
    run_with_other_arguments(b);
  } catch (size_error const&) { // a row of an array is set to another length, and the others may be, too
    return false;
  } catch (index_error const&) {
    return false;
  }
  return failed(b) != 0 || rows_fit(b);
}

// Whether rows that are written to arrays have the length of the others. If they have not, a run that recomputes everything checks
// whether all rows have one length.
inline bool incremental_program::rows_fit(bound_update const& b) const {
  for (increments::store const& s : b.update->program.stores) {
    if (s.path.empty() || s.value.result == increments::update_value::none) continue;
    bool const are_several = s.each || s.does == increments::store::action::put_range;
    std::size_t const indices = s.path.size(), skipped = are_several ? 1 : 0;
    increments::cells const& to = arrays_[s.variable];
    if (to.type().rank == indices) continue;
    bool const each_is_valid = s.valid.exists() && s.each && increments::is_array(b.call, s.valid);
    if (s.valid.exists() && !each_is_valid && increments::word_of(b.call, s.valid) == 0) continue;
    i64 const* const extents = b.call.extents(s.value.result);
    if (are_several && extents[0] == 0) continue;
    if (each_is_valid) {
      std::byte const* const all = increments::elements_of(b.call, s.valid);
      i64 const count = increments::extents_of(b.call, s.valid)[0];
      if (std::all_of(all, all + count, [](std::byte x) { return x == std::byte{0}; })) continue;
    }
    if (to.extent(0) == 0) return false;
    for (std::size_t axis = indices; axis < to.type().rank; ++axis)
      if (extents[skipped + axis - indices] != to.extent(axis)) return false;
  }
  return true;
}

inline void incremental_program::run_with_other_arguments(bound_update& b) {
  b.lent_arrays.clear();
  b.lent_arrays.reserve(b.other_parameters.size());
  for (std::uint32_t const k : b.other_parameters) pass_argument(b, k);
  b.call.run_as_it_is();
}

// From now on commits record their writes to a saved array. Update programs are bound again for that.
inline void incremental_program::track_writes(std::uint32_t variable) {
  if (reverse_indices_[variable] != nullptr) return;
  reverse_indices_[variable] = std::make_unique<increments::reverse_index>();
  ++arrays_version_;
}

// Passes the rows that read changed elements in nested maps.
[[gnu::noinline]] inline void
incremental_program::pass_gathered_rows(bound_update& b, std::uint32_t parameter) {
  increments::update_parameter const& p = b.update->program.parameters[parameter];
  increments::gather_index const& index = gather_index_of(*b.update, p.variable);
  change const& of = pending_[p.input];
  std::span<i64 const> rows;
  if (of.how.elements == 1 && !of.how.is_listed()) {
    rows = index.rows(of.elements[0].path[0] + p.shift);
  } else {
    std::vector<i64>& all = b.iteration_lists[parameter];
    all.clear();
    auto const add = [&](i64 key) {
      auto const some = index.rows(key + p.shift);
      all.insert(all.end(), some.begin(), some.end());
    };
    if (of.how.is_listed())
      std::ranges::for_each(of.list->indices(), add);
    else
      for (std::uint8_t k = 0; k < of.how.elements; ++k) add(of.elements[k].path[0]);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    rows = all;
  }
  i64 const extents[] = {static_cast<i64>(rows.size())};
  b.call.lend(parameter, rows.data(), extents);
}
// The reverse index of reads in nested maps, for the committed values.
inline increments::gather_index const&
incremental_program::gather_index_of(runnable_update const& s, std::size_t number) {
  increments::gather const& g = s.program.gathers[number];
  std::vector<std::uint64_t> state;
  for (std::uint32_t const v : g.variables) {
    if (is_number(v)) {
      state.push_back(numbers_[v]);
      continue;
    }
    track_writes(v);
    state.push_back(reverse_indices_[v]->writes());
    for (std::size_t axis = 0; axis < layout_[v].type.rank; ++axis)
      state.push_back(static_cast<std::uint64_t>(arrays_[v].extent(axis)));
  }
  auto at = std::find_if(gather_indices_.begin(), gather_indices_.end(), [&](auto const& known) {
    return known.first == g.index;
  });
  if (at == gather_indices_.end())
    at = gather_indices_.insert(at, {g.index, std::make_unique<increments::gather_index>()});
  increments::gather_index& index = *at->second;
  if (index.is_current(state)) return index;
  auto const words = [](bound_call const& ran) {
    auto const* const first = reinterpret_cast<i64 const*>(ran.elements(0));
    return std::span(first, static_cast<std::size_t>(ran.extents(0)[0]));
  };
  bound_call counts(s.gathers[number].counts->code()), keys(s.gathers[number].keys->code());
  for (std::uint32_t k = 0; k < g.variables.size(); ++k) {
    pass_input(counts, k, g.variables[k]);
    pass_input(keys, k, g.variables[k]);
  }
  counts.run();
  std::vector<i64> rows, inner;
  for (i64 row = 0; i64 const count : words(counts)) {
    for (i64 k = 0; k < count; ++k) {
      rows.push_back(row);
      inner.push_back(k);
    }
    ++row;
  }
  i64 const extents[] = {static_cast<i64>(rows.size())};
  auto const first = static_cast<std::uint32_t>(g.variables.size());
  keys.lend(first, rows.data(), extents);
  keys.lend(first + 1, inner.data(), extents);
  keys.run();
  index.build(std::move(state), rows, words(keys));
  if (is_counting_) work_ += rows.size() * increments::gather_index::work_of_pair;
  return index;
}

// Passes an argument that is neither a saved number nor a changed element.
inline void incremental_program::pass_argument(bound_update& b, std::uint32_t parameter) {
  increments::update_parameter const& p = b.update->program.parameters[parameter];
  if (p.what == increments::update_parameter::kind::gathered_rows) return pass_gathered_rows(b, parameter);
  change const& c = pending_[p.variable < pending_.size() ? p.variable : 0];
  if (p.what == increments::update_parameter::kind::matching_iterations) {
    track_writes(p.variable);
    auto& reverse = reverse_indices_[p.variable];
    increments::cells const& m = arrays_[p.variable];
    auto const* const first = reinterpret_cast<std::int64_t const*>(m.data());
    std::span const all(first, static_cast<std::size_t>(m.extent(0)));
    std::span<i64 const> positions;
    if (change const& of = pending_[p.input]; of.how.is_listed()) {
      std::vector<i64>& iterations = b.iteration_lists[parameter];
      iterations.clear();
      for (i64 const index : of.list->indices()) {
        auto const some = reverse->positions(index + p.shift, all);
        iterations.insert(iterations.end(), some.begin(), some.end());
      }
      positions = iterations;
    } else {
      positions = reverse->positions(of.elements[p.ordinal].path[0] + p.shift, all);
    }
    i64 const extents[] = {static_cast<i64>(positions.size())};
    b.call.lend(parameter, positions.data(), extents);
  } else if (p.what == increments::update_parameter::kind::list) {
    pending_[p.variable].list->sort();
    i64 const extents[] = {static_cast<i64>(c.list->size())};
    b.call.lend(parameter, c.list->indices().data(), extents);
  } else if (p.what == increments::update_parameter::kind::positions) {
    pending_[p.variable].list->sort();
    i64 const extents[] = {static_cast<i64>(c.list->positions().size())};
    b.call.lend(parameter, c.list->positions().data(), extents);
  } else if (p.what == increments::update_parameter::kind::elements && c.how.appended) {
    increments::cells const& m = arrays_[p.variable];
    i64 extents[ir::max_rank];
    std::copy_n(m.extents(), m.type().rank, extents);
    extents[0] = c.appended_count;
    b.call.lend(parameter, m.data() + m.bytes(), extents);
  } else if (p.what == increments::update_parameter::kind::elements) {
    pending_[p.variable].list->sort();
    b.call.lend(parameter, c.list->elements().data(), c.list->elements().extents());
  } else if (is_number(p.variable)) {
    b.call.set(parameter, c.how.whole ? c.bits : numbers_[p.variable]);
  } else if (c.how.is_same()) {
    b.call.lend(parameter, arrays_[p.variable].data(), arrays_[p.variable].extents());
  } else if (c.how.whole) {
    b.call.lend(parameter, c.whole->data(), c.whole->extents());
  } else if (c.how.appended) { // the new elements are after the others in memory
    increments::cells const& m = arrays_[p.variable];
    i64 extents[ir::max_rank];
    std::copy_n(m.extents(), m.type().rank, extents);
    extents[0] += c.appended_count;
    b.call.lend(parameter, m.data(), extents);
  } else {
    increments::cells const& whole = b.lent_arrays.emplace_back(whole_input(p.variable));
    b.call.lend(parameter, whole.data(), whole.extents());
  }
}

void incremental_program::recompute_all(hooks_run hooks) {
  if (full_update_ == nullptr) {  // an error ended a recomputation, or this is a copy
    is_commit_incomplete_ = true; // values that are newly saved are valid after the commit
    reset_saved_values();
  }
  run(hooks == hooks_run::no && without_hooks_ != nullptr ? *without_hooks_ : *full_update_);
}

// ---- saved values

// Updates the set of saved values, and binds the program that computes them all. Other computations of the function may add saved values
// meanwhile.
void incremental_program::reset_saved_values() {
  bound_.clear();
  full_update_.reset();
  without_hooks_.reset();
  plain_.reset();
  last_ = direct_ = proposal_ = nullptr;
  std::shared_ptr<runnable_update const> whole, without_hooks;
  do {
    whole = update_programs_->full_update();
    without_hooks = update_programs_->full_update_without_hooks();
    layout_ = update_programs_->variables();
  } while (whole->version != layout_.size() ||
           (without_hooks != nullptr && without_hooks->version != layout_.size()));
  resize_saved_values();
  full_update_ = bind(std::move(whole), {});
  if (without_hooks != nullptr) without_hooks_ = bind(std::move(without_hooks), {});
}

// Allocates the values that are newly saved.
inline void incremental_program::resize_saved_values() {
  while (arrays_.size() < layout_.size())
    arrays_.emplace_back(layout_[static_cast<std::uint32_t>(arrays_.size())].type);
  numbers_.resize(layout_.size());
  is_sum_.resize(layout_.size());
  reverse_indices_.resize(layout_.size());
  largest_magnitudes_.resize(layout_.size());
  for (std::uint32_t k = 0; k < layout_.size(); ++k)
    if (layout_[k].what == increments::variable::role::compensation)
      is_sum_[layout_.of(layout_[k].of)] = true;
}

} // namespace overdub
