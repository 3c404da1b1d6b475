// A context for chosen callees lists dot, which is a reduction of products by add.
// expect: overdub: sum and dot are no calls of their own
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

constexpr auto product = overdub::fn<"product">([](auto xs, auto ys) { return overdub::dot(xs, ys); });

long run(overdub::array<double> xs) {
#ifdef OVERDUB_MENDED
  overdub::contexts::count_of<overdub::add_t> counted;
#else
  overdub::contexts::count_of<overdub::add_t, overdub::dot_t> counted;
#endif
  (void)overdub::run(counted, product, xs, xs);
  return counted(overdub::add);
}
