// Orders operations for in-place reuse of arrays: other uses of an array come before an operation that may write into its
// buffer. Otherwise the array would be copied, in a loop perhaps in each iteration.
#pragma once

#include <overdub/implementation/ir/parameter_ownership.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/pass/ir_names.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::pass::detail {

/// Whether an operation may write into the buffer of an operand after its last use. Not so calls, copies and what function values capture: other
/// operations stay where they are, so that contexts observe them in the order of the program.
inline bool may_reuse(function const& f, node_id n, std::uint32_t operand) {
  op const code = f[n].code;
  bool const writes = code == op::update || ir::carries_values(code) || ir::has_accumulators(code);
  return writes && ir::may_consume(f, n, operand);
}

/// An incremental topological order of the integers from 0 on. Dependences are added as long as they form no cycle; only
/// the part of the order between the two is moved (D. J. Pearce, P. H. J. Kelly: A dynamic topological sort algorithm for
/// directed acyclic graphs, 2006).
class growing_order {
public:
  /// Initially, the integers are in ascending order.
  explicit growing_order(std::uint32_t count) : all_(count) {
    for (std::uint32_t i = 0; i < count; ++i) all_[i].position = i;
  }
  /// Adds a dependence of `n` on `m`. Returns false, without a change, if m depends on n already.
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

  // Moves the dependences of m, from the position of n on, before the dependents of n.
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

/// A use of an array by an operation of a region, as positions in an order.
struct array_use {
  value_id array;
  std::uint32_t rank;
  bool reuses; // whether it may reuse the buffer

  friend bool operator<(array_use const& a, array_use const& b) {
    return a.array != b.array ? index_of(a.array) < index_of(b.array) : a.rank < b.rank;
  }
};

/// The uses of arrays in regions. Nested regions are noted before their parents.
class array_uses {
public:
  /// Notes the uses by the operations of a region and of their regions. `ranked` are the operations by rank; `whole(v)` is
  /// the array that a value is a part of. O(uses × log uses).
  template <class Whole>
  std::vector<array_use>
  note(function const& f, region_id r, std::vector<node_id> const& ranked, Whole const& whole) {
    std::vector<array_use> uses, outside;
    for (std::uint32_t rank = 0; rank < ranked.size(); ++rank) {
      node_id const n = ranked[rank];
      op const code = f[n].code;
      auto use = [&](value_id v, bool reuses) {
        if (code != op::yield) uses.push_back({v, rank, reuses});
        if (f.region_of(v) != r) outside.push_back({v, 0, reuses});
      };
      for (std::uint32_t i = 0; i < f[n].operand_count; ++i)
        if (value_id const v = f.operand(n, i); f.type_of(v).is_array()) use(whole(v), may_reuse(f, n, i));
      for (region_id const inner : f.regions_of(n))
        for (array_use const& u : of(inner)) use(u.array, u.reuses && !ir::repeats_regions(code));
    }
    std::sort(outside.begin(), outside.end());
    auto& all = of(r);
    for (array_use const& u : outside)
      if (!all.empty() && all.back().array == u.array)
        all.back().reuses = all.back().reuses || u.reuses;
      else
        all.push_back(u);
    return uses;
  }

private:
  std::vector<array_use>& of(region_id r) { // arrays defined outside
    if (of_.size() <= index_of(r)) of_.resize(index_of(r) + 1);
    return of_[index_of(r)];
  }
  std::vector<std::vector<array_use>> of_;
};

/// The dependences that make a buffer reusable: for each array, all other uses come before the last operation that may
/// reuse its buffer. Sorted pairs of the rank of that operation and of the other use; empty, if the order has them already.
/// `may_move(a, b)` says whether a may be moved before b.
template <class MayMove>
std::vector<std::pair<std::uint32_t, std::uint32_t>>
uses_before_reuse(std::vector<array_use>& uses, MayMove const& may_move) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  std::sort(uses.begin(), uses.end());
  bool moves = false;
  for (std::size_t first = 0; first < uses.size();) {
    std::size_t end = first, taker = uses.size();
    for (; end < uses.size() && uses[end].array == uses[first].array; ++end)
      if (uses[end].reuses) taker = end;
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
