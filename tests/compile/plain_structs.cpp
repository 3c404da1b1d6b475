// Plain described structs are arguments and results of compiled functions: one value in a context, its members in a program.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>

#include <boost/hana/adapt_struct.hpp>

#include <tuple>

namespace plain_structs {
struct spring {
  double stiffness, length;
  bool is_fixed;
};
} // namespace plain_structs
BOOST_HANA_ADAPT_STRUCT(plain_structs::spring, stiffness, length, is_fixed);

namespace {

using namespace overdub;
using plain_structs::spring;

constexpr auto stretched = fn<"stretched">([](auto s, auto by) {
  auto const length = field<&spring::length>(s) + by / field<&spring::stiffness>(s);
  return make<spring>(field<&spring::stiffness>(s), length, field<&spring::is_fixed>(s));
});
constexpr auto energy = fn<"energy">([](auto s) {
  auto const length = field<&spring::length>(s);
  return 0.5 * field<&spring::stiffness>(s) * length * length;
});

TEST_CASE("a compiled function takes and returns plain described structs") {
  auto const f = compile(compose(), stretched, signature<spring, double>);
  spring const s = f(spring{2, 3, true}, 4.0);
  CHECK((s.stiffness == 2 && s.length == 5 && s.is_fixed));
}

TEST_CASE("a compiled function takes and returns plain described structs with metadata") {
  contexts::forward forward;
  auto const check = [](auto const& s) {
    CHECK((s.inner.length == 5 && std::get<0>(s.metadata) == 1 && std::get<1>(s.metadata) == -0.5));
  };
  auto const given = tag(spring{2, 3, true}, std::tuple(1.0, 0.5, zero{}));
  check(run(forward, stretched, given, 4.0));
  check(compile(forward, stretched, signature<std::remove_const_t<decltype(given)>, double>)(given, 4.0));
}

TEST_CASE("the gradient of a function of a plain described struct is a struct") {
  constexpr auto slopes = gradient(energy);
  spring const s = slopes(spring{2, 3, true});
  CHECK((s.stiffness == 4.5 && s.length == 6));
}

} // namespace
