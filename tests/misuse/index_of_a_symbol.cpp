// A value of a program that is being staged indexes a container.
// expect first: overdub: a value of a program that is being staged is used as a plain number or index
#include <overdub/overdub.hpp>
#include <overdub/stage/stage.hpp>

#include <array>
#include <cstddef>

constexpr auto pick = overdub::fn<"pick">([](auto x, [[maybe_unused]] auto i) {
  std::array<decltype(x), 2> const v{x, 2.0 * x};
#ifdef OVERDUB_MENDED
  return v[1];
#else
  return v[static_cast<std::size_t>(i)];
#endif
});

auto run() { return overdub::stage(pick, overdub::types<double, overdub::i64>{}); }
