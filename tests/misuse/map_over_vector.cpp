// map over a std::vector.
// expect: overdub: an array is needed here; a std::vector is copied by array<T>::copy_of
// expect: "squares"
#include <overdub/overdub.hpp>

#include <vector>

constexpr auto squares =
    overdub::fn<"squares">([](auto xs) { return overdub::map([](auto x) { return x * x; }, xs); });

void run(std::vector<double> const& xs) {
  overdub::context context;
#ifdef OVERDUB_MENDED
  overdub::run(context, squares, overdub::array<double>::borrow(xs));
#else
  overdub::run(context, squares, xs);
#endif
}
