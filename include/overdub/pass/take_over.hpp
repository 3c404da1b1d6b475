// Which operations stand in front of one that may take an array over, to write into its buffer: those that use the array, too. An
// array that is still needed is copied, in a loop perhaps each turn.
#pragma once

#include <overdub/pass/words.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::pass::detail {

/// Whether an operation may write into the buffer of an operand that nothing uses behind it.
constexpr bool may_take_over(op code, std::uint32_t operand) {
  switch (code) {
  case op::update:
    return operand == 0;
  case op::loop:
    return operand > 0;
  case op::while_:
  case op::accumulate:
    return true;
  default:
    return false;
  }
}
/// Whether what a region of an operation takes over is taken once.
constexpr bool runs_regions_once(op code) {
  return code == op::if_ || code == op::protect || code == op::accumulate;
}

/// An order of the numbers from 0 on, in which each stands behind what it needs; more needs are added as long as they make no
/// circle. What is moved is what stands between the two (D. J. Pearce, P. H. J. Kelly: A dynamic topological sort algorithm for
/// directed acyclic graphs, 2006).
class growing_order {
public:
  /// So far, the numbers stand in their own order.
  explicit growing_order(std::uint32_t count) : all_(count) {
    for (std::uint32_t i = 0; i < count; ++i) all_[i].position = i;
  }
  /// That `n` needs `m`; false, and nothing else, where m needs n already.
  bool add(std::uint32_t n, std::uint32_t m) {
    if (n == m) return false;
    if (all_[m].position > all_[n].position && !move(n, m)) return false;
    all_[n].needs.push_back(m);
    all_[m].users.push_back(n);
    return true;
  }

private:
  struct entry {
    std::uint32_t position = 0, stamp = 0;
    std::vector<std::uint32_t> needs, users;
  };

  // Puts what m needs, from the place of n on, in front of what uses n.
  bool move(std::uint32_t n, std::uint32_t m) {
    std::uint32_t const first = all_[n].position, last = all_[m].position;
    ++stamp_;
    auto const collect = [&](std::uint32_t start, auto const& next, std::vector<std::uint32_t>& found) {
      found.assign(1, start);
      all_[start].stamp = stamp_;
      for (std::size_t i = 0; i < found.size(); ++i)
        for (std::uint32_t const k : next(all_[found[i]])) {
          std::uint32_t const at = all_[k].position;
          if (at < first || at > last || std::exchange(all_[k].stamp, stamp_) == stamp_) continue;
          found.push_back(k);
        }
      std::sort(found.begin(), found.end(), [&](std::uint32_t a, std::uint32_t b) {
        return all_[a].position < all_[b].position;
      });
    };
    collect(
        m, [](entry const& e) -> auto const& { return e.needs; }, needed_);
    if (all_[n].stamp == stamp_) return false;
    collect(
        n, [](entry const& e) -> auto const& { return e.users; }, users_);
    positions_.clear();
    for (auto const* list : {&needed_, &users_})
      for (std::uint32_t const k : *list) positions_.push_back(all_[k].position);
    std::sort(positions_.begin(), positions_.end());
    std::size_t next = 0;
    for (auto const* list : {&needed_, &users_})
      for (std::uint32_t const k : *list) all_[k].position = positions_[next++];
    return true;
  }

  std::vector<entry> all_;
  std::vector<std::uint32_t> needed_, users_, positions_;
  std::uint32_t stamp_ = 0;
};

/// That an operation of a region uses an array, by the number that it has in an order.
struct array_use {
  value_id array;
  std::uint32_t rank;
  bool takes; // it may take the array over

  friend bool operator<(array_use const& a, array_use const& b) {
    return a.array != b.array ? index_of(a.array) < index_of(b.array) : a.rank < b.rank;
  }
};

/// What regions use of arrays. Regions are noted from the inside out.
class array_uses {
public:
  /// The uses by the operations of a region and by those in their regions; `ranked` are the operations by rank. `whole(v)` is the
  /// array that a value is a part of. O(uses × log uses).
  template <class Whole>
  std::vector<array_use>
  note(function const& f, region_id r, std::vector<node_id> const& ranked, Whole const& whole) {
    std::vector<array_use> uses, outside;
    for (std::uint32_t rank = 0; rank < ranked.size(); ++rank) {
      node_id const n = ranked[rank];
      op const code = f[n].code;
      auto use = [&](value_id v, bool takes) {
        if (code != op::yield) uses.push_back({v, rank, takes});
        if (f.region_of(v) != r) outside.push_back({v, 0, takes});
      };
      for (std::uint32_t i = 0; i < f[n].operand_count; ++i)
        if (value_id const v = f.operand(n, i); f.type_of(v).is_array())
          use(whole(v), may_take_over(code, i));
      for (region_id const inner : f.regions_of(n))
        for (array_use const& u : of(inner)) use(u.array, u.takes && runs_regions_once(code));
    }
    std::sort(outside.begin(), outside.end());
    auto& all = of(r);
    for (array_use const& u : outside)
      if (!all.empty() && all.back().array == u.array)
        all.back().takes = all.back().takes || u.takes;
      else
        all.push_back(u);
    return uses;
  }

private:
  std::vector<array_use>& of(region_id r) { // of arrays from outside
    if (of_.size() <= index_of(r)) of_.resize(index_of(r) + 1);
    return of_[index_of(r)];
  }
  std::vector<std::vector<array_use>> of_;
};

/// Which uses should stand in front of which: of each array, all in front of the last that may take it over. Pairs of that
/// one's rank and theirs, sorted; empty, if they do so already. `may_move(a, b)` says whether a may stand in front of b for it.
template <class MayMove>
std::vector<std::pair<std::uint32_t, std::uint32_t>>
uses_before_taking(std::vector<array_use>& uses, MayMove const& may_move) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  std::sort(uses.begin(), uses.end());
  bool moves = false;
  for (std::size_t first = 0; first < uses.size();) {
    std::size_t end = first, taker = uses.size();
    for (; end < uses.size() && uses[end].array == uses[first].array; ++end)
      if (uses[end].takes) taker = end;
    if (taker < uses.size())
      for (std::size_t i = first; i < end; ++i)
        if (uses[i].rank != uses[taker].rank && may_move(uses[i].rank, uses[taker].rank)) {
          found.emplace_back(uses[taker].rank, uses[i].rank);
          moves = moves || uses[i].rank > uses[taker].rank;
        }
    first = end;
  }
  if (!moves) return {};
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

} // namespace overdub::pass::detail
