#include <overdub/core/floating_point.hpp>
#include <overdub/incremental/cells.hpp>
#include <overdub/models/choice_order.hpp>
#include <overdub/models/enumeration.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace overdub::models {

// Visits all assignments, the last choice fastest. The support of a choice may depend on the choices before it.
class enumerator {
public:
  enumerator(trace const& start, choice_map const& observed, std::size_t maximum)
      : core_(start.core()), arguments_(start.arguments()), maximum_(maximum) {
    for (std::uint32_t s = 0; s < core_.sites().size(); ++s) {
      site const& each = core_.sites()[s];
      if (each.is_conditional || each.has_random_count)
        throw model_error(message(
            "overdub: the choice \"%s\" is nested in a branch, or the number of its choices depends on other "
            "choices; enumerate models that make the same choices in each run",
            each.address.c_str()));
      values_.emplace_back(start.values()[s]);
      start.for_each(s, [&](std::vector<i64> const& at) {
        if (observed.contains(address(each.address, at))) return;
        if (!each.is_discrete() || each.type.rank > 0)
          throw model_error(message(
              "overdub: the choice \"%s\" is continuous, and cannot be enumerated; observe it",
              each.address.c_str()));
        choices_.push_back({s, at, choices_.size(), 0});
      });
    }
    choice_order const order(core_);
    std::ranges::sort(choices_, [&](choice const& a, choice const& b) {
      if (order.is_before(a.site, a.at, b.site, b.at)) return true;
      return !order.is_before(b.site, b.at, a.site, a.at) && a.number < b.number;
    });
  }

  enumeration run() {
    visit(0);
    enumeration e;
    double maximum = -std::numeric_limits<double>::infinity();
    for (outcome const& o : all_) maximum = std::max(maximum, o.log_probability);
    if (all_.empty()) return e;
    double total = 0;
    for (outcome const& o : all_) total += std::exp(o.log_probability - maximum);
    e.log_evidence_ = maximum + std::log(total);
    e.size_ = all_.size();
    for (outcome const& o : all_)
      for (std::size_t k = 0; k < choices_.size(); ++k)
        e.marginals_[address(core_.sites()[choices_[k].site].address, choices_[k].at)][o.values[k]] +=
            std::exp(o.log_probability - e.log_evidence_);
    return e;
  }

private:
  // The values of all choices of a site.
  struct site_values {
    datum number;
    std::optional<increments::cells> array;
    explicit site_values(datum const& d) : number(d) {
      if (d.type().rank == 0) return;
      array.emplace(d.type());
      array->assign(d);
    }
    void set(std::span<i64 const> at, std::uint64_t bits) {
      if (array)
        array->set_bits_at(array->at(at), bits);
      else
        number = datum::of_bits(number.type(), bits);
    }
    datum all() const { return array ? array->as_datum() : number; }
  };
  struct choice {
    std::uint32_t site;
    std::vector<i64> at;
    std::size_t number; // among all choices, site by site
    i64 value;
  };
  struct outcome {
    std::vector<i64> values;
    double log_probability;
  };

  std::vector<datum> values() const {
    std::vector<datum> all;
    for (site_values const& v : values_) all.push_back(v.all());
    return all;
  }
  std::pair<i64, i64> bounds(choice const& c) const {
    std::vector<datum> all = arguments_;
    for (site_values const& v : values_) all.push_back(v.all());
    for (i64 const i : c.at) all.emplace_back(i);
    auto const of = core_.code_of(c.site, site_query::bounds)->run(all);
    return {of[0].as<i64>(), of[1].as<i64>()};
  }
  void visit(std::size_t depth) {
    if (depth == choices_.size()) return score();
    choice& c = choices_[depth];
    auto const [low, high] = bounds(c);
    for (i64 x = low; x <= high; ++x) {
      c.value = x;
      values_[c.site].set(c.at, static_cast<std::uint64_t>(x));
      visit(depth + 1);
      if (x == high) break; // ++x might overflow
    }
  }
  void score() {
    double const log_probability = core_.run(core_.all_in(role::given), arguments_, values()).score;
    if (overdub::is_nan(log_probability))
      throw model_error(message("overdub: an assignment has a probability that is NaN: a parameter of a "
                                "distribution is not allowed there"));
    if (log_probability == -std::numeric_limits<double>::infinity()) return;
    if (all_.size() == maximum_)
      throw model_error(message(
          "overdub: there are more than %zu assignments of the choices: enumerate fewer, or sample",
          maximum_));
    outcome o{{}, log_probability};
    for (choice const& c : choices_) o.values.push_back(c.value);
    all_.push_back(std::move(o));
  }

  model_core const& core_;
  std::vector<datum> arguments_;
  std::size_t maximum_;
  std::vector<site_values> values_; // by site
  std::vector<choice> choices_;     // those not observed, in the order of choice_order
  std::vector<outcome> all_;
};

enumeration enumerate_from(trace const& start, choice_map const& observed, std::size_t maximum) {
  return enumerator(start, observed, maximum).run();
}

} // namespace overdub::models

namespace overdub::models {

double enumeration::probability(address const& at, i64 value) const {
  auto const found = marginals_.find(at);
  if (found == marginals_.end())
    throw model_error(
        message("overdub: no choice at the address %.100s was enumerated", text_of(at).c_str()));
  auto const x = found->second.find(value);
  return x == found->second.end() ? 0 : x->second;
}

} // namespace overdub::models
