// In a context, the leaves of the arguments are the parameters of a gradient's program, and a plain struct is one value there.
// expect: overdub: a function whose program is called in a context takes and returns no plain struct
#include <overdub/contexts/forward.hpp>
#include <overdub/reverse.hpp>

#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/define_struct.hpp>

#ifdef OVERDUB_MENDED
template <class T>
struct spring {
  BOOST_HANA_DEFINE_STRUCT(spring, (T, stiffness), (T, length));
};
constexpr auto energy = overdub::fn<"energy">([](auto s) { return s.stiffness * s.length * s.length; });

auto slopes(spring<double> s) {
  return overdub::run(overdub::contexts::forward{}, overdub::gradient(energy), s);
}
#else
struct spring {
  double stiffness, length;
};
BOOST_HANA_ADAPT_STRUCT(spring, stiffness, length);
constexpr auto energy = overdub::fn<"energy">([](auto s) {
  auto const length = overdub::field<&spring::length>(s);
  return overdub::field<&spring::stiffness>(s) * length * length;
});

void slopes(spring s) { (void)overdub::run(overdub::contexts::forward{}, overdub::gradient(energy), s); }
#endif
