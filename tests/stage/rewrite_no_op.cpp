// A context that changes nothing gives a program that computes the same, to the bit.
#include "functions.hpp"
#include "results.hpp"

namespace {

using namespace overdub;

struct no_op : context {};

template <class F, class... A>
void same_meaning(functions::item<F, A...> const& each) {
  ir::program const p = stage(each.f, each.arguments);
  no_op context;
  ir::program const q = overdub::overdub(context, p);
  INFO(F::name());
  property([&] {
    std::tuple<A...> const arguments{results::argument<A>()...};
    std::apply(
        [&](auto const&... a) { RC_ASSERT(results::evaluated(p, a...) == results::evaluated(q, a...)); },
        arguments);
  });
}

} // namespace

TEST_CASE("a program rewritten by a context without rules computes the same") {
  std::apply([](auto const&... each) { (same_meaning(each), ...); }, functions::all);
}
