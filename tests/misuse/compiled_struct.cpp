// The types of the leaves of an argument are found by constructing one.
// expect: overdub: a described struct that a staged or compiled function takes, makes or returns is first constructed without arguments
#include <overdub/compile/compile.hpp>

#include <boost/hana/define_struct.hpp>

template <class T>
struct spring {
  BOOST_HANA_DEFINE_STRUCT(spring, (T, stiffness), (T, length));
#ifdef OVERDUB_MENDED
  spring() = default;
#endif
  spring(T k, T l) : stiffness(k), length(l) {}
};
constexpr auto length = overdub::fn<"length">([](auto s) { return s.length; });

double run(spring<double> s) {
  return overdub::compile(overdub::compose(), length, overdub::signature<spring<double>>)(s);
}
