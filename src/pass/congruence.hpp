// Value numbering, including operations with regions: which operations of a function compute the same. canonicalise and cse
// use it.
#pragma once

#include <overdub/pass/ir_names.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace overdub::pass {

/// Maps congruent operations to one representative. Operations are congruent if they may be merged (effects.hpp), and have
/// equal attributes, congruent operands and congruent regions, at equal depths. Regions are congruent if they yield
/// congruent values and the same operations may fail in them, up to their arguments. Congruent operations may be in
/// different regions, and neither need dominate the other. Invalidated by edits of the function.
class congruence {
public:
  /// Considers only operations for which `alive` is true; all of them if it is empty. O(operations), recursive over the
  /// depth of regions.
  congruence(
      function const& f, std::span<effect_set const> effects_of_each,
      std::span<std::uint8_t const> alive = {})
      : f_(f), effects_(effects_of_each), alive_(alive), value_(f.value_count()), node_(f.node_count()),
        content_(f.region_count()), depth_(f.region_count()) {
    std::size_t size = 16;
    while (size < 2 * std::size_t{f.node_count()}) size *= 2;
    table_.assign(size, slot{});
    for (std::uint32_t i = 0; i < f.value_count(); ++i) value_[i] = value_id{i};
    number(function::body, 0);
  }

  node_id of(node_id n) const { return node_[index_of(n)]; }
  value_id of(value_id v) const { return value_[index_of(v)]; }
  /// Whether the operation may be merged with others that are congruent.
  bool merges(node_id n) const { return effects_[index_of(n)].can_merge() && f_[n].code != op::yield; }

private:
  struct slot {
    std::uint32_t hash = 0;
    node_id node = nothing;
  };
  struct range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  bool is_alive(node_id n) const { return alive_.empty() || alive_[index_of(n)]; }

  void number(region_id r, std::uint32_t depth) {
    depth_[index_of(r)] = depth;
    for (value_id const v : f_.arguments_of(r)) value_[index_of(v)] = argument(v, depth);
    for (node_id n = f_[r].first; n != nothing; n = f_[n].next) {
      node_[index_of(n)] = n;
      if (!is_alive(n)) continue;
      for (region_id const inner : f_.regions_of(n)) number(inner, depth + 1);
      if (!is_compared(n)) continue;
      node_id const first = find(n);
      node_[index_of(n)] = first;
      for (std::uint32_t i = 0; i < f_[n].result_count; ++i)
        value_[index_of(f_.result(n, i))] = f_.result(first, i);
    }
    note_content(r);
  }
  // Additions to accumulators are included, so that the enclosing accumulates can be compared.
  bool is_compared(node_id n) const {
    if (merges(n)) return true;
    effect_set const e = effects_[index_of(n)].without(effect::accumulates);
    return e.can_merge() && f_[n].code != op::yield && f_[n].result_count == 0;
  }

  // Arguments of regions at one depth are congruent if they have equal indices and types.
  value_id argument(value_id v, std::uint32_t depth) {
    if (arguments_.size() <= depth) arguments_.resize(depth + 1);
    if (arguments_[depth].size() <= f_[v].index) arguments_[depth].resize(f_[v].index + 1);
    auto& alike = arguments_[depth][f_[v].index]; // one for each type
    for (value_id const known : alike)
      if (f_.type_of(known) == f_.type_of(v)) return known;
    alike.push_back(v);
    return v;
  }

  // The content of a region for comparisons: the operations that may fail, once each, sorted where uses imply their order;
  // then the yielded values.
  void note_content(region_id r) {
    node_id const owner = f_[r].parent;
    if (owner == nothing || !is_compared(owner)) return;
    auto const first = static_cast<std::uint32_t>(contents_.size());
    for (node_id n = f_[r].first; n != nothing; n = f_[n].next)
      if (fails(n) && has_uses(n)) contents_.push_back(index_of(of(n)));
    auto const start = contents_.begin() + first;
    std::sort(start, contents_.end());
    contents_.erase(std::unique(start, contents_.end()), contents_.end());
    contents_.push_back(~0u);
    for (node_id n = f_[r].first; n != nothing; n = f_[n].next)
      if (fails(n) && !has_uses(n)) contents_.push_back(index_of(of(n)));
    contents_.push_back(~0u);
    if (node_id const last = f_[r].last; last != nothing)
      for (value_id const v : f_.operands_of(last)) contents_.push_back(index_of(of(v)));
    content_[index_of(r)] = {first, static_cast<std::uint32_t>(contents_.size()) - first};
  }
  bool fails(node_id n) const { return is_alive(n) && !effects_[index_of(n)].is_pure(); }
  bool has_uses(node_id n) const {
    for (value_id const v : f_.results_of(n))
      for (use_id const u : f_.uses_of(v))
        if (is_alive(f_[u].user)) return true;
    return false;
  }
  std::span<std::uint32_t const> content(region_id r) const {
    return std::span(contents_).subspan(content_[index_of(r)].first, content_[index_of(r)].count);
  }

  // ---- the table
  node_id find(node_id n) {
    std::uint32_t const hash = hash_of(n);
    std::size_t const mask = table_.size() - 1;
    for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
      slot& s = table_[i];
      if (s.node == nothing) {
        s = {hash, n};
        return n;
      }
      if (s.hash == hash && equal(s.node, n)) return s.node;
    }
  }
  std::uint32_t hash_of(node_id n) const {
    function::node const& node = f_[n];
    std::uint64_t h = static_cast<std::uint64_t>(node.code) << 32 ^ node.attributes.subject;
    auto mix = [&](std::uint64_t x) {
      h = (h ^ x) * 0x9e3779b97f4a7c15;
      h ^= h >> 29;
    };
    mix(node.operand_count);
    if (node.region_count > 0) mix(depth_[index_of(node.parent)]);
    for (std::uint32_t i = 0; i < node.operand_count; ++i) mix(index_of(of(f_.operand(n, i))));
    for (region_id const r : f_.regions_of(n))
      for (std::uint32_t const x : content(r)) mix(x);
    return static_cast<std::uint32_t>(h ^ h >> 32);
  }
  bool equal(node_id a, node_id b) const {
    function::node const& x = f_[a];
    function::node const& y = f_[b];
    if (x.code != y.code || x.operand_count != y.operand_count || x.result_count != y.result_count ||
        x.region_count != y.region_count || !(x.attributes == y.attributes))
      return false;
    for (std::uint32_t i = 0; i < x.operand_count; ++i)
      if (of(f_.operand(a, i)) != of(f_.operand(b, i))) return false;
    for (std::uint32_t i = 0; i < x.result_count; ++i)
      if (f_.type_of(f_.result(a, i)) != f_.type_of(f_.result(b, i))) return false;
    // Arguments of regions at different depths are not congruent.
    if (x.region_count > 0 && depth_[index_of(x.parent)] != depth_[index_of(y.parent)]) return false;
    for (std::uint32_t i = 0; i < x.region_count; ++i) {
      auto const left = content(f_.region_at(a, i));
      auto const right = content(f_.region_at(b, i));
      if (!std::equal(left.begin(), left.end(), right.begin(), right.end())) return false;
    }
    return true;
  }

  function const& f_;
  std::span<effect_set const> effects_;
  std::span<std::uint8_t const> alive_;
  std::vector<value_id> value_;
  std::vector<node_id> node_;
  std::vector<slot> table_;
  std::vector<std::vector<std::vector<value_id>>> arguments_; // by depth and index
  std::vector<std::uint32_t> contents_;
  std::vector<range> content_; // for each region
  std::vector<std::uint32_t> depth_;
};

} // namespace overdub::pass
