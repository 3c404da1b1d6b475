// Structs in contexts: the members of a described template are values; a plain struct is one value.
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/overdub.hpp>

#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/define_struct.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>

namespace od = overdub;
namespace contexts = overdub::contexts;

// A template over its scalar, described from within.
template <class T>
struct point {
  BOOST_HANA_DEFINE_STRUCT(point, (T, x), (T, y));
};

// A plain struct, described from outside; its members are doubles, and nothing else.
struct launch {
  double speed, angle;
};
BOOST_HANA_ADAPT_STRUCT(launch, speed, angle);

inline constexpr auto step = od::fn<"step">([](auto p, auto v, auto dt) {
  return point<decltype(p.x + v.x * dt)>{p.x + v.x * dt, p.y + v.y * dt - 0.5 * 9.81 * dt * dt};
});

// The position of a ball after two seconds.
inline constexpr auto flight = od::fn<"flight">([](auto start) {
  auto const speed = od::field<&launch::speed>(start);
  auto const angle = od::field<&launch::angle>(start);
  auto const vx = speed * cos(angle), vy = speed * sin(angle);
  using T = decltype(vx * 0.0);
  return step(point<T>{vx * 0.0, vy * 0.0}, point<T>{vx, vy}, 2.0);
});

int main() {
  launch const start{20.0, 0.7};
  auto const end = flight(start);
  std::printf("no context: (%.4f, %.4f)\n", end.x, end.y);

  // The metadata of a plain struct is a tuple with an element for each member: here the derivative
  // by the angle. A described template is returned with tagged members.
  auto const moved = od::run(contexts::forward{}, flight, od::tag(start, std::tuple{0.0, 1.0}));
  std::printf("in forward: (%.4f, %.4f), ", moved.x.inner, moved.y.inner);
  std::printf("and (%.4f, %.4f) per radian\n", moved.x.metadata, moved.y.metadata);

  auto const mirror = od::fn<"mirror">([](auto s) {
    auto const down = -od::field<&launch::angle>(s);
    return od::make<launch>(od::field<&launch::speed>(s), down);
  });
  contexts::log log(std::cout);
  launch const mirrored = od::run(log, mirror, start);
  bool const right = std::abs(moved.x.metadata + 40 * std::sin(0.7)) < 1e-12 && moved.y.inner == end.y;
  return right && mirrored.angle == -0.7 ? 0 : 1;
}
