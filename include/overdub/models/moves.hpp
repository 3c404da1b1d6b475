// Transition kernels of a mutable trace, which leave the posterior invariant. Most update one choice at a time. The library has them for
// both mutable traces; define_moves.hpp defines them for others.
#pragma once

#include <overdub/models/mutable_trace.hpp>
#include <overdub/random.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::models {

/// Counts of the proposals of kernels.
struct move_record {
  std::uint64_t proposed = 0, accepted = 0;
  std::uint64_t undefined = 0; ///< proposals whose density is NaN, which are rejected
  std::uint64_t ties = 0;      ///< decisions that rounding of the weight could reverse
  std::uint64_t divergent = 0; ///< trajectories of Hamiltonian moves whose energy error was too large

  move_record& operator+=(move_record const& other) {
    proposed += other.proposed;
    accepted += other.accepted;
    undefined += other.undefined;
    ties += other.ties;
    divergent += other.divergent;
    return *this;
  }
  double acceptance() const {
    return proposed == 0 ? 1 : static_cast<double>(accepted) / static_cast<double>(proposed);
  }
};

namespace detail {

/// The Metropolis-Hastings decision for a proposal of this weight. The score's magnitude bounds the rounding error of the weight.
bool accepts(double weight, double score, random_generator& g, move_record& record);

// Throws model_error where a move does not fit a site.
void reject_unless(bool fits, site const& s, char const* why);

} // namespace detail

/// gibbs("z"): draws each choice of a site from its full conditional distribution, which has a finite support (Geman and Geman 1984). A
/// step evaluates a proposal for each value. Throws model_error if a value changes which other choices are made, and for more than
/// `maximum_values` values.
class gibbs {
public:
  static constexpr i64 maximum_values = 1 << 20;

  explicit gibbs(std::string address) : address_(std::move(address)) {}
  selection moved() const { return {address(address_)}; }

  template <class Trace>
  void operator()(Trace& t, random_key const& key, move_record& record);

private:
  template <class Trace>
  std::pair<i64, i64> bounds_of(Trace& t, std::uint32_t s);
  template <class Trace>
  void step(
      Trace& t, std::uint32_t s, std::pair<i64, i64> const& bounds, random_key const& key,
      move_record& record);

  std::string address_;
  std::vector<i64> at_;
  std::vector<double> weights_;
};

/// random_walk("mu", 0.5): random-walk Metropolis for each choice of a site, with normal steps of this standard deviation (Metropolis
/// 1953). During the warm-up, adaptation n adds the deviation of the acceptance rate from 44 %, divided by sqrt(n), to the logarithm of the
/// standard deviation (Roberts and Rosenthal, Examples of Adaptive MCMC, 2009).
class random_walk {
public:
  explicit random_walk(std::string address, double sd = 1);
  selection moved() const { return {address(address_)}; }

  template <class Trace>
  void operator()(Trace& t, random_key const& key, move_record& record);
  void adapt(std::size_t);
  double sd() const { return sd_; }

private:
  std::string address_;
  double sd_, acceptance_ = 0.44;
  bool moved_ = false;
  std::size_t adapted_ = 0; // the number of adaptations
  std::vector<i64> at_;
};

/// from_prior("mu"): draws a proposal for each choice of a site from its distribution given the choices on which that depends, with a
/// Metropolis-Hastings decision, like `regenerate` of one choice.
class from_prior {
public:
  explicit from_prior(std::string address) : address_(std::move(address)) {}
  selection moved() const { return {address(address_)}; }

  template <class Trace>
  void operator()(Trace& t, random_key const& key, move_record& record);

private:
  std::string address_;
  std::vector<i64> at_;
};

/// elliptical_slice("f"): elliptical slice sampling of all choices of a site at once (Murray, Adams and MacKay 2010). Their distributions
/// must be normal, with means and standard deviations that do not depend on other choices of the site; therefore the site must not be
/// nested in a loop. It needs no gradient and no step size.
class elliptical_slice {
public:
  explicit elliptical_slice(std::string address) : address_(std::move(address)) {}
  selection moved() const { return {address(address_)}; }

  template <class Trace>
  void operator()(Trace& t, random_key const& key, move_record& record);

private:
  static void reject_loops(model_core const& m, std::uint32_t s);
  template <class Trace>
  void set(Trace& t, std::uint32_t s, std::span<double const> x);

  std::string address_;
  std::vector<i64> at_;
  std::vector<std::size_t> moved_;          // the positions of choices that are made and not observed
  std::vector<double> all_, x_, mean_, sd_; // all_ is by position; the others are by element of moved_
};

/// metropolis(f): a custom proposal (Hastings 1970). f(t, key) sets choices of the trace, and returns log q(old | new) - log q(new | old);
/// a commit in f throws model_error. Proposals that f rolls back are not counted. If the proposal makes choices that the old trace does not
/// have, and f sets them, q(new | old) includes their density. For each choice that only the old trace has, the result includes the log
/// density of f's reverse proposal of it minus that of its distribution. `mcmc` cannot determine which choices f sets, and does not
/// check that each choice has a kernel.
template <class F>
class metropolis {
public:
  explicit metropolis(F f) : f_(std::move(f)) {}

  template <class Trace>
  void operator()(Trace& t, random_key const& key, move_record& record) {
    double const correction = t.without_commits([&] { return f_(t, key); });
    random_generator g(key.at("accept"));
    if (detail::accepts(t.propose(key) + correction, t.score(), g, record))
      t.commit();
    else
      t.rollback();
  }

private:
  F f_;
};

} // namespace overdub::models
