// The application of plain.hpp, generic over its numbers T, which contexts follow.
#pragma once

#include <overdub/overdub.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace generic {

namespace od = overdub;

template <class T>
class payoff {
public:
  virtual ~payoff() = default;
  virtual T at(T spot) const = 0;
};
template <class T>
class call_payoff : public payoff<T> {
public:
  explicit call_payoff(double strike) : strike_(strike) {}
  T at(T spot) const override { return od::max(spot - strike_, T(0)); }

private:
  double strike_;
};
template <class T>
class put_payoff : public payoff<T> {
public:
  explicit put_payoff(double strike) : strike_(strike) {}
  T at(T spot) const override { return od::max(strike_ - spot, T(0)); }

private:
  double strike_;
};

template <class T>
class market {
public:
  market(T spot, T rate, T volatility) : spot_(spot), rate_(rate), volatility_(volatility) {}
  T spot() const { return spot_; }
  T up_factor(double years) const { return std::exp(volatility_ * std::sqrt(years)); }
  T discount(double years) const { return std::exp(-rate_ * years); }

private:
  T spot_, rate_, volatility_;
};

template <class T>
struct option {
  std::string name;
  double years;
  std::unique_ptr<payoff<T>> pays;
};

template <class T>
T value_at_root(T* values, int steps, T const& probability_up, T const& discount) {
  T const up = discount * probability_up, down = discount * (1 - probability_up);
  for (int step = steps; step > 0; --step)
    for (int i = 0; i < step; ++i) values[i] = up * values[i + 1] + down * values[i];
  return values[0];
}

template <class T>
class pricer {
public:
  pricer(market<T> const& m, int steps) : market_(m), steps_(steps) {}
  T price(option<T> const& o) const {
    double const step = o.years / steps_;
    T const up = market_.up_factor(step), discount = market_.discount(step);
    std::vector<T> values = leaves(o, up);
    return value_at_root<T>(values.data(), steps_, (1 / discount - 1 / up) / (up - 1 / up), discount);
  }

private:
  std::vector<T> leaves(option<T> const& o, T up) const {
    std::vector<T> values;
    T spot = market_.spot() * std::pow(up, -steps_);
    for (int i = 0; i <= steps_; ++i, spot *= up * up) values.push_back(o.pays->at(spot));
    return values;
  }
  market<T> market_;
  int steps_;
};

template <class T>
class portfolio {
public:
  explicit portfolio(int options) {
    for (int i = 0; i < options; ++i) {
      double const strike = 80 + 4 * i;
      if (i % 2 == 0)
        options_.push_back(
            {"call " + std::to_string(i), 0.5 + 0.1 * i, std::make_unique<call_payoff<T>>(strike)});
      else
        options_.push_back(
            {"put " + std::to_string(i), 0.5 + 0.1 * i, std::make_unique<put_payoff<T>>(strike)});
    }
  }
  /// The sum of the prices, and the name of the most expensive option.
  std::pair<T, std::string> total(pricer<T> const& by) const {
    std::vector<std::pair<T, option<T> const*>> prices;
    for (option<T> const& o : options_) prices.emplace_back(by.price(o), &o);
    std::sort(prices.begin(), prices.end(), [](auto const& a, auto const& b) { return a.first > b.first; });
    T sum = 0;
    for (auto const& [price, o] : prices) sum += price;
    return {sum, prices.front().second->name};
  }

private:
  std::vector<option<T>> options_;
};

template <int Options, int Steps>
inline constexpr auto total = od::fn<"total">([](auto spot, auto rate, auto volatility) {
  using T = decltype(spot);
  return portfolio<T>(Options).total(pricer<T>({spot, rate, volatility}, Steps)).first;
});

} // namespace generic
