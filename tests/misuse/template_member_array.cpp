// A described template has a member array<T>, and its template argument becomes a value of a context.
// expect: overdub: a member of this described template cannot hold a value of a context
// expect: curve
#include <overdub/overdub.hpp>

#include <boost/hana/define_struct.hpp>

#ifdef OVERDUB_MENDED
template <class Array>
struct curve {
  BOOST_HANA_DEFINE_STRUCT(curve, (Array, heights));
};
using doubles = overdub::array<double>;
#else
template <class T>
struct curve {
  BOOST_HANA_DEFINE_STRUCT(curve, (overdub::array<T>, heights));
};
using doubles = double;
#endif

constexpr auto area = overdub::fn<"area">([](auto const& c) { return overdub::sum(c.heights); });

double run(curve<doubles> const& c) {
  overdub::context context;
  return overdub::run(context, area, c);
}
