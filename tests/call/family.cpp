// Rules and hooks for families of callees whose first parameter is unconstrained: they are not mistaken for
// rules of one callee.
#include "catch.hpp"

#include <overdub/overdub.hpp>

#include <string>
#include <type_traits>
#include <vector>

namespace {

constexpr auto norm = overdub::fn<"norm">([](auto x, auto y) { return sqrt(x * x + y * y); });

struct unconstrained : overdub::context {
  std::vector<std::string> events;

  auto overdub(auto f, auto... x) {
    events.push_back("family " + std::string(f.name()));
    return f(x...);
  }
  auto overdub(overdub::sqrt_t f, auto x) {
    events.push_back("named sqrt");
    return f(x);
  }
  auto overdub(overdub::rule_call auto call, decltype(norm), auto x, auto y) {
    events.push_back("named norm");
    return call.recurse(x, y);
  }
};

TEST_CASE("a rule that names the callee is preferred to an unconstrained family") {
  unconstrained context;
  double const result = overdub::run(context, norm, 3.0, 4.0);
  CHECK(result == 5.0);
  std::vector<std::string> const expected{
      "named norm", "family mul", "family mul", "family add", "named sqrt"};
  CHECK(context.events == expected);
}

struct unconstrained_hooks : overdub::context {
  std::vector<std::string> events;

  void before(auto f, auto const&...) { events.push_back("family " + std::string(f.name())); }
  void before(overdub::sqrt_t, auto const&) { events.push_back("named sqrt"); }
};

TEST_CASE("a hook that names the callee is preferred to an unconstrained family") {
  unconstrained_hooks context;
  double const result = overdub::run(context, norm, 3.0, 4.0);
  CHECK(result == 5.0);
  std::vector<std::string> const expected{
      "family norm", "family mul", "family mul", "family add", "named sqrt"};
  CHECK(context.events == expected);
}

template <class Scale>
struct doubled : overdub::context {
  double seen = 0.0;
  auto overdub(Scale const& scale, auto x) {
    seen = scale(x);
    return 2.0 * scale(x);
  }
};

TEST_CASE("a rule that names a function with captures receives the captures") {
  double const factor = 3.0;
  auto const scale = overdub::fn<"scale">([factor](auto x) { return factor * x; });
  doubled<std::remove_const_t<decltype(scale)>> context;
  double const result = overdub::run(context, scale, 2.0);
  CHECK(result == 12.0);
  CHECK(context.seen == 6.0);
}

} // namespace
