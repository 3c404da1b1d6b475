// A function's body returns nothing.
// expect: overdub: the body of this function returns nothing; return a value, or make it a leaf
// expect: "note"
#include <overdub/overdub.hpp>

#include <cstdio>

#ifdef OVERDUB_MENDED
constexpr auto note = overdub::leaf<"note">([](double x) { std::printf("%g\n", x); });
#else
constexpr auto note = overdub::fn<"note">([](auto x) { std::printf("%g\n", overdub::concrete(x)); });
#endif

void run(double x) {
  overdub::context context;
  overdub::run(context, note, x);
}
