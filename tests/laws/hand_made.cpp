// Staged functions of C++: the reference and every executor return the result of C++, to the bit.
#include "laws/support/cases.hpp"
#include "property.hpp"

#include <overdub/ir/print.hpp>

namespace {

using namespace overdub;

template <class Run>
void same_as_native(cases::sample const& each, Run const& run) {
  for (std::size_t row = 0; row < each.by_hand.size(); ++row) {
    auto const& a = each.by_hand[row];
    auto const native = each.native(a), given = run(a);
    INFO(
        "hand-made arguments, row " << row << ": C++ returns " << executors::text_of(native)
                                    << ", and this executor " << executors::text_of(given));
    CHECK(given == native);
  }
  property([&] {
    auto const a = each.draw();
    RC_ASSERT(run(a) == each.native(a));
  });
}

} // namespace

TEST_CASE("there are more than two hundred hand-made cases") {
  std::size_t count = 0;
  for (auto const& each : cases::all()) count += each.by_hand.size();
  CHECK(count >= 200);
}

TEST_CASE("evaluating a staged function returns the result of C++") {
  for (auto const& each : cases::all()) {
    INFO(each.name);
    same_as_native(each, [&](auto const& a) { return executors::evaluated(each.program, a); });
  }
}

TEST_CASE("each executor of a staged function returns the result of C++") {
  for (auto const& way : executors::all())
    for (auto const& each : cases::all()) {
      INFO(each.name << ", by " << way.name << "\n" << ir::print(each.program));
      std::uint64_t seed = 0;
      same_as_native(each, [&](auto const& a) { return way.run(each.program, a, ++seed); });
    }
}
