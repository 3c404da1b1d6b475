// A context with metadata derives another function from the one to replace, so that an inner mock would replace nothing.
// expect: overdub: the mock is nested in a context with metadata, which has changed the function
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/mock.hpp>

constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });
constexpr auto program = overdub::fn<"program">([](auto x) { return square(x) + 1.0; });

double run(double x) {
  auto mock = overdub::contexts::mock(square, [](auto y) { return y; });
  overdub::contexts::forward forward;
#ifdef OVERDUB_MENDED
  return overdub::run(overdub::compose(mock, forward), program, overdub::tag(x, 1.0)).metadata;
#else
  return overdub::run(overdub::compose(forward, mock), program, overdub::tag(x, 1.0)).metadata;
#endif
}
