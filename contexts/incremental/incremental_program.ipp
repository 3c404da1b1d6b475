#pragma once

#include <overdub/contexts/incremental/incremental_program.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace overdub::contexts {
namespace increments {

inline bool is_finite(ir::scalar s, std::uint64_t bits) {
  if (s == ir::scalar::f64) return std::isfinite(std::bit_cast<double>(bits));
  if (s == ir::scalar::f32) return std::isfinite(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return true;
}

[[noreturn, gnu::cold]] inline void throw_index(std::uint32_t input, i64 index, i64 size) {
  throw index_error(message(
      "overdub: input %u has %lld elements along this axis, and element %lld was set", input,
      static_cast<long long>(size), static_cast<long long>(index)));
}

} // namespace increments

inline namespace OVERDUB_EXECUTE_ABI {

OVERDUB_DECL
incremental_program::incremental_program(
    std::shared_ptr<incremental_slices> of, std::vector<datum> const& inputs)
    : slices_(std::move(of)), layout_(slices_->variables()) {
  auto const parameters = slices_->function().parameters();
  if (inputs.size() != parameters.size())
    throw argument_error(message(
        "overdub: @%s takes %zu arguments, and was given %zu",
        std::string(slices_->program().name_of(slices_->program().entry)).c_str(), parameters.size(),
        inputs.size()));
  schema_.resize(inputs.size());
  pending_.resize(inputs.size());
  values_.resize(slices_->function().results.size());
  proposed_.resize(values_.size());
  grow();
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    ir::type const wanted = slices_->function().type_of(parameters[i]);
    if (inputs[i].type() != wanted)
      throw argument_error(message(
          "overdub: input %u is %s, and was given %s", i, detail::text_of(wanted).c_str(),
          detail::text_of(inputs[i].type()).c_str()));
    memory_[i].assign(inputs[i]);
  }
  run_all();
  commit();
}

// Variables that came since the last time.
inline void incremental_program::grow() {
  for (std::uint32_t k = static_cast<std::uint32_t>(memory_.size()); k < layout_.size(); ++k) {
    memory_.emplace_back(layout_[k].type);
    is_sum_.push_back(false);
  }
  inverse_.resize(memory_.size());
  for (std::uint32_t k = 0; k < layout_.size(); ++k)
    if (layout_[k].what == increments::variable::role::remainder) is_sum_[layout_.of(layout_[k].of)] = true;
  ++arrays_;
}

// ---- changes

OVERDUB_DECL void incremental_program::set(std::uint32_t input, datum const& x) {
  if (x.type() != memory_[input].type())
    throw argument_error(message(
        "overdub: input %u is %s, and was set to %s", input, detail::text_of(memory_[input].type()).c_str(),
        detail::text_of(x.type()).c_str()));
  is_proposed_ = false;
  change& c = pending_[input];
  if (c.how.is_same()) {
    if (x.type().rank == 0 && x.bits() == memory_[input].word()) return;
    changed_.push_back(input);
  }
  c.how = {.whole = true};
  c.whole = x;
}

OVERDUB_DECL void
incremental_program::set_at(std::uint32_t input, std::span<i64 const> path, std::uint64_t bits) {
  increments::cells const& m = memory_[input];
  change& c = pending_[input];
  if (c.how.whole) {
    c.whole = [&] { // an element of what was set as a whole
      increments::cells all(m.type());
      all.assign(*c.whole);
      for (std::size_t k = 0; k < path.size(); ++k)
        if (path[k] < 0 || path[k] >= all.extent(k)) increments::throw_index(input, path[k], all.extent(k));
      all.set_bits_at(all.at(path), bits);
      return all.as_datum();
    }();
    is_proposed_ = false;
    return;
  }
  if (path.size() != m.type().rank || path.size() > most_indices)
    throw incremental_error(message(
        "overdub: input %u has %d axes, and an element was set by %zu indices; set elements of up to %zu axes",
        input, static_cast<int>(m.type().rank), path.size(), most_indices));
  for (std::size_t k = 0; k < path.size(); ++k)
    if (static_cast<std::uint64_t>(path[k]) >= static_cast<std::uint64_t>(m.extent(k)))
      increments::throw_index(input, path[k], m.extent(k));
  is_proposed_ = false;
  for (std::uint8_t k = 0; k < c.how.places; ++k)
    if (std::equal(path.begin(), path.end(), c.places[k].path)) {
      c.places[k].bits = bits;
      return;
    }
  if (m.bits_at(m.at(path)) == bits) return; // as it is
  if (c.how.places == increments::input_change::most_places) {
    datum const all = whole_input(input);
    c.how = {.whole = true};
    c.whole = all;
    return set_at(input, path, bits);
  }
  if (c.how.places == 0) changed_.push_back(input);
  place& p = c.places[c.how.places++];
  c.how.indices = static_cast<std::uint8_t>(path.size());
  std::copy(path.begin(), path.end(), p.path);
  p.bits = bits;
}

// An input as it would be.
inline datum incremental_program::whole_input(std::uint32_t i) const {
  change const& c = pending_[i];
  if (c.whole) return *c.whole;
  increments::cells all = memory_[i];
  for (std::uint8_t k = 0; k < c.how.places; ++k)
    all.set_bits_at(all.at({c.places[k].path, c.how.indices}), c.places[k].bits);
  return all.as_datum();
}

// ---- updates

OVERDUB_DECL void incremental_program::propose() {
  is_proposed_ = false;
  proposal_ = nullptr;
  proposed_ = values_;
  if (!changed_.empty()) {
    if (is_improper_)
      run_all();
    else
      run(bind());
  }
  is_proposed_ = true;
}

// The slice for the changes.
inline incremental_program::bound_slice& incremental_program::bind() {
  for (std::size_t i = 0; i < schema_.size(); ++i) schema_[i] = pending_[i].how;
  if (last_ == nullptr || last_->changes != schema_) {
    last_ = nullptr;
    for (auto const& b : bound_)
      if (b->changes == schema_) last_ = b.get();
  }
  if (last_ != nullptr) return *last_;
  for (;;) {
    auto s = slices_->for_schema(schema_);
    if (s->version != layout_.size()) { // more is kept now, which all slices are to follow
      layout_ = slices_->variables();
      grow();
      bound_.clear();
      all_.reset();
      std::vector<change> const asked = std::exchange(pending_, std::vector<change>(pending_.size()));
      std::vector<std::uint32_t> const inputs = std::exchange(changed_, {});
      run_all();
      commit();
      pending_ = asked;
      changed_ = inputs;
      continue;
    }
    bound_.push_back(std::make_unique<bound_slice>(make_bound(std::move(s), schema_)));
    return *(last_ = bound_.back().get());
  }
}

inline incremental_program::bound_slice incremental_program::make_bound(
    std::shared_ptr<runnable_slice const> s, increments::schema changes) {
  bound_slice b{std::move(changes), s, bound_call(s->code)};
  auto const& parameters = s->what.parameters;
  for (std::uint32_t k = 0; k < parameters.size(); ++k) {
    bool const is_kept = parameters[k].what == increments::slice_parameter::kind::variable;
    if (is_kept && memory_[parameters[k].variable].type().rank == 0) b.scalars.push_back(k);
    if (!is_kept) b.arguments.push_back(k);
  }
  return b;
}

inline void incremental_program::run(bound_slice& b) {
  auto const& parameters = b.slice->what.parameters;
  if (b.arrays != arrays_) {
    for (std::uint32_t k = 0; k < parameters.size(); ++k) {
      if (parameters[k].what != increments::slice_parameter::kind::variable) continue;
      increments::cells const& m = memory_[parameters[k].variable];
      if (m.type().rank > 0) b.call.lend(k, m.data(), m.extents());
    }
    b.arrays = arrays_;
  }
  for (std::uint32_t const k : b.scalars) b.call.set(k, memory_[parameters[k].variable].word());
  std::vector<increments::cells> wholes; // arrays that are lent
  wholes.reserve(b.arguments.size());
  for (std::uint32_t const k : b.arguments) {
    increments::slice_parameter const& p = parameters[k];
    switch (p.what) {
    case increments::slice_parameter::kind::variable:
      break;
    case increments::slice_parameter::kind::index:
      b.call.set(k, static_cast<std::uint64_t>(pending_[p.variable].places[p.place].path[p.axis]));
      break;
    case increments::slice_parameter::kind::element:
      b.call.set(k, pending_[p.variable].places[p.place].bits);
      break;
    case increments::slice_parameter::kind::members: {
      if (inverse_[p.variable] == nullptr)
        inverse_[p.variable] = std::make_unique<increments::inverse_index>();
      increments::cells const& m = memory_[p.variable];
      auto const* const first = reinterpret_cast<std::int64_t const*>(m.data());
      auto const places = inverse_[p.variable]->places(
          pending_[p.input].places[p.place].path[0] + p.shift, {first, static_cast<std::size_t>(m.extent(0))});
      i64 const extents[] = {static_cast<i64>(places.size())};
      b.call.lend(k, places.data(), extents);
      break;
    }
    case increments::slice_parameter::kind::input: {
      increments::cells& m = memory_[p.variable];
      change const& c = pending_[p.variable];
      if (m.type().rank == 0) {
        b.call.set(k, c.whole ? c.whole->bits() : m.word());
      } else if (c.how.is_same()) {
        b.call.lend(k, m.data(), m.extents());
      } else {
        wholes.emplace_back(m.type()).assign(whole_input(p.variable));
        b.call.lend(k, wholes.back().data(), wholes.back().extents());
      }
      break;
    }
    }
  }
  b.call.run();
  auto const& results = b.slice->what.results;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].exists()) proposed_[i] = word(results[i], b.call);
  proposal_ = &b;
  is_proposed_ = true;
}

inline void incremental_program::run_all() {
  if (all_ == nullptr) all_ = std::make_unique<bound_slice>(make_bound(slices_->for_all(), {}));
  run(*all_);
}

OVERDUB_DECL void incremental_program::commit() {
  if (!is_proposed_) propose();
  if (proposal_ == nullptr) return rollback();
  if (proposal_ == all_.get()) is_improper_ = false;
  for (increments::store const& s : proposal_->slice->what.stores) write(s, proposal_->call);
  write_inputs();
  values_ = proposed_;
  proposal_ = nullptr;
  rollback();
}

inline std::uint64_t incremental_program::word(increments::slice_value v, bound_call const& from) const {
  if (v.parameter != increments::slice_value::none) return from.argument_word(v.parameter);
  return v.result == increments::slice_value::none ? 0 : from.word(v.result);
}

// What changed of a variable.
inline void incremental_program::write(increments::store const& s, bound_call const& from) {
  increments::cells& to = memory_[s.variable];
  auto const* const inverse = inverse_[s.variable].get();
  auto const elements = [&](increments::slice_value v) {
    return v.parameter != increments::slice_value::none ? from.argument_elements(v.parameter)
                                                        : from.elements(v.result);
  };
  auto const extents = [&](increments::slice_value v) {
    return v.parameter != increments::slice_value::none ? from.argument_extents(v.parameter)
                                                        : from.extents(v.result);
  };
  auto const is_array = [&](increments::slice_value v) {
    ir::type const t = v.parameter != increments::slice_value::none ? from.code().parameters[v.parameter]
                                                                    : from.code().results[v.result];
    return t.rank > 0;
  };
  if (s.path.empty()) {
    if (s.valid.exists() && word(s.valid, from) == 0) return;
    if (to.type().rank == 0) {
      std::uint64_t const bits = word(s.value, from);
      to.set_word(bits);
      if (is_sum(s.variable) && !increments::is_finite(to.type().element, bits)) is_improper_ = true;
      return;
    }
    bool stays = false;
    if (s.value.exists())
      stays = to.assign(elements(s.value), extents(s.value));
    else // what was lost of sums that were computed anew
      stays = to.assign(nullptr, memory_[layout_.of(layout_[s.variable].of)].extents());
    if (!stays) ++arrays_;
    if (inverse != nullptr) inverse_[s.variable]->forget();
    for (std::size_t at = 0; is_sum(s.variable) && at < to.bytes(); at += to.size_of_scalar())
      is_improper_ = is_improper_ || !increments::is_finite(to.type().element, to.bits_at(at));
    return;
  }
  std::size_t const indices = s.path.size();
  std::size_t const bytes = static_cast<std::size_t>(to.scalars(indices)) * to.size_of_scalar();
  i64 count = 1;
  if (s.each)
    for (increments::slice_value const v : s.path)
      if (is_array(v)) count = extents(v)[0];
  for (i64 k = 0; k < count; ++k) {
    if (s.valid.exists()) {
      bool const is_valid = s.each ? elements(s.valid)[k] != std::byte{0} : word(s.valid, from) != 0;
      if (!is_valid) continue;
    }
    i64 path[ir::max_rank];
    for (std::size_t a = 0; a < indices; ++a) {
      if (s.each && is_array(s.path[a]))
        std::memcpy(&path[a], elements(s.path[a]) + static_cast<std::size_t>(k) * sizeof(i64), sizeof(i64));
      else
        path[a] = static_cast<i64>(word(s.path[a], from));
    }
    std::size_t const at = to.at({path, indices});
    if (!s.value.exists()) {
      std::memset(to.data() + at, 0, bytes);
    } else if (s.each) {
      std::memcpy(to.data() + at, elements(s.value) + static_cast<std::size_t>(k) * bytes, bytes);
    } else if (indices == to.type().rank) {
      to.set_bits_at(at, word(s.value, from));
    } else {
      std::memcpy(to.data() + at, elements(s.value), bytes);
    }
    if (is_sum(s.variable) && indices == to.type().rank &&
        !increments::is_finite(to.type().element, to.bits_at(at)))
      is_improper_ = true;
    if (inverse != nullptr) inverse_[s.variable]->written(path[0]);
  }
}

inline void incremental_program::write_inputs() {
  for (std::uint32_t const i : changed_) {
    change const& c = pending_[i];
    increments::cells& to = memory_[i];
    if (c.whole) {
      if (!to.assign(*c.whole)) ++arrays_;
      if (inverse_[i] != nullptr) inverse_[i]->forget();
      continue;
    }
    for (std::uint8_t k = 0; k < c.how.places; ++k) {
      to.set_bits_at(to.at({c.places[k].path, c.how.indices}), c.places[k].bits);
      if (inverse_[i] != nullptr) inverse_[i]->written(c.places[k].path[0]);
    }
  }
}

// ---- values

OVERDUB_DECL datum incremental_program::result(std::size_t k) const {
  auto const& f = slices_->function();
  ir::value_id const v = f.operand(f.yield_of(ir::function::body), static_cast<std::uint32_t>(k));
  if (f.is_literal(v)) return datum::of_bits(f.type_of(v), f.bits_of(v));
  if (f.type_of(v).rank == 0) return datum::of_bits(f.type_of(v), values_[k]);
  return memory_[layout_.of(v)].as_datum();
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::contexts
