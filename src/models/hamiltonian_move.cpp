#include <overdub/inference/nuts.hpp>
#include <overdub/models/conditional_density.hpp>
#include <overdub/models/hamiltonian_move.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::models {

// The sampler's target. Copies share the density.
struct no_u_turn::target {
  conditional_density* of;
  std::size_t dimension() const { return of->dimension(); }
  double operator()(std::span<double const> q, std::span<double> gradient) { return (*of)(q, gradient); }
};

struct no_u_turn::state {
  using chain_type = inference::nuts<target, inference::diagonal_metric>;

  template <class Trace>
  state(Trace const& t, std::vector<std::string> const& addresses)
      : core(&t.core()), density(t.shared_core(), sites_at(t.core(), addresses)),
        dimension((density.bind(t), density.dimension())),
        chain({&density}, inference::diagonal_metric(dimension)) {}
  state(state const&) = delete;
  static std::vector<std::uint32_t> sites_at(model_core const& m, std::vector<std::string> const& addresses) {
    std::vector<std::uint32_t> all;
    for (std::string const& a : addresses) all.push_back(m.site_at(a));
    return all;
  }

  // Prepares the step size. The previous transition is learned only now, since find_step_size must run with the present density.
  void prepare(inference::adaptation_settings const& settings, random_generator& g) {
    if (!std::exchange(began, true)) chain.find_step_size(g);
    if (!std::exchange(learned, false)) return;
    if (!adapting) {
      adapting.emplace(chain, warmup, settings);
      adapting->begin(g);
    }
    adapting->learn(acceptance, g);
    if (is_last) adapting->finish();
  }

  model_core const* core;
  conditional_density density;
  std::size_t dimension;
  chain_type chain;
  std::optional<inference::adaptation<chain_type, inference::diagonal_metric>> adapting;
  double acceptance = 0; // of the last transition
  bool began = false, learned = false, is_last = false;
  std::size_t warmup = 0;
};

no_u_turn::no_u_turn(
    std::initializer_list<std::string> addresses, inference::adaptation_settings const& adaptation)
    : addresses_(addresses), settings_(adaptation) {
  if (addresses_.empty())
    throw model_error(message("overdub: no_u_turn moves no choice: name the sites that it moves"));
}
no_u_turn::no_u_turn(no_u_turn const& other) : addresses_(other.addresses_), settings_(other.settings_) {}
no_u_turn::no_u_turn(no_u_turn&&) noexcept = default;
no_u_turn::~no_u_turn() = default;

selection no_u_turn::moved() const {
  selection all;
  for (std::string const& a : addresses_) all.add(a);
  return all;
}

template <class Trace>
void no_u_turn::operator()(Trace& t, random_key const& key, move_record& record) {
  for (std::string const& a : addresses_) {
    std::uint32_t const s = t.core().site_at(a);
    detail::reject_unless(!t.has_observed(s), t.core().sites()[s], "is observed, and does not move");
  }
  if (state_ != nullptr && state_->core == &t.core()) state_->density.bind(t);
  if (state_ == nullptr || state_->core != &t.core() || state_->density.dimension() != state_->dimension)
    state_ = std::make_unique<state>(t, addresses_);
  state& s = *state_;
  random_generator g(key);
  if (!s.chain.start(s.density.numbers())) throw s.chain.failure();
  s.prepare(settings_, g);
  inference::sampler_statistics const made = s.chain.transition(g);
  s.acceptance = made.accept_statistic;
  ++record.proposed;
  ++record.accepted;
  record.divergent += made.divergent;
  s.density.set(t, s.chain.position());
  t.propose(key);
  bool const has_same_structure = t.keeps_structure();
  if (!has_same_structure) {
    t.rollback();
    detail::reject_unless(
        false, t.core().sites()[t.core().site_at(addresses_[0])],
        "decides with others on which choices are made; move them by random_walk or from_prior");
  }
  t.commit();
}

void no_u_turn::adapt(std::size_t iteration, std::size_t warmup) {
  if (state_ == nullptr) return;
  state_->learned = true;
  state_->warmup = warmup;
  state_->is_last = iteration + 1 == warmup;
}
double no_u_turn::step_size() const { return state_ == nullptr ? 0 : state_->chain.step_size(); }

template void no_u_turn::operator()(followed_trace&, random_key const&, move_record&);
template void no_u_turn::operator()(reexecuted_trace&, random_key const&, move_record&);

} // namespace overdub::models
