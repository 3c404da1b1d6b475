// Proposals: which slice runs for the changes, and with what.
#pragma once

#include <overdub/contexts/incremental/incremental_program.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace overdub::contexts {
inline namespace OVERDUB_EXECUTE_ABI {

OVERDUB_DECL void incremental_program::propose() {
  is_proposed_ = false;
  proposal_ = nullptr;
  if (bound_slice* const b = last_; b != nullptr && b->ready == state() && fits(*b)) [[likely]]
    run_ready(*b);
  else if (change_count_ > 0)
    run_changes();
  else
    check_not_moved();
  if (proposal_ != nullptr && cancels(*proposal_)) [[unlikely]] {
    is_proposed_ = false;
    run_all(hooks_run::no); // hooks observed what changed
  }
  is_proposed_ = true;
}

// Whether a sum would be so much smaller than it was that its value with the changes is to be added up anew.
inline bool incremental_program::cancels(bound_slice const& b) {
  for (auto const& a : b.additions)
    if (a.cancels()) [[unlikely]]
      return true;
  for (increments::store const* const s : b.parts)
    if (s->does == increments::store::action::add && cancels_parts(*s, b.call)) return true;
  return false;
}
[[gnu::noinline]] inline bool
incremental_program::cancels_parts(increments::store const& s, bound_call const& from) {
  auto const cancels = [&](std::size_t number_of, std::uint64_t sum, std::uint64_t by) {
    return execute::with_type(layout_[s.variable].type.element, [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        T const before = increments::number_in<T>(sum), now = before + increments::number_in<T>(by);
        return increments::is_cancelled(now, increments::largest(before, *most_of(s.variable, number_of)));
      } else
        return false;
    });
  };
  if (is_number(s.variable))
    return !(s.valid.exists() && increments::word_of(from, s.valid) == 0) &&
           cancels(0, numbers_[s.variable], increments::word_of(from, s.value));
  increments::cells const& to = arrays_of_[s.variable];
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

inline bool incremental_program::fits(bound_slice const& b) const {
  if (b.signature != signature_) return false;
  if (b.has_exact_signature) [[likely]]
    return true;
  if (b.change_count != change_count_) return false;
  return std::all_of(changed_.begin(), changed_.begin() + b.change_count, [&](std::uint32_t i) {
    return b.changes[i] == pending_[i].how;
  });
}

// As `run`, where all but places stands in the frame.
[[gnu::always_inline]] inline void incremental_program::run_ready(bound_slice& b) {
  if (told_ != &b) take_places(b);
  b.call.run_as_it_is();
  if (b.results != b.call.results()) [[unlikely]]
    find_results(b);
  proposal_ = &b;
  look_at_assumptions(b);
}
inline void incremental_program::take_places(bound_slice& b) {
  for (bound_slice::word_copy const& copy : b.places) copy();
  if (b.input_of_place != increments::layout::none) told_ = &b;
}
[[gnu::always_inline]] inline void incremental_program::look_at_assumptions(bound_slice& b) {
  if (*b.doubted != 0) [[unlikely]]
    return learn(b);
  b.failures = 0;
}

[[gnu::noinline]] inline void incremental_program::run_changes() {
  if (is_torn_) [[unlikely]]
    for (auto const& each : inverse_) // whose journals may be torn, too
      if (each != nullptr) each->forget();
  if (is_torn_) [[unlikely]]
    return run_all();
  increments::update_kind& kind = kind_of_changes();
  if (kind.is_plain()) [[unlikely]]
    return run_plainly(kind);
  if (is_improper_) [[unlikely]]
    return run_all();
  if (kind.is_settled()) [[likely]]
    return run_slices();
  if (kind.asks_for_plain()) count_plain(kind);
  work_ = 0;
  is_counting_ = kind.counts_next();
  run_slices();
  bool const was_counted = std::exchange(is_counting_, false) && proposal_ != all_.get();
  if (kind.proposed(was_counted, work_)) choose(kind);
}
inline void incremental_program::run_slices() {
  if (last_ == nullptr || !fits(*last_)) [[unlikely]] {
    last_ = find_slice({});
    if (is_improper_) return run_all(); // what is kept now says so
  }
  if (last_->instead != nullptr) [[unlikely]]
    return run_instead(*last_);
  run(*last_);
  if (last_ == nullptr || proposal_ != last_) return; // slices are bound anew, where all ran
  look_at_assumptions(*last_);
}

// Runs what doubts what failed. Where the same did again and again, that runs from the beginning for a while.
[[gnu::noinline]] inline void incremental_program::learn(bound_slice& most) {
  run_doubting(&most);
  if (last_ == nullptr) return; // slices are bound anew
  most.failures = proposal_ == most.found ? most.failures + 1 : 0;
  most.found = proposal_;
  if (most.failures < bound_slice::most_failures || most.found == all_.get()) return;
  most.instead = most.found;
  most.ready = 0;
  most.until_tried = bound_slice::runs_until_tried;
}
inline void incremental_program::run_instead(bound_slice& most) {
  bound_slice* const b = most.instead;
  if (--most.until_tried == 0) {
    most.instead = nullptr;
    most.failures = 0;
  }
  run(*b);
  if (proposal_ == b && failed(*b) != 0) run_doubting(b);
}
// Where something that was taken for granted does not hold.
inline void incremental_program::run_doubting(bound_slice* b) {
  for (std::uint64_t bits = failed(*b); bits != 0; bits = proposal_ == b ? failed(*b) : 0) {
    is_proposed_ = false;
    proposal_ = nullptr;
    b = doubting(*b, bits);
    if (is_improper_) return run_all();
    run(*b);
  }
}
// The slice that takes for granted what another one does, but for what failed.
inline bound_slice* incremental_program::doubting(bound_slice& b, std::uint64_t failed) {
  for (auto const& [bits, known] : b.doubting)
    if (bits == failed) return known;
  increments::doubts d = b.slice->doubts;
  for (std::size_t k = 0; k < b.slice->what.assumed.size(); ++k)
    if ((failed >> k & 1) != 0) d.of.push_back(b.slice->what.assumed[k]);
  std::sort(d.of.begin(), d.of.end());
  d.of.erase(std::unique(d.of.begin(), d.of.end()), d.of.end());
  bound_slice* const found = find_slice(d);
  if (last_ != nullptr) b.doubting.emplace_back(failed, found); // else slices are bound anew
  return found;
}

// The slice for the changes.
inline bound_slice* incremental_program::find_slice(increments::doubts const& d) {
  auto const known = [&](increments::doubts const& wanted) {
    auto const at = std::find_if(
        bound_.begin(), bound_.end(), [&](auto const& b) { return fits(*b) && b->slice->doubts == wanted; });
    return at == bound_.end() ? nullptr : at->get();
  };
  if (bound_slice* const b = known(d)) return b;
  increments::schema const changes = schema();
  auto s = slices_->for_schema(changes, d);
  if (s->doubts != d)
    if (bound_slice* const b = known(s->doubts)) return b;
  while (s->version != layout_.size()) { // more is kept now, which all slices follow
    keep_more();
    s = slices_->for_schema(changes, d);
  }
  bound_.push_back(make_bound(std::move(s), changes));
  return bound_.back().get();
}

// Runs all as it is, for what is kept now, too.
inline void incremental_program::keep_more() {
  is_torn_ = true; // until it is done
  keep_all();
  std::vector<change> asked = pending_;
  auto const values = values_;
  bool const was_committed = numbers_version_ != version_of_kind_;
  auto const count = std::exchange(change_count_, 0);
  auto const signature = std::exchange(signature_, 0);
  for (change& c : pending_) c = {};
  auto const restore = [&] { // in their places, which slices know
    std::move(asked.begin(), asked.end(), pending_.begin());
    change_count_ = count;
    signature_ = signature;
    values_ = values;
    if (!was_committed) version_of_kind_ = numbers_version_;
  };
  try {
    run_all(hooks_run::no);
    commit();
  } catch (...) {
    restore();
    throw;
  }
  restore();
}

[[gnu::always_inline]] inline void incremental_program::run(bound_slice& b) {
  if (b.call.is_warming()) [[unlikely]]
    if (b.call.improve()) {
      b.results = nullptr;
      find_arguments(b);
    }
  if (b.arrays != arrays_ || b.grown != grown_) [[unlikely]]
    lend_arrays(b);
  if (b.version != numbers_version_) {
    for (auto const& copy : b.numbers) copy();
    b.version = numbers_version_;
  }
  take_places(b);
  if (b.has_rows) [[unlikely]] {
    if (!run_with_rows(b)) return run_all();
  } else if (b.others.empty()) [[likely]] {
    b.call.run_as_it_is();
  } else {
    run_with_others(b);
  }
  if (b.results != b.call.results()) [[unlikely]]
    find_results(b);
  bool const is_open = kind_ < kinds_.size() && !kinds_[kind_].is_settled(); // each of its updates counts
  bool const is_ready = !b.has_rows && b.others.empty() && !b.call.is_warming() && b.instead == nullptr;
  b.ready = is_ready && !is_open ? state() : 0;
  proposal_ = &b;
  is_proposed_ = true;
  if (is_counting_ && &b != all_.get()) [[unlikely]]
    work_ += work_of(b);
}

// ---- update programs, or plain runs

// The kind of these changes. Whether those of another kind were committed since, and what they kept is needed now, is noted.
inline increments::update_kind& incremental_program::kind_of_changes() {
  auto const is_known = [&](increments::update_kind const& k) {
    return k.is_of(signature_) && (pending_.size() <= most_signed || k.changes() == schema());
  };
  if (kind_ >= kinds_.size() || !is_known(kinds_[kind_])) {
    auto const at = std::find_if(kinds_.begin(), kinds_.end(), is_known);
    auto const found = static_cast<std::uint32_t>(at - kinds_.begin());
    if (at == kinds_.end()) kinds_.emplace_back(schema(), signature_);
    bool const was_committed = kind_ < kinds_.size() && numbers_version_ != version_of_kind_;
    if (was_committed && !kinds_[found].is_plain()) kinds_[kind_].was_needed();
    kind_ = found;
    version_of_kind_ = numbers_version_;
    shape_of_kind_ = 0;
  }
  increments::update_kind& kind = kinds_[kind_];
  if (std::uint64_t const shape = arrays_ + grown_ + layout_.size(); shape_of_kind_ != shape) [[unlikely]] {
    shape_of_kind_ = shape;
    kind.has_size(size_of_inputs(), layout_.size());
  }
  return kind;
}
inline std::uint64_t incremental_program::size_of_inputs() const {
  std::uint64_t size = 0;
  for (std::uint32_t i = 0; i < pending_.size(); ++i)
    if (!is_number(i)) size += static_cast<std::uint64_t>(arrays_of_[i].scalars());
  return size;
}

// What a slice that ran cost, with what a commit of it writes. 0 where that cannot be counted.
[[gnu::noinline]] inline std::uint64_t incremental_program::work_of(bound_slice& b) {
  try {
    if (b.work == nullptr) b.work = std::make_unique<bound_call>(b.slice->work());
    b.work->take_arguments(b.call);
    b.work->run();
  } catch (std::exception const&) { // a count that fails fails no update
    return 0;
  }
  std::uint64_t work = b.work->word(0);
  for (increments::store const& s : b.slice->what.stores) {
    if (s.value.result == increments::slice_value::none || b.call.code().results[s.value.result].rank == 0)
      continue;
    i64 const* const extents = b.call.extents(s.value.result);
    std::uint64_t elements = 1;
    for (std::size_t k = 0; k < b.call.code().results[s.value.result].rank; ++k)
      elements *= static_cast<std::uint64_t>(extents[k]);
    work += elements;
  }
  return work;
}
// The same of one that takes the inputs as they are, and did not run.
[[gnu::noinline]] inline std::uint64_t incremental_program::work_of_all(runnable_slice const& s) const {
  try {
    bound_call counts(s.work());
    for (std::uint32_t k = 0; k < s.what.parameters.size(); ++k)
      pass_input(counts, k, s.what.parameters[k].variable);
    counts.run();
    std::uint64_t work = counts.word(0);
    for (increments::store const& each : s.what.stores)
      if (!is_number(each.variable)) work += static_cast<std::uint64_t>(arrays_of_[each.variable].scalars());
    return work;
  } catch (std::exception const&) { // a count that fails fails no update
    return 0;
  }
}

OVERDUB_DECL void incremental_program::count_plain(increments::update_kind& kind) {
  kind.set_plain_work(work_of_all(*slices_->plain()), size_of_inputs(), slices_->least_work);
}
OVERDUB_DECL void incremental_program::choose(increments::update_kind& kind) {
  // A full recomputation does what a plain run does, and writes the saved values.
  std::uint64_t const plain = work_of_all(*slices_->plain());
  std::uint64_t kept = 0;
  for (std::uint32_t k = static_cast<std::uint32_t>(pending_.size()); k < layout_.size(); ++k)
    if (!is_number(k)) kept += static_cast<std::uint64_t>(arrays_of_[k].scalars());
  kind.choose(plain, plain + 3 * kept);
  for (auto const& b : bound_) b->work.reset();
}

inline bool incremental_program::gives_lent(bound_slice const& b) {
  for (std::size_t k = 0; k < b.call.code().results.size(); ++k)
    if (b.call.code().results[k].rank > 0 && b.call.is_lent(k)) return true;
  return false;
}

// The function itself, of the inputs with their changes. They are changed where they are as long as it runs, and not copied.
[[gnu::noinline]] inline void incremental_program::run_plainly(increments::update_kind& kind) {
  last_ = told_ = nullptr; // updates of other kinds are looked up, so that it is known that they are others
  if (plain_ == nullptr) plain_ = make_bound(slices_->plain(), {});
  bound_slice& b = *plain_;
  if (b.call.is_warming() && b.call.improve()) {
    b.results = nullptr;
    find_arguments(b);
  }
  if (!b.gives_lent) {
    as_proposed([&] {
      for (std::uint32_t const k : b.others) pass_input(b.call, k, b.slice->what.parameters[k].variable);
      b.call.run_as_it_is();
    });
    b.gives_lent = gives_lent(b); // of what was changed back
  }
  if (b.gives_lent) run(b);
  if (b.results != b.call.results()) find_results(b);
  proposal_ = &b;
  is_proposed_ = true;
  kind.ran_plainly();
}

// Of arrays of arrays: whether it went as a run of everything would go.
inline bool incremental_program::run_with_rows(bound_slice& b) {
  try {
    run_with_others(b);
  } catch (size_error const&) { // a row may be put among others that change their sizes, too
    return false;
  } catch (index_error const&) {
    return false;
  }
  return failed(b) != 0 || rows_fit(b);
}

// Whether arrays that become parts of others are as long as those were: an array of arrays has one length along each axis. Where they
// are not, a run of everything says whether all of them are.
inline bool incremental_program::rows_fit(bound_slice const& b) const {
  for (increments::store const& s : b.slice->what.stores) {
    if (s.path.empty() || s.value.result == increments::slice_value::none) continue;
    bool const are_several = s.each || s.does == increments::store::action::put_range;
    std::size_t const indices = s.path.size(), skipped = are_several ? 1 : 0;
    increments::cells const& to = arrays_of_[s.variable];
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

inline void incremental_program::run_with_others(bound_slice& b) {
  b.wholes.clear();
  b.wholes.reserve(b.others.size());
  for (std::uint32_t const k : b.others) pass(b, k);
  b.call.run_as_it_is();
}

// Commits look at what they write of an array from now on. A slice that runs for the first time has not found yet what that is.
inline void incremental_program::follow_writes(std::uint32_t variable) {
  if (inverse_[variable] != nullptr) return;
  inverse_[variable] = std::make_unique<increments::inverse_index>();
  ++arrays_;
}

// The rows whose maps inside read elements that changed.
[[gnu::noinline]] inline void incremental_program::pass_gathered(bound_slice& b, std::uint32_t parameter) {
  increments::slice_parameter const& p = b.slice->what.parameters[parameter];
  increments::gather_index const& index = gathered(*b.slice, p.variable);
  change const& of = pending_[p.input];
  std::span<i64 const> rows;
  if (of.how.places == 1 && !of.how.is_listed()) {
    rows = index.rows(of.places[0].path[0] + p.shift);
  } else {
    std::vector<i64>& all = b.members[parameter];
    all.clear();
    auto const add = [&](i64 key) {
      auto const some = index.rows(key + p.shift);
      all.insert(all.end(), some.begin(), some.end());
    };
    if (of.how.is_listed())
      std::ranges::for_each(of.list->indices(), add);
    else
      for (std::uint8_t k = 0; k < of.how.places; ++k) add(of.places[k].path[0]);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    rows = all;
  }
  i64 const extents[] = {static_cast<i64>(rows.size())};
  b.call.lend(parameter, rows.data(), extents);
}
// The index of a gather, of what is committed.
inline increments::gather_index const&
incremental_program::gathered(runnable_slice const& s, std::size_t number) {
  increments::gather const& g = s.what.gathers[number];
  std::vector<std::uint64_t> state;
  for (std::uint32_t const v : g.variables) {
    if (is_number(v)) {
      state.push_back(numbers_[v]);
      continue;
    }
    follow_writes(v);
    state.push_back(inverse_[v]->writes());
    for (std::size_t axis = 0; axis < layout_[v].type.rank; ++axis)
      state.push_back(static_cast<std::uint64_t>(arrays_of_[v].extent(axis)));
  }
  auto at = std::find_if(
      gathered_.begin(), gathered_.end(), [&](auto const& known) { return known.first == g.index; });
  if (at == gathered_.end()) at = gathered_.insert(at, {g.index, increments::gather_index()});
  if (at->second.is_of(state)) return at->second;
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
  at->second.build(std::move(state), rows, words(keys));
  if (is_counting_) work_ += rows.size() * increments::gather_index::work_of_pair;
  return at->second;
}

// An argument that is no number and no place.
inline void incremental_program::pass(bound_slice& b, std::uint32_t parameter) {
  increments::slice_parameter const& p = b.slice->what.parameters[parameter];
  if (p.what == increments::slice_parameter::kind::gathered) return pass_gathered(b, parameter);
  change const& c = pending_[p.variable < pending_.size() ? p.variable : 0];
  if (p.what == increments::slice_parameter::kind::members) {
    follow_writes(p.variable);
    auto& inverse = inverse_[p.variable];
    increments::cells const& m = arrays_of_[p.variable];
    auto const* const first = reinterpret_cast<std::int64_t const*>(m.data());
    std::span const all(first, static_cast<std::size_t>(m.extent(0)));
    std::span<i64 const> places;
    if (change const& of = pending_[p.input]; of.how.is_listed()) {
      std::vector<i64>& members = b.members[parameter];
      members.clear();
      for (i64 const index : of.list->indices()) {
        auto const some = inverse->places(index + p.shift, all);
        members.insert(members.end(), some.begin(), some.end());
      }
      places = members;
    } else {
      places = inverse->places(of.places[p.place].path[0] + p.shift, all);
    }
    i64 const extents[] = {static_cast<i64>(places.size())};
    b.call.lend(parameter, places.data(), extents);
  } else if (p.what == increments::slice_parameter::kind::list) {
    pending_[p.variable].list->sort();
    i64 const extents[] = {static_cast<i64>(c.list->size())};
    b.call.lend(parameter, c.list->indices().data(), extents);
  } else if (p.what == increments::slice_parameter::kind::positions) {
    pending_[p.variable].list->sort();
    i64 const extents[] = {static_cast<i64>(c.list->positions().size())};
    b.call.lend(parameter, c.list->positions().data(), extents);
  } else if (p.what == increments::slice_parameter::kind::elements && c.how.appended) {
    increments::cells const& m = arrays_of_[p.variable];
    i64 extents[ir::max_rank];
    std::copy_n(m.extents(), m.type().rank, extents);
    extents[0] = c.came;
    b.call.lend(parameter, m.data() + m.bytes(), extents);
  } else if (p.what == increments::slice_parameter::kind::elements) {
    pending_[p.variable].list->sort();
    b.call.lend(parameter, c.list->elements().data(), c.list->elements().extents());
  } else if (is_number(p.variable)) {
    b.call.set(parameter, c.how.whole ? c.bits : numbers_[p.variable]);
  } else if (c.how.is_same()) {
    b.call.lend(parameter, arrays_of_[p.variable].data(), arrays_of_[p.variable].extents());
  } else if (c.how.whole) {
    b.call.lend(parameter, c.whole->data(), c.whole->extents());
  } else if (c.how.appended) { // it stands behind the others
    increments::cells const& m = arrays_of_[p.variable];
    i64 extents[ir::max_rank];
    std::copy_n(m.extents(), m.type().rank, extents);
    extents[0] += c.came;
    b.call.lend(parameter, m.data(), extents);
  } else {
    increments::cells const& whole = b.wholes.emplace_back(whole_input(p.variable));
    b.call.lend(parameter, whole.data(), whole.extents());
  }
}

OVERDUB_DECL void incremental_program::run_all(hooks_run hooks) {
  if (all_ == nullptr) { // it ended before, or this is a copy
    is_torn_ = true;     // what is kept from now on is there with a commit
    keep_all();
  }
  run(hooks == hooks_run::no && without_hooks_ != nullptr ? *without_hooks_ : *all_);
}

// ---- what slices keep

// What slices keep now, and the one that gives all of it. Other runs of the function may ask for more meanwhile.
OVERDUB_DECL void incremental_program::keep_all() {
  bound_.clear();
  all_.reset();
  without_hooks_.reset();
  plain_.reset();
  last_ = told_ = proposal_ = nullptr;
  std::shared_ptr<runnable_slice const> whole, without_hooks;
  do {
    whole = slices_->for_all();
    without_hooks = slices_->for_all_without_hooks();
    layout_ = slices_->variables();
  } while (whole->version != layout_.size() ||
           (without_hooks != nullptr && without_hooks->version != layout_.size()));
  grow();
  all_ = make_bound(std::move(whole), {});
  if (without_hooks != nullptr) without_hooks_ = make_bound(std::move(without_hooks), {});
}

// Variables that came since the last time.
inline void incremental_program::grow() {
  while (arrays_of_.size() < layout_.size())
    arrays_of_.emplace_back(layout_[static_cast<std::uint32_t>(arrays_of_.size())].type);
  numbers_.resize(layout_.size());
  is_sum_.resize(layout_.size());
  inverse_.resize(layout_.size());
  most_.resize(layout_.size());
  for (std::uint32_t k = 0; k < layout_.size(); ++k)
    if (layout_[k].what == increments::variable::role::remainder) is_sum_[layout_.of(layout_[k].of)] = true;
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::contexts
