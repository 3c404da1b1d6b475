// Parallel moves of words: the order in which no source is overwritten before it is read.
#pragma once

#include <overdub/execute/instruction.hpp>

#include <vector>

namespace overdub::execute {

struct word_move {
  offset from, to, words;
  offset lane_size = 0; // not 0: the words point to lanes of this size, which are moved
};

/// The moves in an order in which they can be made one by one. `new_aside(move)` returns words for the value of a move, which a cycle
/// needs. O(moves²).
template <class NewAside>
std::vector<word_move> in_sequence(std::vector<word_move> moves, NewAside const& new_aside) {
  std::vector<word_move> sequence;
  std::erase_if(moves, [](word_move const& m) { return m.from == m.to; });
  while (!moves.empty()) {
    auto const is_read = [&](offset to) {
      for (word_move const& m : moves)
        if (m.from == to) return true;
      return false;
    };
    auto ready = moves.begin();
    while (ready != moves.end() && is_read(ready->to)) ++ready;
    if (ready != moves.end()) {
      sequence.push_back(*ready);
      moves.erase(ready);
      continue;
    }
    // A cycle: the value of one move is moved aside first.
    word_move& first = moves.front();
    offset const aside = new_aside(first);
    sequence.push_back({first.from, aside, first.words, first.lane_size});
    first.from = aside;
  }
  return sequence;
}

} // namespace overdub::execute
