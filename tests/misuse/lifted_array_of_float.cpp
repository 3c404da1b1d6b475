// A lifted function of doubles is given floats.
// expect: overdub: a lifted function is given no array where it has a pointer: give an od::array, or a std::vector or std::span, of the type that it points to
#include <overdub/contexts/count.hpp>
#include <overdub/lifted.hpp>

#include <span>
#include <vector>

double norm(double const* x, long n);

constexpr auto lifted_norm = overdub::lifted<&norm>(overdub::extent<0>(overdub::arg<1>));

#ifdef OVERDUB_MENDED
using number = double;
#else
using number = float;
#endif

double run(std::vector<number> const& x) {
  overdub::contexts::count count;
  return overdub::run(count, lifted_norm, std::span<number const>(x), 1L);
}
