// What contexts may do in each stage of a compilation, and the events that the cache records.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/compile/transformed.hpp>
#include <overdub/ir/cursor.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace od = overdub;
namespace ir = overdub::ir;
using kind = od::compilation_event::kind;

inline constexpr auto shifted = od::fn<"shifted">([](auto x) { return x + 1.0; });

od::compilation_cache own; // the cache of the context below

struct watching : od::context {
  static constexpr int version = 3;
  int shape = 0;
  int fingerprint() const { return shape; }
  static inline std::vector<std::string> observed;
  static void after_inference(ir::program const& p, int f) {
    observed.push_back("after_inference " + std::to_string(p.functions.size()) + " " + std::to_string(f));
  }
  static void before_optimise(ir::program&) { observed.push_back("before_optimise"); }
  static void after_optimise(ir::program&, int f) {
    observed.push_back("after_optimise " + std::to_string(f));
  }
  static void options(od::compile_options& o) { o.cache = &own; }
};
// Rejects programs with a sine: a compile-time error of the user's.
struct sineless : od::context {
  static void after_inference(ir::program const& p) {
    for (std::uint32_t f = 0; f < p.functions.size(); ++f)
      ir::walk(p.functions[f], ir::function::body, [&](ir::node_id n) {
        if (p.functions[f][n].code == ir::op::sin) throw std::invalid_argument("no sines, please");
      });
  }
};
struct outer : od::context {
  static void before_optimise(ir::program&) { watching::observed.push_back("outer"); }
};

std::vector<std::string> steps(std::vector<od::compilation_event> const& events) {
  std::vector<std::string> all;
  for (auto const& e : events)
    if (e.what == kind::step && e.detail.find(" of ") != std::string::npos)
      all.push_back(e.detail.substr(0, e.detail.find(" of ")));
  return all;
}

} // namespace

TEST_CASE("each stage of a compilation calls the contexts once for a fingerprint, and the log records it") {
  watching::observed.clear();
  own.clear();
  watching c;
  CHECK(od::run(c, shifted, 1.0) == 2.0);
  std::vector<std::string> const stages{"after_inference 1 0", "before_optimise", "after_optimise 0"};
  CHECK(watching::observed == stages);
  CHECK(
      steps(own.events()) ==
      std::vector<std::string>{"after_inference", "before_optimise", "after_optimise"});
  auto const before = own.events().size();
  for (int i = 0; i < 10; ++i) CHECK(od::run(c, shifted, 1.0 + i) == 2.0 + i);
  CHECK(od::compile(c, shifted, od::signature<double>)(1.0) == 2.0);
  CHECK(own.events().size() == before); // no pass ran
  c.shape = 1;
  CHECK(od::run(c, shifted, 1.0) == 2.0);
  CHECK(watching::observed.size() == 6);
  CHECK(own.statistics().compilations == 2);
}

TEST_CASE("the stages of the outer context run first") {
  watching::observed.clear();
  own.clear();
  watching c;
  CHECK(od::run(od::compose(outer{}, c), shifted, 1.0) == 2.0);
  REQUIRE(watching::observed.size() == 4);
  CHECK(watching::observed[0] == "after_inference 1 0");
  CHECK(watching::observed[1] == "outer");
  CHECK(watching::observed[2] == "before_optimise");
}

TEST_CASE("a context may reject a program after type inference") {
  sineless c;
  CHECK(od::run(c, shifted, 1.0) == 2.0);
  auto const wave = od::fn<"wave">([](auto x) { return sin(x); });
  CHECK_THROWS_WITH(od::run(c, wave, 1.0), Catch::EndsWith("wave(double) was compiled: no sines, please"));
  auto const events = od::compilation_cache::shared().events();
  CHECK(events.back().what == kind::failed);
  CHECK_THAT(events.back().detail, Catch::EndsWith("no sines, please"));
}

namespace {
template <class Thrown>
struct impossible {
  static constexpr std::string_view name = "impossible";
  template <class R, class... A>
  using result = R;
  template <class R, class... A>
  static void apply(ir::program&, od::program_use) {
    throw Thrown();
  }
};
struct not_today : std::invalid_argument {
  not_today() : std::invalid_argument("not today") {}
};
} // namespace

TEST_CASE("an error of a transformation that throws names the function and its argument types") {
  auto const g = od::transformed<"shifted.impossible", impossible<not_today>>(shifted);
  CHECK_THROWS_WITH(g(1.0), "overdub: the transformation shifted.impossible(double) threw: not today");
  CHECK_THROWS_AS(g(1.0), od::pass_error);
  auto const h = od::transformed<"shifted.impossible", impossible<int>>(shifted);
  CHECK_THROWS_WITH(
      h(1.0),
      "overdub: the transformation shifted.impossible(double) threw: an exception that is no std::exception");
}
