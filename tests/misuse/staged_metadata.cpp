// A program computes metadata when it runs, not when it is staged.
// expect: overdub: a context keeps metadata of a type that a program does not compute
#include <overdub/stage/stage.hpp>

struct scaled : overdub::context {
#ifdef OVERDUB_MENDED
  template <class T>
  using metadata = T;
#else
  template <class T>
  using metadata = double;
#endif
  template <class T>
  T constant(T const& x) {
    return x;
  }
};
constexpr auto cube = overdub::fn<"cube">([](auto x) { return x * x * x; });

auto program() { return overdub::stage(scaled{}, cube, overdub::signature<double>); }
