// Rules for control primitives.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>

namespace {

// This context replaces the whole map: its rule receives arrays with their metadata, and a function of tagged elements.
struct watch_map : overdub::contexts::forward {
  int maps = 0;
  template <class T, class M, class L>
  auto overdub(overdub::map_t f, auto g, overdub::tagged<overdub::array<T>, M, L> xs) {
    ++maps;
    return f(g, xs);
  }
  using overdub::contexts::forward::overdub;
};

TEST_CASE("a rule for map receives arrays with their metadata, as values") {
  constexpr auto program = overdub::fn<"program">(
      [](auto xs) { return overdub::sum(overdub::map([](auto x) { return x * x; }, xs)); });
  watch_map context;
  overdub::array<double> const xs{1, 2, 3};
  auto const result = overdub::run(context, program, overdub::tag(xs, overdub::array<double>{1, 0, 0}));
  CHECK(context.maps == 1);
  CHECK(result.inner == 14);
  CHECK(result.metadata == 2);
}

} // namespace
