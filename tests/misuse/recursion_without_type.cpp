// A recursive function does not declare its result type.
// expect: overdub: a function that calls itself through cx.self must declare the type that it returns
// expect: "fib"
#include <overdub/overdub.hpp>

#ifdef OVERDUB_MENDED
constexpr auto fib = overdub::fn<"fib">([](overdub::scope auto& cx, auto n) -> decltype(n) {
#else
constexpr auto fib = overdub::fn<"fib">([](overdub::scope auto& cx, auto n) {
#endif
  return overdub::if_(
      n < 2, [&] { return n; }, [&] { return cx.self(n - 1) + cx.self(n - 2); });
});

int run(int n) {
  overdub::context context;
  return overdub::run(context, fib, n);
}
