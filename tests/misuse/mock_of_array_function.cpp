// A mock of a program's function of an array, without its signature: it is compiled for numbers.
// expect: overdub: an array is needed here
#include <overdub/contexts/mock.hpp>
#include <overdub/stage/evaluate.hpp>

auto rewritten(overdub::ir::program const& p) {
  constexpr auto pick = overdub::symbol<"pick">;
  auto const second = [](auto xs, auto i) { return xs[i + overdub::i64{1}]; };
#ifdef OVERDUB_MENDED
  return overdub::overdub(
      overdub::contexts::mock(pick, second).called_as<double(overdub::array<double>, overdub::i64)>(), p);
#else
  return overdub::overdub(overdub::contexts::mock(pick, [](auto xs, auto i) { return xs[i]; }), p);
#endif
}
