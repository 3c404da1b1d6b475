// Run by g++: the sanitizers run evaluate, which shares its code.
// Rewriting a program in a context equals staging its function in the context: with rules that distinguish constants, and with
// contexts without rules and hooks.
#include "catch.hpp"

#include <overdub/ir/print.hpp>
#include <overdub/stage/evaluate.hpp>

#include <concepts>

namespace {

namespace od = overdub;

// Replaces a power with a constant exponent by a product.
struct powers : od::context {
  template <class X, class Y>
  auto overdub(od::pow_t f, X x, Y y) const {
    if constexpr (std::is_arithmetic_v<Y>)
      return y == 2 ? x * x : f(x, y);
    else
      return f(x, y);
  }
};
struct quiet : od::context {};
struct strict_one : od::strict {};

inline constexpr auto square = od::fn<"square">([](auto x) { return pow(x, 2.0) + exp(x); });
inline constexpr auto power = od::fn<"power">([](auto x, auto y) { return pow(x, y); });

inline constexpr auto squared = od::leaf<"squared">([](double x) { return od::run(quiet{}, square, x); });

template <class Context, class F, class... A>
void check_both(Context context, F const& f, od::types<A...> arguments) {
  od::ir::program const once = od::stage(context, f, arguments);
  od::ir::program const twice = od::overdub(context, od::stage(f, arguments));
  CHECK(od::ir::print(once) == od::ir::print(twice));
}

} // namespace

TEST_CASE("rules distinguish constant operands in programs, too") {
  od::ir::program const p = od::overdub(powers{}, od::stage(square, od::signature<double>));
  CHECK(od::ir::print(p).find("= pow ") == std::string::npos);
  CHECK(od::ir::print(p).find("= exp ") != std::string::npos);
  check_both(powers{}, square, od::signature<double>);
  check_both(powers{}, power, od::signature<double, double>);
}

TEST_CASE("names of functions include contexts without rules and hooks") {
  check_both(quiet{}, square, od::signature<double>);
  check_both(od::compose(quiet{}, powers{}), square, od::signature<double>);
  check_both(od::compose(powers{}, quiet{}), square, od::signature<double>);
}

TEST_CASE("a program that is evaluated in a strict run calls its leaves without checks") {
  static constexpr auto f = od::fn<"f">([](auto x) { return squared(x); });
  static od::ir::program const p = od::stage(f, od::signature<double>);
  auto const g = od::fn<"g">([](auto x) { return od::evaluate<double>(p, x); });
  CHECK(od::run(strict_one{}, g, 3.0) == od::evaluate<double>(p, 3.0));
}
