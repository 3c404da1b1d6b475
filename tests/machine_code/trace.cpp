// Calls that a trace omits compile to plain calls: filters are applied at compile time.
//
// same: plain named
// same: plain deep
// same: plain inside
// same: plain_recursive recursive
// same: plain untraced
#include <overdub/contexts/trace.hpp>

namespace {

namespace contexts = overdub::contexts;
namespace tracing = overdub::contexts::tracing;

inline constexpr auto f = overdub::fn<"f">([](auto x) {
  return overdub::loop(overdub::i64{20}, x, [](auto, auto y) { return 0.5 * (y + 2.0 / y); });
});
inline constexpr auto outer = overdub::fn<"outer">([](auto x) { return f(x); });
inline constexpr auto fib = overdub::fn<"fib">([](overdub::scope auto& cx, auto n) -> decltype(n) {
  return overdub::if_(
      n < 2.0, [&] { return n; }, [&] { return cx.self(n - 1.0) + cx.self(n - 2.0); });
});

struct other : overdub::context {};

} // namespace

extern "C" {
double plain(double x) { return f(x); }
// Omitted by name, with all calls in it.
double named(double x) { return overdub::run(contexts::trace_with<tracing::without<"f">>{}, f, x); }
// The function is traced, and none of its operations is a span.
double deep(double x) { return overdub::run(contexts::trace_with<tracing::only<"other">>{}, f, x); }
// The call is one level deeper.
double inside(double x) { return overdub::run(contexts::trace_with<tracing::without<"outer">>{}, outer, x); }
double untraced(double x) { return overdub::run(other{}, f, x); }

double plain_recursive(double x) { return fib(x); }
double recursive(double x) { return overdub::run(contexts::trace_with<tracing::without<"fib">>{}, fib, x); }
}
