// A C++ function of plain numbers in containers is the body of a fn.
// expect first: overdub: a C\+\+ function of plain numbers is the body of a fn, and is called with values of a context
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

#include <vector>

namespace body_is_native {
inline double area(std::vector<double> const& r) { return 3.14 * r[0] * r[0]; }
} // namespace body_is_native

#ifdef OVERDUB_MENDED
constexpr auto named = overdub::leaf<"area">(body_is_native::area, overdub::effects::pure);
constexpr auto area = overdub::fn<"f">([](auto r) { return named(r); });
#else
constexpr auto area = overdub::fn<"area">(body_is_native::area);
#endif

double run(double r) {
  overdub::contexts::count count;
  return overdub::run(count, area, std::vector{r});
}
