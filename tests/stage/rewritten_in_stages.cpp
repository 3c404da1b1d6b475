// Long mode, run by g++: each of its many contexts has tables of all operations, which take a compiler minutes and up to 10 GB.
// Contexts without metadata rewrite a program first, and contexts with metadata, and those inside of them, rewrite the result: values and
// events are those of a direct run.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/stage/evaluate.hpp>

#include <string>
#include <vector>

namespace od = overdub;
using od::contexts::forward;

namespace {

inline constexpr auto half = od::fn<"half">([](auto x) { return x * 0.5; });
inline constexpr auto wave = od::fn<"wave">([](auto x) {
  auto const s = od::sin(x);
  return s + half(x);
});

struct sin_is_two_squares : od::context {
  auto overdub(od::sin_t, auto x) { return x * x + x * x; }
};
struct half_is_third : od::context {
  auto overdub(decltype(half), auto x) { return x / 3.0; }
};
// With metadata, and a rule that names a function: outer contexts pass the call, and do not intercept the body.
struct forward_with_half : forward {
  using forward::overdub;
  auto overdub(od::rule_call auto call, decltype(half), auto x) {
    return od::tag(call.fallback(x), 7.0 * x.metadata);
  }
};
struct mul_is_add : od::context {
  auto overdub(od::mul_t, auto x, auto y) { return x + y; }
};
struct listed : od::context {
  std::vector<std::string> calls;
  void before(od::callee auto f, auto const&...) { calls.emplace_back(f.name()); }
};
struct products : od::context {
  int count = 0;
  void before(od::mul_t, auto const&...) { ++count; }
};

// The value and the tangent of wave in the contexts, as a rewritten program.
template <class Contexts>
std::vector<double> values_of(Contexts&& contexts) {
  od::ir::program const p = od::overdub(contexts, od::stage(wave, od::signature<double>));
  auto const [value, tangent] = od::evaluate<double, double>(p, 0.5, 1.0);
  return {value, tangent};
}
template <class Contexts>
std::vector<double> direct_of(Contexts&& contexts) {
  auto const r = od::run(contexts, wave, od::tag(0.5, 1.0));
  return {r.inner, r.metadata};
}

} // namespace

TEST_CASE("rules outside of forward are differentiated") {
  sin_is_two_squares a;
  half_is_third b;
  forward f;
  CHECK(values_of(od::compose(a, b, f)) == direct_of(od::compose(a, b, f)));
  CHECK(values_of(od::compose(a, b, f)) == std::vector{2 * 0.25 + 0.5 / 3.0, 4 * 0.5 + 1.0 / 3.0});
}

TEST_CASE("a context outside of forward observes the calls of the program") {
  listed direct, staged;
  forward f;
  (void)direct_of(od::compose(direct, f));
  (void)values_of(od::compose(staged, f));
  CHECK(direct.calls == std::vector<std::string>{"wave", "sin", "half", "mul", "add"});
  CHECK(staged.calls == direct.calls);
}

TEST_CASE("a rule of a context with metadata that names a function applies to it, and rules of outer "
          "contexts do not") {
  mul_is_add a;
  forward_with_half f;
  CHECK(direct_of(od::compose(a, f)) == values_of(od::compose(a, f)));
  products direct, staged;
  CHECK(direct_of(od::compose(direct, f)) == values_of(od::compose(staged, f)));
  CHECK(direct.count == 0);
  CHECK(staged.count == 0);
}

TEST_CASE("a context inside of forward observes each operation of an outer rule, also equal ones") {
  sin_is_two_squares a;
  forward f;
  products direct, staged;
  CHECK(direct_of(od::compose(a, f, direct)) == values_of(od::compose(a, f, staged)));
  CHECK(direct.count == 8); // two squares, of two products each along the direction, and twice for the half
  CHECK(staged.count == direct.count);
}

TEST_CASE("a program without an entry is rewritten in stages, function by function") {
  od::ir::program p = od::stage(wave, od::signature<double>);
  p.entry = od::ir::nothing;
  half_is_third b;
  forward f;
  od::ir::program const made = od::overdub(od::compose(b, f), p);
  CHECK(made.find("wave.half_is_third.forward"));
}
