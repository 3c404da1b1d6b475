// A staged function makes a struct from its members, which requires its default constructor.
// expect: overdub: a described struct that a staged or compiled function takes, makes or returns is first constructed without arguments
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
constexpr auto square = overdub::fn<"square">([](auto x) { return overdub::make<spring>(x, x); });

double run(double x) {
  return overdub::compile(overdub::compose(), square, overdub::signature<double>)(x).length;
}
