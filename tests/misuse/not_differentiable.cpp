// forward observes a function that is marked as not differentiable.
// expect: overdub: this function is marked as not differentiable, for the reason that its type says
// expect: "it draws a number"
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

constexpr auto drawn =
    overdub::not_differentiable<"it draws a number">(overdub::fn<"drawn">([](auto x) { return x * 7.0; }));
#ifdef OVERDUB_MENDED
constexpr auto f = overdub::fn<"f">([](auto& cx, auto x) { return cx(drawn, 2.0) * x; });
#else
constexpr auto f = overdub::fn<"f">([](auto x) { return drawn(x) * x; });
#endif

double run(double x) { return overdub::derivative(f, x); }
