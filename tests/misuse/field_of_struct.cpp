// expect: overdub: field<&S::member> finds the member in an S that is constructed without arguments
#include <overdub/compile/compile.hpp>

#include <boost/hana/adapt_struct.hpp>

struct spring {
  double stiffness, length;
#ifdef OVERDUB_MENDED
  spring() = default;
#endif
  spring(double k, double l) : stiffness(k), length(l) {}
};
BOOST_HANA_ADAPT_STRUCT(spring, stiffness, length);
constexpr auto length = overdub::fn<"length">([](auto s) { return overdub::field<&spring::length>(s); });

double run(spring s) { return overdub::compile(overdub::compose(), length, overdub::signature<spring>)(s); }
