// An ordinary application, which knows nothing of overdub: it prices a portfolio of options by binomial trees, and orders it by price.
// It is included once for each namespace APPLICATION.
#include "tree.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace APPLICATION {

class payoff {
public:
  virtual ~payoff() = default;
  virtual double at(double spot) const = 0;
};
class call_payoff : public payoff {
public:
  explicit call_payoff(double strike) : strike_(strike) {}
  double at(double spot) const override { return std::max(spot - strike_, 0.0); }

private:
  double strike_;
};
class put_payoff : public payoff {
public:
  explicit put_payoff(double strike) : strike_(strike) {}
  double at(double spot) const override { return std::max(strike_ - spot, 0.0); }

private:
  double strike_;
};

class market {
public:
  market(double spot, double rate, double volatility) : spot_(spot), rate_(rate), volatility_(volatility) {}
  double spot() const { return spot_; }
  double up_factor(double years) const { return std::exp(volatility_ * std::sqrt(years)); }
  double discount(double years) const { return std::exp(-rate_ * years); }

private:
  double spot_, rate_, volatility_;
};

struct option {
  std::string name;
  double years;
  std::unique_ptr<payoff> pays;
};

class pricer {
public:
  pricer(market const& m, int steps) : market_(m), steps_(steps) {}
  double price(option const& o) const {
    double const step = o.years / steps_, up = market_.up_factor(step), discount = market_.discount(step);
    std::vector<double> values = leaves(o, up);
    return value_at_root(values.data(), steps_, (1 / discount - 1 / up) / (up - 1 / up), discount);
  }

private:
  std::vector<double> leaves(option const& o, double up) const {
    std::vector<double> values;
    double spot = market_.spot() * std::pow(up, -steps_);
    for (int i = 0; i <= steps_; ++i, spot *= up * up) values.push_back(o.pays->at(spot));
    return values;
  }
  market market_;
  int steps_;
};

class portfolio {
public:
  explicit portfolio(int options) {
    for (int i = 0; i < options; ++i) {
      double const strike = 80 + 4 * i;
      if (i % 2 == 0)
        options_.push_back(
            {"call " + std::to_string(i), 0.5 + 0.1 * i, std::make_unique<call_payoff>(strike)});
      else
        options_.push_back({"put " + std::to_string(i), 0.5 + 0.1 * i, std::make_unique<put_payoff>(strike)});
    }
  }
  /// The sum of the prices, and the name of the most expensive option.
  std::pair<double, std::string> total(pricer const& by) const {
    std::vector<std::pair<double, option const*>> prices;
    for (option const& o : options_) prices.emplace_back(by.price(o), &o);
    std::sort(prices.begin(), prices.end(), [](auto const& a, auto const& b) { return a.first > b.first; });
    double sum = 0;
    for (auto const& [price, o] : prices) sum += price;
    return {sum, prices.front().second->name};
  }

private:
  std::vector<option> options_;
};

} // namespace APPLICATION
