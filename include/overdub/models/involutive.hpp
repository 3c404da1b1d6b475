// involutive: involutive MCMC as a transition kernel: involutive_move of a mutable trace.
#pragma once

#include <overdub/models/choice_transform.hpp>
#include <overdub/models/moves.hpp>
#include <overdub/models/mutable_trace.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace overdub::models {

/// A view of the choices of a mutable trace, committed or proposed, on which an auxiliary model may depend. It refers to the trace, and is
/// valid until the next commit or rollback.
template <class Trace>
class choices_now {
public:
  choices_now(Trace const& t, bool is_proposed) : of_(t), is_proposed_(is_proposed) {}

  /// A choice, by an address with all indices. Throws model_error where it is not made.
  template <class T>
  T get(address const& at) const {
    datum const x = find(at);
    if (!x)
      throw model_error(message("overdub: there is no choice at the address %.100s", text_of(at).c_str()));
    return detail::choice_as<T>(at, x);
  }
  bool contains(address const& at) const { return static_cast<bool>(find(at)); }
  datum find(address const& at) const { return find_one(at); }
  datum find_one(address const& at) const {
    if (!is_proposed_) return of_.find_one(at);
    std::uint32_t const s = of_.core().site_at(at.site);
    bool const is_one = at.indices.size() == of_.shape(s).size() && is_inside(of_.shape(s), at.indices);
    return is_one && of_.is_proposed(s, at.indices) ? of_.choice(s, at.indices) : datum();
  }

private:
  Trace const& of_;
  bool is_proposed_;
};

/// involutive(auxiliary_of, involution): the step of `involutive_move`, evaluated incrementally. The argument of `auxiliary_of` is a
/// `choices_now`. `mcmc` does not know which choices it updates, and does not check that each choice has a kernel. Throws the model_errors
/// of `involutive_move` for a transform that is no bijection; only `involutive_move` can check that a function is its own inverse.
template <class Auxiliary, class F>
class involutive {
public:
  involutive(Auxiliary auxiliary_of, F involution)
      : auxiliary_of_(std::move(auxiliary_of)), involution_(std::move(involution)) {}

  template <class Trace>
  void operator()(Trace& t, random_key const& key, move_record& record) {
    using detail::model_side;
    choices_now<Trace> const now(t, false);
    auto const auxiliary = auxiliary_of_(now).simulate(key.at("proposal"));
    detail::transformed const forward(involution_, now, auxiliary);
    forward.reject_unused_auxiliary(auxiliary);
    proposal<Trace> const open(t);
    t.set(forward.model());
    for (auto const& [at, ignored] : forward.model())
      if (datum const x = now.find(at)) forward.reject_unused({model_side, at}, x);
    double weight = t.propose();
    if (weight > -std::numeric_limits<double>::infinity()) {
      choices_now<Trace> const next(t, true);
      for (auto const& [where, ignored] : forward.model())
        if (!next.contains(where))
          throw model_error(message(
              "overdub: the transform writes the choice %.80s, which the model does not make then",
              text_of(where).c_str()));
      choice_map lost = forward.model();
      std::vector<i64> at;
      for (choice_index const& c : t.vanished()) {
        t.indices_of(c.site, c.number, at);
        address const where(t.core().sites()[c.site].address, at);
        datum const x = now.find(where);
        forward.reject_unused({model_side, where}, x);
        lost.set(where, x);
      }
      weight = t.proposed_difference() - auxiliary.score() +
               forward.log_determinant([&](address const& each) { return lost.contains(each); });
      t.as_proposed([&] { weight += auxiliary_of_(next).assess(forward.auxiliary()).score(); });
    }
    random_generator g(key.at("accept"));
    if (detail::accepts(weight, t.score(), g, record)) t.commit();
  }

private:
  // Rolls back unless the proposal was committed.
  template <class Trace>
  class proposal {
  public:
    explicit proposal(Trace& t) : of_(t) {}
    proposal(proposal const&) = delete;
    proposal& operator=(proposal const&) = delete;
    ~proposal() { of_.rollback(); }

  private:
    Trace& of_;
  };

  Auxiliary auxiliary_of_;
  F involution_;
};

} // namespace overdub::models
