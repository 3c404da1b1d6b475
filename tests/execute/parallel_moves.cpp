// Parallel moves: made one by one, each destination receives what its source held before.
#include "property.hpp"

#include <overdub/implementation/execute/parallel_moves.hpp>

#include <map>
#include <vector>

using namespace overdub::execute;

namespace {

// The words after the moves, of which each held its own number before.
std::map<offset, offset> after(std::vector<word_move> const& moves, int* asides = nullptr) {
  std::map<offset, offset> words;
  for (word_move const& m : moves) words[m.from] = m.from;
  offset next = 1000;
  for (word_move const& m : in_sequence(moves, [&](word_move const&) {
         if (asides != nullptr) ++*asides;
         return next++;
       }))
    words[m.to] = words.at(m.from);
  return words;
}

} // namespace

TEST_CASE("a chain is moved from its end, and a cycle by way of one word aside") {
  int asides = 0;
  auto const chain = after({{1, 2, 1}, {2, 3, 1}}, &asides);
  CHECK(chain.at(2) == 1);
  CHECK(chain.at(3) == 2);
  CHECK(asides == 0);
  auto const cycle = after({{1, 2, 1}, {2, 3, 1}, {3, 1, 1}}, &asides);
  CHECK(cycle.at(2) == 1);
  CHECK(cycle.at(3) == 2);
  CHECK(cycle.at(1) == 3);
  CHECK(asides == 1);
  CHECK(in_sequence({{4, 4, 1}}, [](word_move const&) { return offset{}; }).empty());
}

TEST_CASE("random parallel moves read each source before it is overwritten") {
  property([] {
    auto const size = *rc::gen::inRange<offset>(1, 10);
    std::vector<word_move> moves;
    for (offset to = 0; to < size; ++to) moves.push_back({*rc::gen::inRange<offset>(0, size), to, 1});
    auto const words = after(moves);
    for (word_move const& m : moves) RC_ASSERT(words.at(m.to) == m.from);
  });
}
