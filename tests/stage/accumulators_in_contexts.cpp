// Run by g++: the sanitizers run evaluate, which shares its code.
// What accumulators add up of metadata, where programs are evaluated in contexts.
#include "catch.hpp"

#include <overdub/ir/parse.hpp>
#include <overdub/overdub.hpp>
#include <overdub/stage/evaluate.hpp>

#include <stdexcept>

namespace {

using namespace overdub;

// The exponent of metres: numbers are added that have the same.
struct metres : context {
  template <class T>
  using metadata = int;
  int constant(auto const&) const { return 0; }
  auto overdub(add_t f, auto x, auto y) {
    if (x.metadata != y.metadata) throw std::domain_error("these do not add");
    return tag(f(x.inner, y.inner), x.metadata);
  }
};

} // namespace

TEST_CASE("what adds to an accumulator adds metadata of one type for all values by the context's rule") {
  ir::program const p = ir::parse(R"(
entry @f
func @f(%x: f64, %xs: f64[]) -> f64 {
  %sums = accumulate (%acc: acc f64[] = %xs) -> f64[] {
    add_to %acc, 1, %x
    yield
  }
  %y = at %sums, 1 : f64
  return %y
}
)");
  auto const in_metres = [&](auto x, auto xs) {
    return overdub::run(
        metres{}, [&](auto const&... v) { return evaluate<double>(p, v...); }, x, xs);
  };
  auto const total = in_metres(tag(1.0, 2), tag(array<double>{5.0, 2.0}, array<int>{1, 2}));
  CHECK(total.inner == 3.0);
  CHECK(total.metadata == 2);
  CHECK_THROWS_AS(in_metres(tag(1.0, 2), tag(array<double>{5.0, 2.0}, array<int>{2, 1})), std::domain_error);
}
