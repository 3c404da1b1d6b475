// A control primitive is exempt, but the calls of its functions would run in the contexts of their captures.
// expect: overdub: exempt takes functions, native functions, and operations that take no functions
#include <overdub/overdub.hpp>

constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });
#ifdef OVERDUB_MENDED
constexpr auto squares = overdub::fn<"squares">([](auto const& xs) { return overdub::map(square, xs); });
constexpr auto total =
    overdub::fn<"total">([](auto const& xs) { return overdub::sum(overdub::exempt(squares)(xs)); });
#else
constexpr auto total = overdub::fn<"total">(
    [](auto const& xs) { return overdub::sum(overdub::exempt(overdub::map)(square, xs)); });
#endif

struct watch : overdub::context {
  void before(overdub::mul_t, auto const&...) {}
};

double run(overdub::array<double> const& xs) { return overdub::run(watch{}, total, xs); }
