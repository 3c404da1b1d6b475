// The initial value of reduce is an int, and the elements are doubles.
// expect: overdub: the initial value of reduce has another type than the array's elements
// expect: "total"
#include <overdub/overdub.hpp>

constexpr auto total = overdub::fn<"total">([](auto xs) {
#ifdef OVERDUB_MENDED
  return overdub::reduce(overdub::add, 0.0, xs);
#else
  return overdub::reduce(overdub::add, 0, xs);
#endif
});

double run(overdub::array<double> xs) {
  overdub::context context;
  return overdub::run(context, total, xs);
}
