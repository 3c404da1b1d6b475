// A function that a context leaves compiles to the code of the function.
//
// same: plain left
// same: plain left_by_one_with_state
#include <overdub/overdub.hpp>

namespace {

struct outside : overdub::context {
  auto enter(overdub::callee auto) const { return overdub::leave; }
};
struct outside_with_state : outside {
  long unused = 0;
};

inline constexpr auto f = overdub::fn<"f">([](auto x) {
  return overdub::loop(overdub::i64{20}, x, [](auto, auto y) { return 0.5 * (y + 2.0 / y); });
});

} // namespace

extern "C" {
double plain(double x) { return f(x); }
double left(double x) { return overdub::run(outside{}, f, x); }
double left_by_one_with_state(double x) { return overdub::run(outside_with_state{}, f, x); }
}
