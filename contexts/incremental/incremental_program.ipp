#pragma once

#include <overdub/contexts/incremental/incremental_program.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace overdub::contexts {
namespace increments {

[[noreturn, gnu::cold]] inline void throw_index(std::uint32_t input, i64 index, i64 size) {
  throw index_error(message(
      "overdub: input %u has %lld elements along this axis, and element %lld was set", input,
      static_cast<long long>(size), static_cast<long long>(index)));
}
[[noreturn, gnu::cold]] inline void throw_type(std::uint32_t input, ir::type wanted, ir::type given) {
  throw argument_error(message(
      "overdub: input %u is %s, and was given %s", input, overdub::detail::text_of(wanted).c_str(),
      overdub::detail::text_of(given).c_str()));
}
[[noreturn, gnu::cold]] inline void
throw_indices(std::uint32_t input, ir::type t, std::size_t indices, std::size_t most) {
  throw incremental_error(message(
      "overdub: input %u has %d axes, and an element was set by %zu indices; elements of up to %zu axes are "
      "set by as "
      "many",
      input, static_cast<int>(t.rank), indices, most));
}

} // namespace increments

inline namespace OVERDUB_EXECUTE_ABI {

OVERDUB_DECL incremental_program::incremental_program(
    std::shared_ptr<incremental_slices> of, std::vector<datum> const& inputs)
    : slices_(std::move(of)), layout_(slices_->function()) {
  auto const parameters = slices_->function().parameters();
  if (inputs.size() != parameters.size())
    throw argument_error(message(
        "overdub: @%s takes %zu arguments, and was given %zu",
        std::string(slices_->program().name_of(slices_->program().entry)).c_str(), parameters.size(),
        inputs.size()));
  pending_.resize(inputs.size());
  changed_.resize(inputs.size());
  values_.resize(slices_->function().results.size());
  proposed_.resize(values_.size());
  keep_all();
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].type() != layout_[i].type) increments::throw_type(i, layout_[i].type, inputs[i].type());
    if (is_number(i))
      numbers_[i] = inputs[i].bits();
    else
      arrays_of_[i].assign(inputs[i]);
  }
  ir::function const& f = slices_->function();
  for (std::uint32_t k = 0; k < values_.size(); ++k)
    if (ir::value_id const v = f.operand(f.yield_of(ir::function::body), k); f.is_literal(v))
      values_[k] = f.bits_of(v);
  proposed_ = values_;
  run_all();
  commit();
}

// What slices keep now, and the one that gives all of it. Other runs of the function may ask for more meanwhile.
inline void incremental_program::keep_all() {
  bound_.clear();
  all_.reset();
  last_ = proposal_ = nullptr;
  std::shared_ptr<runnable_slice const> whole;
  do {
    whole = slices_->for_all();
    layout_ = slices_->variables();
  } while (whole->version != layout_.size());
  grow();
  all_ = make_bound(std::move(whole), {});
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

// ---- changes

inline void incremental_program::check_input(std::uint32_t i) const {
  if (i >= pending_.size())
    throw incremental_error(
        message("overdub: input %u was set, and the function has %zu", i, pending_.size()));
}

OVERDUB_DECL void incremental_program::set(std::uint32_t input, datum const& x) {
  check_input(input);
  if (x.type() != layout_[input].type) increments::throw_type(input, layout_[input].type, x.type());
  change& c = pending_[input];
  bool const is_first = c.how.is_same();
  if (is_first && is_number(input) && x.bits() == numbers_[input]) return; // as it is
  is_proposed_ = false;
  if (is_number(input)) {
    c.bits = x.bits();
  } else {
    increments::cells whole(x.type());
    whole.assign(x);
    c.whole = std::move(whole);
  }
  if (is_first) changed_[change_count_++] = input;
  mark(input, {.whole = true});
}

OVERDUB_DECL void
incremental_program::set_at(std::uint32_t input, std::span<i64 const> path, std::uint64_t bits) {
  check_input(input);
  change& c = pending_[input];
  increments::cells const& m = arrays_of_[input];
  if (path.size() != m.type().rank || path.size() > most_indices)
    increments::throw_indices(input, m.type(), path.size(), most_indices);
  auto const check = [&](increments::cells const& of) {
    for (std::size_t k = 0; k < path.size(); ++k)
      if (static_cast<std::uint64_t>(path[k]) >= static_cast<std::uint64_t>(of.extent(k)))
        increments::throw_index(input, path[k], of.extent(k));
  };
  auto const is_new = [&] {
    return c.how.appended && path[0] >= m.extent(0) && path[0] - m.extent(0) < c.how.places;
  };
  if (is_new()) { // an element of what was appended
    increments::cells& to = arrays_of_[input];
    for (std::size_t k = 1; k < path.size(); ++k)
      if (static_cast<std::uint64_t>(path[k]) >= static_cast<std::uint64_t>(m.extent(k)))
        increments::throw_index(input, path[k], m.extent(k));
    to.set_bits_at(to.at(path), bits);
    c.places[path[0] - m.extent(0)].bits = bits;
    is_proposed_ = false;
    return;
  }
  if (c.how.appended) { // and of what stood there before
    check(m);
    make_whole(input);
  }
  if (c.how.whole) { // an element of what was set as a whole
    check(*c.whole);
    c.whole->set_bits_at(c.whole->at(path), bits);
    is_proposed_ = false;
    return;
  }
  check(m);
  for (std::uint8_t k = 0; k < c.how.places; ++k)
    if (std::equal(path.begin(), path.end(), c.places[k].path)) {
      c.places[k].bits = bits;
      is_proposed_ = false;
      return;
    }
  if (m.bits_at(m.at(path)) == bits) return; // as it is
  is_proposed_ = false;
  // Slices know places by their first indices, which are apart.
  bool const meets =
      std::any_of(c.places, c.places + c.how.places, [&](place const& p) { return p.path[0] == path[0]; });
  if (meets || c.how.places == increments::input_change::most_places) {
    make_whole(input);
    return set_at(input, path, bits);
  }
  if (c.how.places == 0) changed_[change_count_++] = input;
  place& p = c.places[c.how.places];
  for (std::size_t k = 0; k < path.size(); ++k) p.path[k] = path[k];
  p.bits = bits;
  mark(
      input, {.places = static_cast<std::uint8_t>(c.how.places + 1),
              .indices = static_cast<std::uint8_t>(path.size())});
}

OVERDUB_DECL void incremental_program::append(std::uint32_t input, datum const& x) {
  check_input(input);
  change& c = pending_[input];
  increments::cells& m = arrays_of_[input];
  ir::type const t = m.type();
  if (t.rank == 0)
    throw incremental_error(message(
        "overdub: input %u is a number, and was given an element more; only arrays have elements", input));
  if (x.type() != t.element_type()) increments::throw_type(input, t.element_type(), x.type());
  i64 const rows = c.how.whole ? c.whole->extent(0) : m.extent(0) + (c.how.appended ? c.how.places : 0);
  if (rows > 0)
    for (std::size_t axis = 1; axis < t.rank; ++axis)
      if (i64 const wanted = (c.how.whole ? *c.whole : m).extent(axis); x.shape()[axis - 1] != wanted)
        throw size_error(message(
            "overdub: input %u has rows of size %lld, and was given one of size %lld more", input,
            static_cast<long long>(wanted), static_cast<long long>(x.shape()[axis - 1])));
  // Slices follow what grows, and not what begins.
  bool const is_first = c.how.is_same();
  if (!c.how.whole && (m.extent(0) == 0 || (!is_first && !c.how.appended) ||
                       c.how.places == increments::input_change::most_places))
    make_whole(input);
  is_proposed_ = false;
  increments::cells& to = c.how.whole ? *c.whole : m;
  if (rows == 0) to.set_row(x.shape().data());
  if (!to.reserve_rows(rows - to.extent(0) + 1) && !c.how.whole) ++arrays_;
  std::byte* const row = to.data() + static_cast<std::size_t>(rows) * to.bytes_of_row();
  if (t.rank == 1)
    increments::put_bits(row, to.size_of_scalar(), x.bits());
  else
    execute::with_type(t.element, [&]<class T>(T) {
      if (auto const& from = x.elements<T>(); !from.empty()) std::memcpy(row, from.data(), to.bytes_of_row());
    });
  if (c.how.whole) return to.extend(1);
  append_place(input, rows, t.rank == 1 ? x.bits() : 0);
}

// What is not followed place by place.
inline void incremental_program::make_whole(std::uint32_t i) {
  change& c = pending_[i];
  c.whole = whole_input(i);
  if (c.how.is_same()) changed_[change_count_++] = i;
  mark(i, {.whole = true});
}

// An array as it would be.
inline increments::cells incremental_program::whole_input(std::uint32_t i) const {
  change const& c = pending_[i];
  increments::cells all = arrays_of_[i];
  if (c.how.appended) {
    all.extend(c.how.places);
    return all;
  }
  for (std::uint8_t k = 0; k < c.how.places; ++k)
    all.set_bits_at(all.at({c.places[k].path, c.how.indices}), c.places[k].bits);
  return all;
}

// The inputs become what they were set to, and those what they were.
OVERDUB_DECL void incremental_program::exchange_changes() {
  for (std::uint32_t n = 0; n < change_count_; ++n) {
    std::uint32_t const i = changed_[n];
    change& c = pending_[i];
    if (c.how.appended) {
      arrays_of_[i].extend(c.is_there ? -c.how.places : c.how.places);
      c.is_there = !c.is_there;
    } else if (!c.how.whole) {
      increments::cells& of = arrays_of_[i];
      for (std::uint8_t k = 0; k < c.how.places; ++k) {
        std::size_t const at = of.at({c.places[k].path, c.how.indices});
        std::uint64_t const before = of.bits_at(at);
        of.set_bits_at(at, c.places[k].bits);
        c.places[k].bits = before;
      }
    } else if (is_number(i)) {
      std::swap(numbers_[i], c.bits);
    } else {
      std::swap(arrays_of_[i], *c.whole);
    }
  }
}

// ---- proposals

OVERDUB_DECL void incremental_program::run_changes() {
  if (is_torn_) [[unlikely]]
    for (auto const& each : inverse_) // whose journals may be torn, too
      if (each != nullptr) each->forget();
  if (is_improper_ || is_torn_) [[unlikely]]
    return run_all();
  if (last_ == nullptr || !fits(*last_)) [[unlikely]] {
    last_ = find_slice({});
    if (is_improper_) return run_all(); // what is kept now says so
  }
  if (last_->instead != nullptr) [[unlikely]]
    return run_instead(*last_);
  run(*last_);
  if (!last_->failed.exists()) return;
  if (proposal_ == last_ && failed(*last_) != 0) [[unlikely]]
    return learn(*last_);
  last_->failures = 0;
}

// Runs what doubts what failed. Where the same did again and again, that runs from the beginning for a while.
inline void incremental_program::learn(bound_slice& most) {
  run_doubting(&most);
  if (last_ == nullptr) return; // slices are bound anew
  most.failures = proposal_ == most.found ? most.failures + 1 : 0;
  most.found = proposal_;
  if (most.failures < bound_slice::most_failures || most.found == all_.get()) return;
  most.instead = most.found;
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
inline incremental_program::bound_slice* incremental_program::doubting(bound_slice& b, std::uint64_t failed) {
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

inline bool incremental_program::fits(bound_slice const& b) const {
  return b.signature == signature_ && (pending_.size() <= most_signed || b.changes == schema());
}

// The slice for the changes.
inline incremental_program::bound_slice* incremental_program::find_slice(increments::doubts const& d) {
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
  auto const count = std::exchange(change_count_, 0);
  auto const signature = std::exchange(signature_, 0);
  for (change& c : pending_) c = {};
  auto const restore = [&] { // in their places, which slices know
    std::move(asked.begin(), asked.end(), pending_.begin());
    change_count_ = count;
    signature_ = signature;
    values_ = proposed_ = values;
  };
  try {
    proposed_ = values_;
    run_all();
    commit();
  } catch (...) {
    restore();
    throw;
  }
  restore();
}

inline std::unique_ptr<incremental_program::bound_slice>
incremental_program::make_bound(std::shared_ptr<runnable_slice const> s, increments::schema changes) {
  auto b = std::make_unique<bound_slice>(s);
  b->changes = std::move(changes);
  b->signature = signature_;
  for (increments::store const& each : s->what.stores)
    b->has_rows = b->has_rows || (!each.path.empty() && !each.is_range &&
                                  layout_[each.variable].type.rank > each.path.size());
  find_arguments(*b);
  return b;
}

// Where the words of a slice's arguments come from, and go to.
inline void incremental_program::find_arguments(bound_slice& b) {
  b.arguments.clear();
  b.others.clear();
  auto const& parameters = b.slice->what.parameters;
  for (std::uint32_t k = 0; k < parameters.size(); ++k) {
    increments::slice_parameter const& p = parameters[k];
    using kind = increments::slice_parameter::kind;
    std::uint64_t* const to = b.call.argument_address(k);
    if (p.what == kind::variable && is_number(p.variable))
      b.arguments.push_back({&numbers_[p.variable], to});
    else if (p.what == kind::index)
      b.arguments.push_back(
          {reinterpret_cast<std::uint64_t const*>(&pending_[p.variable].places[p.place].path[p.axis]), to});
    else if (p.what == kind::element)
      b.arguments.push_back({&pending_[p.variable].places[p.place].bits, to});
    else if (p.what != kind::variable)
      b.others.push_back(k);
  }
}

inline void incremental_program::lend_arrays(bound_slice& b) {
  auto const& parameters = b.slice->what.parameters;
  for (std::uint32_t k = 0; k < parameters.size(); ++k) {
    if (parameters[k].what != increments::slice_parameter::kind::variable ||
        is_number(parameters[k].variable))
      continue;
    increments::cells const& m = arrays_of_[parameters[k].variable];
    if (b.arrays == arrays_) // it stands where it did
      b.call.set_extents(k, m.extents());
    else
      b.call.lend(k, m.data(), m.extents());
  }
  if (b.arrays != arrays_) b.results = nullptr;
  b.arrays = arrays_;
  b.grown = grown_;
}

[[gnu::always_inline]] inline void incremental_program::run(bound_slice& b) {
  if (b.call.is_warming()) [[unlikely]]
    if (b.call.improve()) {
      b.results = nullptr;
      find_arguments(b);
    }
  if (b.arrays != arrays_ || b.grown != grown_) [[unlikely]]
    lend_arrays(b);
  for (auto const& [from, to] : b.arguments) *to = *from;
  if (b.has_rows) [[unlikely]] {
    if (!run_with_rows(b)) return run_all();
  } else if (b.others.empty()) [[likely]] {
    b.call.run_as_it_is();
  } else {
    run_with_others(b);
  }
  auto const& results = b.slice->what.results;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].result != increments::slice_value::none)
      proposed_[i] = b.call.word(results[i].result);
    else
      proposed_[i] = results[i].exists() ? b.call.argument_word(results[i].parameter) : values_[i];
  }
  proposal_ = &b;
  is_proposed_ = true;
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
    if (s.path.empty() || s.is_range || s.value.result == increments::slice_value::none) continue;
    std::size_t const indices = s.path.size(), skipped = s.each ? 1 : 0;
    increments::cells const& to = arrays_of_[s.variable];
    if (to.type().rank == indices) continue;
    bool const each_is_valid = s.valid.exists() && s.each && increments::is_array(b.call, s.valid);
    if (s.valid.exists() && !each_is_valid && increments::word_of(b.call, s.valid) == 0) continue;
    i64 const* const extents = b.call.extents(s.value.result);
    if (s.each && extents[0] == 0) continue;
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

// An argument that is no number and no place.
inline void incremental_program::pass(bound_slice& b, std::uint32_t parameter) {
  increments::slice_parameter const& p = b.slice->what.parameters[parameter];
  change const& c = pending_[p.variable < pending_.size() ? p.variable : 0];
  if (p.what == increments::slice_parameter::kind::members) {
    auto& inverse = inverse_[p.variable];
    if (inverse == nullptr) {
      inverse = std::make_unique<increments::inverse_index>();
      ++arrays_; // commits look at what they write from now on; this slice has not found yet what that is
    }
    increments::cells const& m = arrays_of_[p.variable];
    auto const* const first = reinterpret_cast<std::int64_t const*>(m.data());
    auto const places = inverse->places(
        pending_[p.input].places[p.place].path[0] + p.shift, {first, static_cast<std::size_t>(m.extent(0))});
    i64 const extents[] = {static_cast<i64>(places.size())};
    b.call.lend(parameter, places.data(), extents);
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
    extents[0] += c.how.places;
    b.call.lend(parameter, m.data(), extents);
  } else {
    increments::cells const& whole = b.wholes.emplace_back(whole_input(p.variable));
    b.call.lend(parameter, whole.data(), whole.extents());
  }
}

OVERDUB_DECL void incremental_program::run_all() {
  if (all_ == nullptr) keep_all(); // it ended before
  run(*all_);
}

// ---- values

OVERDUB_DECL std::uint32_t incremental_program::variable_of_result(std::size_t k) const {
  ir::function const& f = slices_->function();
  ir::value_id const v = f.operand(f.yield_of(ir::function::body), static_cast<std::uint32_t>(k));
  return f.is_literal(v) ? increments::layout::none : layout_.of(v);
}

OVERDUB_DECL datum incremental_program::result(std::size_t k) const {
  auto const& f = slices_->function();
  ir::value_id const v = f.operand(f.yield_of(ir::function::body), static_cast<std::uint32_t>(k));
  if (f.is_literal(v)) return datum::of_bits(f.type_of(v), f.bits_of(v));
  if (f.type_of(v).rank == 0) return datum::of_bits(f.type_of(v), values_[k]);
  return arrays_of_[layout_.of(v)].as_datum();
}

OVERDUB_DECL double incremental_program::difference_of_values(std::size_t k) const {
  auto const number = [&](std::uint64_t bits) {
    switch (slices_->function().results[k].element) {
    case ir::scalar::f64:
      return std::bit_cast<double>(bits);
    case ir::scalar::f32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    default:
      return static_cast<double>(static_cast<std::int64_t>(bits));
    }
  };
  return number(proposed_[k]) - number(values_[k]);
}

OVERDUB_DECL datum incremental_program::input(std::uint32_t i) const {
  return is_number(i) ? datum::of_bits(layout_[i].type, numbers_[i]) : arrays_of_[i].as_datum();
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::contexts
