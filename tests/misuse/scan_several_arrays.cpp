// scan is called with two arrays, as map would be.
// expect: overdub: scan\(f, state, xs\) takes one array; give several as std::tuple\{xs, ys\}
// expect: "path_length"
#include <overdub/overdub.hpp>

#include <tuple>

constexpr auto path_length = overdub::fn<"path_length">([](overdub::scope auto& cx, auto xs, auto ys) {
#ifdef OVERDUB_MENDED
  auto step = [](auto s, auto const& p) { return std::tuple(s + std::get<0>(p) * std::get<1>(p), s); };
  return std::get<0>(cx(overdub::scan, step, 0.0, std::tuple(xs, ys)));
#else
  auto step = [](auto s, auto x, auto y) { return std::tuple(s + x * y, s); };
  return std::get<0>(cx(overdub::scan, step, 0.0, xs, ys));
#endif
});

double run(overdub::array<double> xs) {
  overdub::context context;
  return overdub::run(context, path_length, xs, xs);
}
