// make constructs a plain struct from too few members.
// expect: overdub: make<S>\(...\) takes one argument for each described member
// expect: "place"
#include <overdub/overdub.hpp>

#include <boost/hana/adapt_struct.hpp>

struct ball {
  double mass;
  double height;
};
BOOST_HANA_ADAPT_STRUCT(ball, mass, height);

constexpr auto place = overdub::fn<"place">([](auto x) {
#ifdef OVERDUB_MENDED
  return overdub::make<ball>(x, 0.0);
#else
  return overdub::make<ball>(x);
#endif
});

ball run(double x) {
  overdub::context context;
  return overdub::run(context, place, x);
}
