// Run by clang: each family is staged and rewritten in contexts.
//
// Staged, interpreted, optimised and compiled to machine code, densities and transforms equal those of C++ bit for bit; and distributions
// are values of functions, branches, loops and maps.
#include "catch.hpp"
#include "property.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/distributions.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/special.hpp>
#include <overdub/stage/stage.hpp>
#if OVERDUB_TESTS_JIT
#include <overdub/jit/jit.hpp>
#endif

#include <cmath>
#include <concepts>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
using od::i64;
using vector = od::array<double>;

// Runs a function with each executor.
template <class R, class... A>
struct ways {
  std::vector<od::executable> all;

  template <class F>
  explicit ways(F const& f) {
    od::ir::program p = od::stage(f, od::signature<A...>);
    all.emplace_back(p);
    od::pass::default_pipeline(p);
    all.emplace_back(p);
#if OVERDUB_TESTS_JIT
    all.push_back(od::jit::compile(p));
#endif
  }
  template <class F>
  bool agree(F const& f, A const&... a) const {
    R const direct = f(a...);
    for (od::executable const& run : all)
      if (!equal(run.call<R>(a...), direct)) return false;
    return true;
  }

private:
  static bool equal(double a, double b) { return same_bits(a, b); }
  static bool equal(vector const& a, vector const& b) {
    bool same = a.size() == b.size();
    for (i64 i = 0; same && i < a.size(); ++i) same = equal(a[i], b[i]);
    return same;
  }
};

template <class Family>
inline constexpr auto density_of = od::fn<"density">([](auto x, auto... p) {
  return Family::log_density(x, p...);
});

template <class T>
T some() {
  if constexpr (std::same_as<T, vector>) {
    std::vector<double> xs;
    for (int i = *rc::gen::inRange(1, 5); i > 0; --i) xs.push_back(between(0.01, 3));
    return vector::copy_of(xs);
  } else if constexpr (std::same_as<T, double>) {
    int const kind = *rc::gen::inRange(0, 6);
    return kind == 0 ? any<double>() : kind < 3 ? between(0, 1) : between(-2, 40);
  } else if constexpr (std::same_as<T, i64>)
    return *rc::gen::inRange<i64>(-1, 30);
  else
    return any<T>();
}
template <class F, class... A>
void always_agree(F const& f, od::detail::type_is<std::tuple<A...>>) {
  ways<double, A...> const all(f);
  property([&] {
    std::tuple<A...> const a{some<A>()...}; // the arguments in order
    RC_ASSERT(std::apply([&](auto const&... each) { return all.agree(f, each...); }, a));
  });
}
template <class... A, class F>
void agrees(F const& f) {
  always_agree(f, od::detail::type_is<std::tuple<A...>>{});
}

} // namespace

TEST_CASE("densities of numbers are the same with every executor") {
  agrees<double, double, double>(density_of<ds::normal_t>);
  agrees<double, double, double, double>(density_of<ds::student_t_t>);
  agrees<double, double, double>(density_of<ds::cauchy_t>);
  agrees<double, double, double>(density_of<ds::lognormal_t>);
  agrees<double, double>(density_of<ds::half_normal_t>);
  agrees<double, double>(density_of<ds::exponential_t>);
  agrees<double, double, double>(density_of<ds::gamma_t>);
  agrees<double, double, double>(density_of<ds::inverse_gamma_t>);
  agrees<double, double, double>(density_of<ds::beta_t>);
  agrees<double, double, double>(density_of<ds::uniform_t>);
}

TEST_CASE("probabilities of integers are the same with every executor") {
  agrees<bool, double>(density_of<ds::bernoulli_t>);
  agrees<i64, double>(density_of<ds::bernoulli_logit_t>);
  agrees<i64, i64, double>(density_of<ds::binomial_t>);
  agrees<i64, i64, double>(density_of<ds::binomial_logit_t>);
  agrees<i64, double>(density_of<ds::poisson_t>);
  agrees<i64, double, double>(density_of<ds::negative_binomial_t>);
  agrees<i64, double>(density_of<ds::geometric_t>);
  agrees<i64, i64, i64>(density_of<ds::discrete_uniform_t>);
  agrees<i64, vector>(density_of<ds::categorical_t>);
  agrees<i64, vector>(density_of<ds::categorical_logit_t>);
}

inline constexpr auto of_mixture = od::fn<"of_mixture">([](auto x, auto w, auto m, auto s) {
  return log_density(ds::mixture(std::tuple(w, 0.5), ds::normal(m, s), ds::exponential(s)), x);
});
inline constexpr auto of_truncated = od::fn<"of_truncated">([](auto x, auto m, auto s, auto low, auto high) {
  return log_density(ds::truncated(ds::normal(m, s), low, high), x) +
         log_density(ds::truncated_above(ds::cauchy(m, s), high), x);
});
inline constexpr auto of_parts = od::fn<"of_parts">([](auto y) {
  auto const x = ds::simplex::constrain(y);
  return log_density(ds::dirichlet(x), x) + ds::simplex::log_abs_det_jacobian(y);
});
inline constexpr auto of_vectors = od::fn<"of_vectors">([](auto x) {
  auto const rows =
      od::map([&](auto i) { return od::update(x, i, od::abs(od::at(x, i))); }, od::iota(od::size(x)));
  return log_density(ds::multivariate_normal(x, rows), x);
});
inline constexpr auto there_and_back =
    od::fn<"there_and_back">([](auto y) { return ds::simplex::unconstrain(ds::simplex::constrain(y)); });

inline constexpr auto of_short_rows = od::fn<"of_short_rows">([](auto x, auto n) {
  auto const rows =
      od::map([&](auto i) { return od::slice(od::update(x, i, 1.0), od::i64{0}, n); }, od::iota(od::size(x)));
  return log_density(ds::multivariate_normal(x, rows), x);
});

TEST_CASE("combinators, arrays and transforms are the same with every executor") {
  agrees<double, double, double, double>(of_mixture);
  agrees<double, double, double, double, double>(of_truncated);
  agrees<vector>(of_parts);
  agrees<vector>(of_vectors);
  ways<double, vector, i64> const of_rows(of_short_rows);
  for (i64 n = 0; n <= 3; ++n) {
    INFO(n);
    CHECK(of_rows.agree(of_short_rows, vector{0.5, 2.0, 1.0}, n));
    CHECK(std::isnan(of_short_rows(vector{0.5, 2.0, 1.0}, n)) == (n < 3));
  }
  double const nan = std::nan("");
  ways<double, vector, vector> const of_dirichlet(density_of<ds::dirichlet_t>);
  CHECK(of_dirichlet.agree(density_of<ds::dirichlet_t>, vector{nan, 0.5}, vector{1, 2}));
  CHECK(of_dirichlet.agree(density_of<ds::dirichlet_t>, vector{0.5, 0.5}, vector{1, 2}));
  ways<double, i64, vector> const of_logits(density_of<ds::categorical_logit_t>);
  ways<double, i64, vector> const of_weights(density_of<ds::categorical_t>);
  CHECK(of_logits.agree(density_of<ds::categorical_logit_t>, i64{0}, vector{}));
  CHECK(of_weights.agree(density_of<ds::categorical_t>, i64{0}, vector{}));
  ways<vector, vector> const all(there_and_back);
  CHECK(all.agree(there_and_back, vector{0.3, -2.0, 700.0, 0.0}));
}

// ---- distributions as values

inline constexpr auto wider = od::fn<"wider">([](auto d) {
  auto const& [mean, sd] = d.parameters;
  return ds::normal(mean, 2.0 * sd);
});
inline constexpr auto travelling = od::fn<"travelling">([](od::scope auto& cx, auto x, auto m) {
  auto const chosen = od::if_(
      x < m, [&] { return ds::normal(m, 1.0 + 0.0 * x); },
      [&] { return wider(ds::normal(m, 1.0 + 0.0 * x)); });
  auto const widest = od::loop(3, chosen, [](auto, auto const& d) { return wider(d); });
  auto const each = cx(
      od::map, [&](auto i) { return ds::normal(od::convert<double>(i) * m, x); }, cx(od::iota, 4));
  auto const all = od::map([&](auto const& d) { return log_density(d, x); }, each);
  return log_density(widest, x) + od::sum(all);
});

TEST_CASE("a distribution is an argument, a result, a loop-carried value, and an element of an array") {
  double sum = log_density(ds::normal(2.0, 16.0), 3.0);
  for (int i = 0; i < 4; ++i) sum += log_density(ds::normal(i * 2.0, 3.0), 3.0);
  CHECK(travelling(3.0, 2.0) == Approx(sum).epsilon(1e-14));
  ways<double, double, double> const all(travelling);
  CHECK(all.agree(travelling, 3.0, 2.0));
  CHECK(all.agree(travelling, 1.0, 2.0));
  double const derivative = od::run(od::contexts::forward{}, travelling, od::tag(3.0, 1.0), 2.0).metadata;
  double const h = 1e-5;
  CHECK(derivative == Approx((travelling(3 + h, 2.0) - travelling(3 - h, 2.0)) / (2 * h)).epsilon(1e-6));
}

struct listen : od::context {
  std::string observed;
  void before(od::function auto f, auto const&...) { observed += std::string(f.name()) + " "; }
};

TEST_CASE("contexts intercept a density as a call, with the variable and the parameters") {
  constexpr auto model = od::fn<"model">([](auto m) { return log_density(ds::normal(m, 1), 2); });
  CHECK(
      od::ir::print(od::stage(model, od::signature<double>)).find("call @normal.log_density(2.0, %0, 1.0)") !=
      std::string::npos);
  listen l;
  CHECK(od::run(l, model, 0.5) == model(0.5));
  CHECK(l.observed == "model normal.log_density ");
  std::ostringstream text;
  text << ds::truncated(ds::normal(0, 1.5), -1, 2) << ' '
       << ds::mixture(std::tuple(1, 2), ds::beta(1, 2), ds::beta(2, 1));
  CHECK(text.str() == "truncated(normal(0, 1.5), -1, 2) mixture((1, 2), beta(1, 2), beta(2, 1))");
}

// ---- a custom family

struct laplace_t : ds::distribution<"laplace", laplace_t> {
  static constexpr std::tuple parameters{
      ds::parameter<ds::reals>{"location"}, ds::parameter<ds::positive_reals>{"scale"}};
  static constexpr ds::reals support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& location, auto const& scale) {
    return -od::abs(x - location) / scale - od::log(2.0 * scale);
  }
  static double draw(auto& g, double location, double scale) {
    return location + scale * (ds::draw_exponential(g) - ds::draw_exponential(g));
  }
};
inline constexpr laplace_t laplace{};

TEST_CASE("a custom family works like the others") {
  auto const d = laplace(1, 2);
  CHECK(log_density(d, 4.0) == -1.5 - std::log(4.0));
  CHECK(log_density(d, ds::infinity) == -ds::infinity);
  CHECK(std::isnan(log_density(laplace(1, -2), 0.0)));
  CHECK_THROWS_WITH(
      check(laplace(1, -2)), "overdub: laplace: scale is -2, and must be finite, and greater than 0");
  agrees<double, double, double>(density_of<laplace_t>);
  double positive = 0;
  for (int i = 0; i < 1000; ++i) positive += draw(d, od::random_key(3).at(i)) > 1;
  CHECK(positive == Approx(500).margin(70));
  CHECK(log_density(ds::mixture(std::tuple(1, 1), d, d), 4.0) == Approx(log_density(d, 4.0)));
}
