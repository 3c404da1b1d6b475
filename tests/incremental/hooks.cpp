// Laws of hooks in incremental functions: the calls that hooks observe in a proposal are among those of a run with the new inputs, and
// include all that a run with the old inputs does not have; values are those of runs.
#include "catch.hpp"
#include "contexts/executors.hpp"

#include <overdub/incremental.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <random>
#include <tuple>
#include <vector>

namespace {

namespace od = overdub;
using numbers = od::array<double>;

using events = std::vector<std::tuple<char, double, double>>;
struct observing_calls : od::context {
  events observed;
  void before(od::sin_t, double x) { observed.emplace_back('s', x, 0.0); }
  void before(od::mul_t, double x, double y) { observed.emplace_back('m', x, y); }
  void after(od::max_t, double, double x, double y) { observed.emplace_back('M', x, y); }
};
// Observes additions, too, so that sums are computed element by element.
struct observing_sums : observing_calls {
  using observing_calls::before;
  void before(od::add_t, double x, double y) { observed.emplace_back('a', x, y); }
};

inline constexpr auto windows = od::fn<"windows">([](auto const& xs, auto a) {
  return od::sum(od::map([&](auto i) { return sin(xs[i]) * xs[i + 1] * a; }, od::iota(od::size(xs) - 1)));
});
inline constexpr auto largest = od::fn<"largest">([](auto const& xs, auto a) {
  return a * od::reduce(od::max, 0.0, od::map([](auto x) { return sin(x) * x; }, xs));
});
inline constexpr auto recurrence = od::fn<"recurrence">([](auto const& xs, auto a) {
  auto const [last, all] =
      od::loop(od::size(xs), std::tuple(0.0 * a, 0.0 * a), [&](auto i, auto const& carried) {
        auto const& [x, y] = carried;
        return std::tuple(sin(x * 0.5 + xs[i]), y + x * a);
      });
  return last + all;
});
inline constexpr auto branches = od::fn<"branches">([](auto const& xs, auto a) {
  auto const each = [&](auto x) {
    return od::if_(
        x > a, [&] { return sin(x) * x; }, [&] { return x * 0.25; });
  };
  return od::if_(
      a > 0.0, [&] { return od::sum(od::map(each, xs)); }, [&] { return sin(a) * xs[0]; });
});
inline constexpr auto nested = od::fn<"nested">([](auto const& xs, auto a) {
  auto const row = [&](auto i) { return od::sum(od::map([&](auto x) { return sin(x) * xs[i]; }, xs)); };
  return od::sum(od::map([&](auto i) { return row(i) * a; }, od::iota(od::size(xs))));
});

template <class Context, class F>
events told_by_run(F const& f, numbers const& xs, double a) {
  Context c;
  (void)od::run(c, f, xs, a);
  std::ranges::sort(c.observed);
  return std::move(c.observed);
}

template <class Context, class F>
void check(od::compile_options const& o, F const& f, std::uint32_t seed) {
  std::mt19937 random(seed);
  auto const number = [&] { return std::uniform_real_distribution(-2.0, 2.0)(random); };
  Context c;
  std::vector<double> xs;
  for (int i = 0; i < 6; ++i) xs.push_back(number());
  double a = number();
  auto followed = od::incremental(o, c, f, xs, a);
  std::ranges::sort(c.observed);
  CHECK(c.observed == told_by_run<Context>(f, numbers::copy_of(xs), a));
  for (int update = 0; update < 30; ++update) {
    events const before = told_by_run<Context>(f, numbers::copy_of(xs), a);
    std::vector<double> const old_xs = xs;
    double const old_a = a;
    for (auto times = random() % 3 + 1; times > 0; --times) {
      if (random() % 4 == 0) {
        followed.template set<1>(a = number());
      } else if (random() % 6 == 0) {
        followed.template append<0>(xs.emplace_back(number()));
      } else {
        auto const at = random() % xs.size();
        followed.template set_at<0>(static_cast<od::i64>(at), xs[at] = number());
      }
    }
    c.observed.clear();
    double const value = followed.propose();
    CHECK(value == Approx(od::run(Context(), f, numbers::copy_of(xs), a)).epsilon(1e-12).margin(1e-12));
    std::ranges::sort(c.observed);
    events const now = told_by_run<Context>(f, numbers::copy_of(xs), a);
    events fresh;
    std::ranges::set_difference(now, before, std::back_inserter(fresh));
    INFO(F::name() << ", seed " << seed << ", update " << update << "\n" << followed.explain());
    CHECK(std::ranges::includes(now, c.observed));
    CHECK(std::ranges::includes(c.observed, fresh));
    if (random() % 3 == 0) {
      followed.rollback();
      xs = old_xs;
      a = old_a;
    } else {
      followed.commit();
    }
  }
}

template <class Context, class... F>
void check_all(F const&... f) {
  for (od::compile_options const& o : executors())
    for (std::uint32_t seed = 1; seed <= 4; ++seed) (check<Context>(o, f, seed), ...);
}

} // namespace

TEST_CASE("hooks observe in a proposal a part of the calls of a new run, with all calls that an old run does "
          "not have") {
  check_all<observing_calls>(windows, largest, recurrence, branches, nested);
}

TEST_CASE("the same holds where additions are observed") {
  check_all<observing_sums>(windows, largest, recurrence, branches);
}
