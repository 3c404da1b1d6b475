// Hooks run when a staged program runs, with the values of that run, as in direct runs.
#include "catch.hpp"
#include "laws/functions.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/stage/evaluate.hpp>

#include <boost/hana/define_struct.hpp>

#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace overdub;

constexpr auto difference = fn<"difference">([](auto x, auto y) {
  auto const a = functions::square(x);
  auto const b = functions::square(y);
  return a - b;
});
constexpr auto checked = leaf<"checked">([](double x) {
  if (x < 0) throw std::domain_error("negative");
  return x;
});
constexpr auto root = fn<"root">([](auto x) {
  auto const y = checked(x);
  return overdub::sqrt(y);
});
constexpr auto halves = fn<"halves">([](auto x) -> std::tuple<decltype(x), decltype(x)> {
  auto const y = x * 0.5;
  return {y, x - 1.0};
});
constexpr auto with_halves = fn<"with_halves">([](auto x) {
  auto const [y, z] = halves(x);
  auto const w = functions::square(y);
  return w * z;
});

constexpr auto applied = fn<"applied">([](auto const& f, auto x) { return f(x); });
constexpr auto squares = fn<"squares">([](auto xs) {
  auto const all = map(functions::square, xs);
  return applied(functions::square, reduce(mul, all));
});
struct names_functions_given : context {
  std::vector<std::string> seen;
  void before(map_t, decltype(functions::square), auto const&...) { seen.emplace_back("map square"); }
  void before(reduce_t, mul_t, auto const&...) { seen.emplace_back("reduce mul"); }
  void before(decltype(applied), decltype(functions::square) f, auto const&) {
    seen.push_back("applied " + std::string(f.name()));
  }
};

struct moving {
  BOOST_HANA_DEFINE_STRUCT(moving, (double, mass), (double, speed));
};
constexpr auto momentum = fn<"momentum">([](auto b) {
  auto const mass = field<&moving::mass>(b);
  return mass * field<&moving::speed>(b);
});
constexpr auto of_struct = fn<"of_struct">([](auto x) {
  auto const b = make<moving>(x, 2.0 * x);
  return momentum(b);
});
struct observes_struct : context {
  std::vector<double> seen;
  void before(decltype(momentum), moving const& b) { seen = {b.mass, b.speed}; }
};

} // namespace

TEST_CASE("a hook receives a plain struct when a staged program runs") {
  observes_struct c;
  ir::program const p = stage(c, of_struct, signature<double>);
  CHECK(evaluate<double>(p, 3.0) == 18.0);
  CHECK(c.seen == std::vector{3.0, 6.0});
  observes_struct inner;
  ir::program const with_slopes = stage(compose(contexts::forward(), inner), of_struct, signature<double>);
  evaluate<double, double>(with_slopes, 3.0, 1.0);
  CHECK(inner.seen == std::vector{3.0, 6.0});
}

TEST_CASE("a hook that names a function among the arguments runs when a staged program runs") {
  names_functions_given direct, staged;
  array<double> const xs{1.0, 2.0, 3.0};
  double const expected = overdub::run(direct, squares, xs);
  CHECK(evaluate<double>(stage(staged, squares, signature<array<double>>), xs) == expected);
  CHECK(direct.seen == std::vector<std::string>{"map square", "reduce mul", "applied square"});
  CHECK(staged.seen == direct.seen);
}

TEST_CASE("a log of a staged program is the log of the direct run") {
  std::ostringstream direct;
  contexts::log direct_log(direct);
  overdub::overdub(direct_log, difference, 3.0, 2.0);

  std::ostringstream staged;
  contexts::log staged_log(staged);
  ir::program const p = stage(staged_log, difference, signature<double, double>);
  CHECK(staged.str().empty());
  CHECK(evaluate<double>(p, 3.0, 2.0) == 5.0);
  CHECK(staged.str() == direct.str());
}

TEST_CASE("hooks receive the arguments and results of derived functions of an outer context with metadata, "
          "staged") {
  std::ostringstream direct;
  contexts::log direct_log(direct);
  overdub::overdub(compose(contexts::forward(), direct_log), with_halves, tag(3.0, 1.0));
  std::ostringstream staged;
  contexts::log staged_log(staged);
  ir::program const p = stage(compose(contexts::forward(), staged_log), with_halves, signature<double>);
  evaluate<double, double>(p, 3.0, 1.0);
  CHECK(direct.str().find("halves.forward(3)") != std::string::npos);
  auto const functions_of = [](std::string const& text) {
    std::string all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (line.find("forward(") != std::string::npos || line.find("= (") != std::string::npos)
        all += line + '\n';
    return all;
  };
  CHECK(functions_of(staged.str()) == functions_of(direct.str()));
}

TEST_CASE("calls are counted in each run of a staged program") {
  contexts::count direct;
  overdub::overdub(direct, functions::nested_loop, 1.5);
  contexts::count staged;
  ir::program const p = stage(staged, functions::nested_loop, signature<double>);
  CHECK(staged.calls() == 0);
  evaluate<double>(p, 1.5);
  CHECK(staged.functions == direct.functions);
  CHECK(staged.primitives == direct.primitives);
  evaluate<double>(p, 2.5);
  CHECK(staged.calls() == 2 * direct.calls());
}

TEST_CASE("a hook observes an exception, which propagates") {
  std::ostringstream direct;
  contexts::log direct_log(direct);
  CHECK_THROWS_AS(overdub::overdub(direct_log, root, -1.0), std::domain_error);
  std::ostringstream staged;
  contexts::log staged_log(staged);
  ir::program const p = stage(staged_log, root, signature<double>);
  CHECK_THROWS_AS(evaluate<double>(p, -1.0), std::domain_error);
  CHECK(staged.str() == direct.str());
}

TEST_CASE("a leaf runs when the program runs, and the program is bound to it") {
  ir::program const p = stage(root, signature<double>);
  CHECK(evaluate<double>(p, 9.0) == 3.0);
  CHECK_THROWS_AS(evaluate<double>(p, -9.0), std::domain_error);
}
