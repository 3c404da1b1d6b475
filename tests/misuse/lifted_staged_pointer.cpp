// A lifted function is called with a pointer while a function is staged.
// expect: overdub: a lifted function is staged with a pointer, and memory is no part of a program; give it an od::array
#include <overdub/lifted.hpp>

double norm(double const* x, long n);

constexpr auto lifted_norm = overdub::lifted<&norm>(overdub::extent<0>(overdub::arg<1>));
double const table[] = {3, 4};

#ifdef OVERDUB_MENDED
constexpr auto f =
    overdub::fn<"f">([](auto n) { return lifted_norm(overdub::array<double>::borrow(table), n); });
#else
constexpr auto f = overdub::fn<"f">([](auto n) { return lifted_norm(table, n); });
#endif

auto program() { return overdub::stage(f, overdub::signature<long>); }
