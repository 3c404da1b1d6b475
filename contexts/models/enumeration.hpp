// enumerate: the exact posterior of a model with few, discrete choices.
#pragma once

#include <overdub/contexts/models/changing_trace.hpp>
#include <overdub/contexts/models/mcmc.hpp>
#include <overdub/contexts/models/model.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {

/// All values of choices that were not observed, with their probabilities.
class enumeration {
public:
  /// The logarithm of the probability of the observations.
  double log_evidence() const { return log_evidence_; }
  /// How many assignments have a probability above 0.
  std::size_t size() const { return size_; }
  /// The probability of a value at an address, given the observations. Throws model_error for what was not enumerated.
  double probability(address const& at, i64 value) const {
    auto const found = marginals_.find(at);
    if (found == marginals_.end())
      throw model_error(
          message("overdub: no choice at the address %.100s was enumerated", text_of(at).c_str()));
    auto const x = found->second.find(value);
    return x == found->second.end() ? 0 : x->second;
  }
  /// By address and value.
  std::map<address, std::map<i64, double>> const& marginals() const { return marginals_; }

private:
  friend class enumerator;
  double log_evidence_ = -std::numeric_limits<double>::infinity();
  std::size_t size_ = 0;
  std::map<address, std::map<i64, double>> marginals_;
};

// Goes through all assignments, the last choice fastest; each changes one choice of the one before.
class enumerator {
public:
  enumerator(followed_trace& t, selection const& of, std::size_t most) : t_(t), most_(most) {
    for (std::uint32_t s = 0; s < t.core().sites().size(); ++s) {
      site const& each = t.core().sites()[s];
      for (std::size_t k = 0; k < t.size(s); ++k) {
        choice c{s, {}, 0};
        t.indices_of(s, k, c.at);
        if (of.contains(each.address, c.at)) choices_.push_back(std::move(c));
      }
    }
  }

  enumeration run() {
    visit(0);
    enumeration e;
    double most = -std::numeric_limits<double>::infinity();
    for (outcome const& o : all_) most = std::max(most, o.log_probability);
    if (all_.empty()) return e;
    double total = 0;
    for (outcome const& o : all_) total += std::exp(o.log_probability - most);
    e.log_evidence_ = most + std::log(total);
    e.size_ = all_.size();
    for (outcome const& o : all_)
      for (std::size_t k = 0; k < choices_.size(); ++k)
        e.marginals_[address(t_.core().sites()[choices_[k].site].address, choices_[k].at)][o.values[k]] +=
            std::exp(o.log_probability - e.log_evidence_);
    return e;
  }

private:
  struct choice {
    std::uint32_t site;
    std::vector<i64> at;
    i64 value;
  };
  struct outcome {
    std::vector<i64> values;
    double log_probability;
  };

  void visit(std::size_t depth) {
    if (depth == choices_.size()) {
      double const score = t_.score();
      if (std::isnan(score))
        throw model_error(message("overdub: an assignment has a probability that is NaN: a parameter of a "
                                  "distribution is not allowed there"));
      if (score == -std::numeric_limits<double>::infinity()) return;
      if (all_.size() == most_)
        throw model_error(message(
            "overdub: there are more than %zu assignments of the choices: enumerate fewer, or sample",
            most_));
      outcome o{{}, score};
      for (choice const& c : choices_) o.values.push_back(c.value);
      all_.push_back(std::move(o));
      return;
    }
    choice& c = choices_[depth];
    bound_call& bounds = t_.about(c.site, site_question::bounds, c.at);
    bounds.run();
    auto const low = static_cast<i64>(bounds.word(0)), high = static_cast<i64>(bounds.word(1));
    for (i64 x = low; x <= high; ++x) {
      c.value = x;
      t_.set_bits(c.site, c.at, static_cast<std::uint64_t>(x));
      t_.commit();
      visit(depth + 1);
    }
  }

  followed_trace& t_;
  std::size_t most_;
  std::vector<choice> choices_;
  std::vector<outcome> all_;
};

/// The exact posterior of the choices that are not observed, which have finitely many values. Throws model_error for others, for choices
/// in branches, and where there are more than so many assignments. An update for each assignment; memory: that of all.
template <class Result, class... A>
enumeration enumerate(
    generative_function<Result, A...> const& m, choice_map const& observed, std::size_t most = 1'000'000) {
  trace const start = m.generate(observed, random_key(0)).of;
  selection given;
  for (auto const& [at, x] : observed) given.add(at);
  for (std::uint32_t s = 0; s < m.sites().size(); ++s)
    if (!m.sites()[s].is_discrete() && given.extent(m.sites()[s].address) < 1)
      throw model_error(message(
          "overdub: the choice \"%s\" is continuous, and cannot be enumerated; observe it",
          m.sites()[s].address.c_str()));
  followed_trace t(start);
  return enumerator(t, !given, most).run();
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models
