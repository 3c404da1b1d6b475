// make constructs a plain struct from a number that its member cannot represent.
// expect: overdub: make<S>\(...\) would lose part of a number
// expect: "shrink"
#include <overdub/overdub.hpp>

#include <boost/hana/adapt_struct.hpp>

struct ball {
  float mass;
};
BOOST_HANA_ADAPT_STRUCT(ball, mass);

constexpr auto shrink = overdub::fn<"shrink">([](auto x) {
#ifdef OVERDUB_MENDED
  return overdub::make<ball>(overdub::convert<float>(x / 2.0));
#else
  return overdub::make<ball>(x / 2.0);
#endif
});

ball run(double x) {
  overdub::context context;
  return overdub::run(context, shrink, x);
}
