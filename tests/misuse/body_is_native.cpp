// A C++ function of plain numbers is the body of a fn.
// expect first: overdub: a C\+\+ function of plain numbers is the body of a fn, and is called with values of a context
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

namespace body_is_native {
inline double area(double r) { return 3.14 * r * r; }
} // namespace body_is_native

#ifdef OVERDUB_MENDED
constexpr auto named = overdub::leaf<"area">(body_is_native::area, overdub::effects::pure);
constexpr auto area = overdub::fn<"f">([](auto r) { return named(r); });
#else
constexpr auto area = overdub::fn<"area">(body_is_native::area);
#endif

double run(double r) {
  overdub::contexts::count count;
  return overdub::run(count, area, r);
}
