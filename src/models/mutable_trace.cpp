#include <overdub/implementation/models/define_site_choices.hpp>
#include <overdub/models/mutable_trace.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace overdub::models {

namespace {

// What a mutable trace does not accept. Each throws model_error, or argument_error for a type.
namespace rejections {

[[noreturn]] void argument_number(model_core const& m, std::uint32_t k, std::uint32_t arguments) {
  throw model_error(message(
      "overdub: argument %d of the model @%s was set, and it has %u, counted from 0", static_cast<int>(k),
      m.name().c_str(), arguments));
}
[[noreturn]] void argument_type(model_core const& m, std::uint32_t k, ir::type wanted, ir::type given) {
  throw argument_error(message(
      "overdub: argument %u of the model @%s is %s, and was given %s", k, m.name().c_str(),
      overdub::detail::text_of(wanted).c_str(), overdub::detail::text_of(given).c_str()));
}
[[noreturn]] void counting(model_core const& m, std::uint32_t k, std::uint32_t site) {
  throw model_error(message(
      "overdub: argument %u of the model @%s decides how many choices \"%s\" there are, or how large they "
      "are; change such traces by extend, where there are more, or by update",
      k, m.name().c_str(), m.sites()[site].address.c_str()));
}
[[noreturn]] void observed(model_core const& m, std::uint32_t site) {
  throw model_error(
      message("overdub: the choice \"%s\" is observed, and does not move", m.sites()[site].address.c_str()));
}
[[noreturn]] void commit() {
  throw model_error(
      message("overdub: the function of metropolis commits its proposal; it sets choices, and the "
              "move decides whether they stay"));
}
[[noreturn]] void
appearing(model_core const& m, std::vector<std::vector<i64>> const& shapes, choice_index const& choice) {
  std::vector<i64> at;
  indices_of(shapes[choice.site], choice.number, at);
  throw model_error(message(
      "overdub: a change makes the choice %.80s appear, and its value is not given; set it, too, or give "
      "propose a key, with which it is drawn",
      text_of(address(m.sites()[choice.site].address, at)).c_str()));
}

} // namespace rejections

template <class Program>
std::vector<datum> inputs_of(Program const& p, std::uint32_t first, std::size_t end) {
  std::vector<datum> all;
  for (; first < end; ++first) all.push_back(p.input(first));
  return all;
}

} // namespace

template <class Program>
mutable_trace<Program>::mutable_trace(trace const& t, choice_map const& observed)
    : core_((static_cast<void>(t.core()), t.shared_core())),
      site_input_(static_cast<std::uint32_t>(t.arguments().size())),
      structure_(*core_, observed, is_incremental ? incremental_program::max_indices : ~std::size_t{0}),
      program_(program_of(t)), calls_(query_count * core_->sites().size()), observed_(core_->sites().size()) {
  for (std::uint32_t s = 0; s < core_->sites().size(); ++s)
    shapes_.emplace_back(t.shape(s).begin(), t.shape(s).end());
  observed_.add(t, observed);
}

template <class Program>
mutable_trace<Program>::mutable_trace(mutable_trace const& other)
    : core_(other.core_), site_input_(other.site_input_), structure_(other.structure_),
      program_(other.program_), calls_(other.calls_.size()), shapes_(other.shapes_),
      observed_(other.observed_) {
  structure_.clear();
}

template <class Program>
mutable_trace<Program>::mutable_trace(mutable_trace&&) noexcept = default;

template <class Program>
mutable_trace<Program>& mutable_trace<Program>::operator=(mutable_trace&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(this);
  return *std::construct_at(this, std::move(other));
}

template <class Program>
mutable_trace<Program>::~mutable_trace() = default;

template <class Program>
mutable_trace<Program>& mutable_trace<Program>::operator=(mutable_trace const& other) {
  if (core_ != other.core_) return *this = mutable_trace(other);
  auto shapes = other.shapes_;
  auto observed = other.observed_;
  program_ = other.program_;
  rollback();
  shapes_ = std::move(shapes);
  observed_ = std::move(observed);
  return *this;
}

template <class Program>
void mutable_trace<Program>::set(choice_map const& changes) {
  detail::site_constraints const given(core(), changes);
  for (detail::given_choice const& c : given.all()) {
    detail::site_constraints::check_size(*core_, c, proposed_shapes()[c.site]);
    if (c.indices.size() == shapes_[c.site].size() && c.value.type().rank == 0)
      set_bits(c.site, c.indices, c.value.bits());
    else if (c.indices.empty())
      set_all(c.site, c.value);
    else
      throw model_error(message(
          "overdub: %.80s is a part of a site, and more than a number; set all of the site",
          text_of(address(core_->sites()[c.site].address, c.indices)).c_str()));
  }
}

template <class Program>
void mutable_trace<Program>::set_argument(std::uint32_t k, datum const& x) {
  check_argument(k);
  datum now;
  program_.as_proposed([&] { now = program_.input(k); });
  if (x.type() != now.type()) rejections::argument_type(*core_, k, now.type(), x.type());
  bool const is_resized = !std::ranges::equal(now.shape(), x.shape());
  affected_counts const& counts = core_->model().arguments[k];
  if (is_resized && counts.size) rejections::counting(*core_, k, *counts.size);
  if (counts.value && !(now == x)) rejections::counting(*core_, k, *counts.value);
  if (!structure_.is_fixed()) proposal_.is_current = false;
  program_.set_differing(k, now, x);
}

template <class Program>
void mutable_trace<Program>::set_argument_at(
    std::uint32_t k, std::initializer_list<i64> indices, datum const& x) {
  check_argument(k);
  ir::function const& f = core_->program()[core_->program().entry];
  ir::type const t = f.type_of(f.parameters()[k]);
  ir::type number = t;
  number.rank = 0;
  if (x.type() != number) rejections::argument_type(*core_, k, number, x.type());
  std::span<i64 const> const path(indices.begin(), indices.size());
  if (path.size() != t.rank || path.size() > incremental_program::max_indices)
    throw model_error(message(
        "overdub: argument %u of the model @%s has %d axes, and an element was set by %zu indices; "
        "elements of up to "
        "three axes are set alone",
        k, core_->name().c_str(), static_cast<int>(t.rank), path.size()));
  for (std::size_t axis = 0; axis < path.size(); ++axis)
    if (i64 const n = program_.proposed_extent(k, axis); path[axis] < 0 || path[axis] >= n)
      throw index_error(message(
          "overdub: argument %u of the model @%s has %lld elements along this axis, and none at %lld", k,
          core_->name().c_str(), static_cast<long long>(n), static_cast<long long>(path[axis])));
  if (core_->model().arguments[k].value) rejections::counting(*core_, k, *core_->model().arguments[k].value);
  if (!structure_.is_fixed()) proposal_.is_current = false;
  program_.set_at(k, path, x.bits());
}

template <class Program>
void mutable_trace<Program>::set_bits(std::uint32_t s, std::span<i64 const> at, std::uint64_t bits) {
  if (observed_.has(s) && is_observed(s, number_of(proposed_shapes()[s], at))) [[unlikely]]
    rejections::observed(*core_, s);
  if (growth_.is_growing()) [[unlikely]] {
    if (growth_.is_observed(s, number_of(proposed_shapes()[s], at))) rejections::observed(*core_, s);
    growth_.was_set(s, number_of(proposed_shapes()[s], at));
  }
  set_bits_unchecked(s, at, bits);
}

template <class Program>
void mutable_trace<Program>::set_all(std::uint32_t s, datum const& x) {
  if (is_observed(s)) rejections::observed(*core_, s);
  if (growth_.is_growing()) [[unlikely]]
    growth_.was_set(s, choice_index::all);
  if (!has_fixed_structure()) set_in_structure(s, choice_index::all);
  program_.set(site_input_ + s, x);
}

template <class Program>
void mutable_trace<Program>::extend(trace_extension const& by) {
  or_rollback([&] {
    if (by.core() != core_)
      throw model_error(message(
          "overdub: a trace of the model @%s is extended by @%s; it grows by arguments of its own function "
          "and options",
          core().name().c_str(), by.core()->name().c_str()));
    if (growth_.is_growing())
      throw model_error(message(
          "overdub: a trace of the model @%s grows twice in one proposal: commit it, or roll it back, "
          "before",
          core_->name().c_str()));
    growth_.begin(by, shapes_);
    growth_.constrain_existing(*this, program_, by.given(), structure_);
    proposal_.is_current = false;
    for (std::uint32_t k = 0; k < site_input_; ++k)
      trace_growth::extend_input(program_, k, by.arguments()[k]);
    for (std::uint32_t s = 0; s < shapes_.size(); ++s) {
      if (growth_.shapes()[s] == shapes_[s]) continue;
      if (is_incremental && shapes_[s].size() > incremental_program::max_indices)
        trace_structure::reject_indices(*core_, s);
      growth_.extend_site(*core_, program_, site_input_ + s, s, shapes_[s], by.given(), structure_);
    }
  });
}

template <class Program>
bool mutable_trace<Program>::is_proposed(std::uint32_t s, std::span<i64 const> at) const {
  choice_index const c{s, number_of(shapes_[s], at)};
  return is_made(s, at) ? !std::ranges::binary_search(structure_.vanished(), c) : structure_.appears(c);
}

template <class Program>
void mutable_trace<Program>::commit() {
  if (!proposal_.may_commit) [[unlikely]]
    rejections::commit();
  if (!proposal_.is_current) propose();
  if (proposal_.has_no_density) {
    rollback();
    throw model_error(message(
        "overdub: the changes make an observed choice vanish, or one appear that cannot be drawn: the "
        "proposal has no density, and is rolled back"));
  }
  or_rollback([&] {
    if (growth_.is_growing()) observed_.reserve(growth_.shapes(), growth_.observed());
    program_.commit();
  });
  if (has_fixed_structure()) [[likely]]
    return;
  if (growth_.is_growing()) end_growth();
  structure_.clear();
}

template <class Program>
void mutable_trace<Program>::rollback() {
  program_.rollback();
  if (has_fixed_structure()) [[likely]]
    return; // no choice was drawn or appended
  structure_.clear();
  if (growth_.is_growing()) [[unlikely]]
    observed_.release_room(shapes_);
  growth_.clear();
  proposal_.is_current = true;
  proposal_.has_no_density = false;
}

template <class Program>
trace mutable_trace<Program>::as_trace() const {
  std::vector<datum> const arguments = inputs_of(program_, 0, site_input_),
                           values = inputs_of(program_, site_input_, site_input_ + core().sites().size());
  choice_schema s = core_->all_in(role::given);
  s.results = s.values = s.presence = true;
  return trace(core_, arguments, core_->run(s, arguments, values));
}

template <class Program>
tiered_call& mutable_trace<Program>::query(std::uint32_t s, site_query q, std::span<i64 const> at) {
  tiered_call& call = query_call(s, q);
  std::uint32_t next = 0;
  for (; next < site_input_ + shapes_.size(); ++next) program_.pass_input(call, next, next);
  for (i64 const i : at) call.set(next++, static_cast<std::uint64_t>(i));
  return call;
}

template <class Program>
std::vector<datum> mutable_trace<Program>::log_densities() const {
  std::size_t const end = site_input_ + core().sites().size();
  return detail::log_densities(
      *core_, inputs_of(program_, 0, site_input_), inputs_of(program_, site_input_, end));
}

template <class Program>
void mutable_trace<Program>::check_argument(std::uint32_t k) const {
  if (k >= site_input_ || core_ == nullptr) rejections::argument_number(core(), k, site_input_);
}

template <class Program>
void mutable_trace<Program>::set_bits_unchecked(
    std::uint32_t s, std::span<i64 const> at, std::uint64_t bits) {
  if (!has_fixed_structure()) set_in_structure(s, number_of(proposed_shapes()[s], at));
  set_in_program(s, at, bits);
}

template <class Program>
void mutable_trace<Program>::set_in_program(std::uint32_t s, std::span<i64 const> at, std::uint64_t bits) {
  if (at.empty())
    program_.set(site_input_ + s, datum::of_bits(core_->sites()[s].type, bits));
  else if constexpr (is_incremental)
    if (at.size() == 1)
      program_.set_at(site_input_ + s, at[0], bits);
    else if (at.size() <= Program::max_indices)
      program_.set_at(site_input_ + s, at, bits);
    else
      trace_structure::reject_indices(*core_, s);
  else
    program_.set_at(site_input_ + s, at, bits);
}

template <class Program>
void mutable_trace<Program>::set_in_structure(std::uint32_t s, std::size_t number) {
  structure_.set({s, number});
  proposal_.is_current = false;
}

template <class Program>
double mutable_trace<Program>::propose(random_key const* key) {
  if (has_fixed_structure()) [[likely]] {
    or_rollback([&] { program_.propose(); });
    return program_.difference();
  }
  double weight = 0;
  or_rollback([&] { weight = propose_structure(key); });
  proposal_.is_current = true;
  return weight;
}

template <class Program>
tiered_call& mutable_trace<Program>::query_call(std::uint32_t s, site_query q) {
  auto& call = calls_[query_count * s + static_cast<std::size_t>(q)];
  if (call == nullptr) call = std::make_unique<tiered_call>(core_->code_of(s, q));
  return *call;
}

template <class Program>
double mutable_trace<Program>::propose_structure(random_key const* key) {
  double vanished_density = 0;
  proposal_.has_no_density = true;
  if (key != nullptr) structure_.discard_draws(), growth_.restart();
  if (growth_.is_growing() && !draw_appended(key)) return std::numeric_limits<double>::quiet_NaN();
  for (;;) {
    program_.propose();
    structure_.find(program_, proposed_shapes(), shapes_);
    if (!structure_.has_to_draw()) break;
    auto const first = structure_.first_to_draw(proposed_shapes());
    if (key == nullptr) rejections::appearing(*core_, proposed_shapes(), first[0]);
    if (growth_.is_growing())
      for (choice_index const& c : first) reject_late_appearance(c);
    if (!draw(first, growth_.is_growing() ? *key : key->at("appearing")))
      return std::numeric_limits<double>::quiet_NaN();
  }
  if (growth_.is_growing()) reject_unmade_observations();
  double const drawn_density = structure_.drawn_density();
  for (choice_index const& c : structure_.vanished())
    if (is_observed(c.site, c.number)) return -std::numeric_limits<double>::infinity();
  if (!structure_.vanished().empty() && !growth_.is_growing())
    program_.as_committed([&] {
      for (choice_index const& c : structure_.vanished()) {
        indices_of(c.site, c.number, at_);
        tiered_call& density = query(c.site, site_query::density, at_);
        density.run();
        vanished_density += std::bit_cast<double>(density.word(0));
      }
    });
  proposal_.has_no_density = false;
  return program_.difference() - drawn_density + vanished_density;
}

template <class Program>
bool mutable_trace<Program>::draw_appended(random_key const* key) {
  growth_.sort(structure_);
  for (choice_index const* c = growth_.next(); c != nullptr; growth_.advance(), c = growth_.next()) {
    if (structure_.is_conditional(c->site) && !is_made_in_proposal(*c)) continue;
    if (key == nullptr) rejections::appearing(*core_, proposed_shapes(), *c);
    if (!draw({c, 1}, *key)) return false;
  }
  return true;
}

template <class Program>
bool mutable_trace<Program>::is_made_in_proposal(choice_index const& c) {
  bool made = false;
  program_.as_proposed([&] {
    models::indices_of(proposed_shapes()[c.site], c.number, at_);
    tiered_call& call = query(c.site, site_query::is_made, at_);
    call.run();
    made = call.word(0) != 0;
  });
  return made;
}

template <class Program>
bool mutable_trace<Program>::draw(std::span<choice_index const> all, random_key const& key) {
  drawn_.clear(), densities_.clear();
  for (choice_index const& c : all)
    (void)query_call(c.site, site_query::draw); // compile all programs first: that may throw
  try {
    program_.as_proposed([&] {
      model_core::drawing const now(key);
      for (choice_index const& c : all) {
        models::indices_of(proposed_shapes()[c.site], c.number, at_);
        tiered_call& draw = query(c.site, site_query::draw, at_);
        draw.run();
        drawn_.push_back(draw.word(0));
        densities_.push_back(std::bit_cast<double>(draw.word(1)));
      }
    });
  } catch (model_error const&) { // a parameter is outside of its constraint
    return false;
  }
  for (std::size_t k = 0; k < all.size(); ++k) {
    models::indices_of(proposed_shapes()[all[k].site], all[k].number, at_);
    set_in_program(all[k].site, at_, drawn_[k]);
    structure_.was_drawn(all[k], densities_[k]);
  }
  return true;
}

template <class Program>
void mutable_trace<Program>::reject_late_appearance(choice_index const& c) {
  if (!structure_.precedes_drawn(c, proposed_shapes())) return;
  models::indices_of(proposed_shapes()[c.site], c.number, at_);
  throw model_error(message(
      "overdub: while a trace grows the choice %.80s appears, on which appended choices may depend: commit "
      "first what makes it appear, or change the trace by update",
      text_of(address(core_->sites()[c.site].address, at_)).c_str()));
}

template <class Program>
void mutable_trace<Program>::reject_unmade_observations() {
  for (choice_index const& c : growth_.conditional_constraints()) {
    models::indices_of(proposed_shapes()[c.site], c.number, at_);
    bool const was_there = at_.empty() || at_[0] < shapes_[c.site][0];
    bool const vanishes = std::ranges::binary_search(structure_.vanished(), c);
    if (structure_.appears(c) || (was_there && is_made(c.site, at_) && !vanishes)) continue;
    detail::site_constraints::throw_unmade(*core_, address(core_->sites()[c.site].address, at_));
  }
}

template <class Program>
void mutable_trace<Program>::end_growth() {
  shapes_ = growth_.shapes();
  for (choice_index const& c : growth_.observed()) {
    indices_of(c.site, c.number, at_);
    observed_.observe(c, is_made(c.site, at_));
  }
  growth_.clear();
}

template <class Program>
Program mutable_trace<Program>::program_of(trace const& t) {
  std::vector<datum> inputs = t.arguments();
  inputs.insert(inputs.end(), t.values().begin(), t.values().end());
  if constexpr (is_incremental)
    return Program(t.core().update_programs(), inputs);
  else
    return Program(t.core().code_of_score(), inputs);
}

template class site_choices<followed_trace>;
template class site_choices<reexecuted_trace>;
template class mutable_trace<incremental_program>;
template class mutable_trace<reexecuted_program>;

} // namespace overdub::models
