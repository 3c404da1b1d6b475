// Computes the canonical order of a function's operations (canonicalise.hpp), and writes them in this order. Includes
// common-subexpression and dead-code elimination.
#pragma once

#include <overdub/implementation/pass/buffer_reuse.hpp>
#include <overdub/implementation/pass/congruence.hpp>
#include <overdub/implementation/pass/liveness.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::pass::detail {

/// The canonical order of a function's operations.
class ordering {
public:
  ordering(program& p, function const& from, effects const& known)
      : program_(p), f_(from), effects_(known.of_each(from)), alive_(from, effects_),
        same_(from, effects_, alive_.alive()), nodes_(from.node_count()), regions_(from.region_count()) {
    note_uses_inside();
    plan(function::body, 0);
  }

  function const& from() const { return f_; }
  congruence const& classes() const { return same_; }
  effect_set effects_of(node_id n) const { return effects_[index_of(n)]; }
  /// The operations of a region that remain, in order.
  std::span<node_id const> operations(region_id r) const {
    range const order = regions_[index_of(r)].order;
    return std::span(order_).subspan(order.first, order.count);
  }
  /// The source location of an operation, joined with those of the operations that were merged into it.
  place_id place_of(node_id n) const { return nodes_[index_of(n)].place; }
  /// Whether an operation that may fail was merged with one of an enclosing region: regions may have become congruent.
  bool merges_outside() const { return merges_outside_; }

private:
  struct range {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };
  struct note {
    node_id latest = nothing; // of a representative: the dominating operation of its class in this region
    node_id outer = nothing;  // its value in the enclosing region
    // The number of ordered effects before it in the region; for pure operations, a lower bound.
    std::uint32_t segment = 0;
    std::uint32_t rank = 0; // the position in the depth-first order of dependences
    std::uint32_t stamp = 0;
    range uses_inside; // the values of its parent region that its regions use, in used_inside_
    range needs;       // the values of enclosing regions that its regions use, in needs_
    range edges;       // its dependences within its region, in current_.edges
    place_id place = nothing;
    bool is_needed = false;
    bool is_demanded = false;
  };

  note& of(node_id n) { return nodes_[index_of(n)]; }
  bool is_alive(node_id n) const { return alive_.alive()[index_of(n)] != 0; }
  bool is_ordered(node_id n) const { return effects_of(n).has(effect::ordered); }
  bool chooses(node_id n) const { return effects_of(n).has(effect::addressed); }
  bool must_stay(node_id n) const { return !effects_of(n).can_drop(); }
  // The representative of the operation that defines a value; nothing for arguments and literals.
  node_id maker_of(value_id v) {
    value_id const w = same_.of(v);
    return f_.is_result(w) ? of(f_.node_of(w)).latest : node_id(nothing);
  }

  // ---- the values of its region that an operation's regions use
  void note_uses_inside() {
    std::vector<std::pair<node_id, value_id>> found;
    std::vector<node_id> path; // the ancestors, by depth
    std::vector<std::uint32_t> depth_of(f_.region_count());
    auto look_at = [&](auto& self, region_id r) -> void {
      auto const depth = static_cast<std::uint32_t>(path.size());
      depth_of[index_of(r)] = depth;
      path.push_back(nothing);
      for (node_id n = f_[r].first; n != nothing; n = f_[n].next) {
        if (!is_alive(n)) continue;
        path[depth] = n;
        for (value_id const v : f_.operands_of(n)) {
          if (!f_.is_result(v)) continue;
          region_id const made = f_.region_of(v);
          if (made != r) found.emplace_back(path[depth_of[index_of(made)]], v);
        }
        for (region_id const inner : f_.regions_of(n)) self(self, inner);
      }
      path.pop_back();
    };
    look_at(look_at, function::body);
    for (auto const& [n, v] : found) ++of(n).uses_inside.count;
    std::uint32_t first = 0;
    for (note& x : nodes_) first += std::exchange(x.uses_inside.count, (x.uses_inside.first = first, 0));
    used_inside_.resize(found.size());
    for (auto const& [n, v] : found) {
      range& r = of(n).uses_inside;
      used_inside_[r.first + r.count++] = v;
    }
  }

  // ---- the order of one region
  void plan(region_id r, std::uint32_t depth) {
    std::vector<node_id> scheduled;
    collect(r, depth, scheduled);
    for (node_id const n : scheduled)
      if (f_[n].region_count > 0) plan_inside(n, depth);
    find_edges(r, scheduled);
    find_needed(scheduled);
    rank(scheduled);
    if (put_uses_before_reuse(r)) rank(scheduled);
    order(r);
    for (std::size_t i = scheduled.size(); i-- > 0;) leave(scheduled[i]);
  }
  void enter(node_id n) {
    note& representative = of(same_.of(n));
    of(n).outer = std::exchange(representative.latest, n);
  }
  void leave(node_id n) { of(same_.of(n)).latest = of(n).outer; }

  // Collects the operations of a region that remain: those that no operation of the same class dominates. Computes their segments.
  void collect(region_id r, std::uint32_t depth, std::vector<node_id>& scheduled) {
    if (path_.segment_at.size() <= depth) path_.segment_at.resize(depth + 1);
    path_.depth_of_region.resize(f_.region_count());
    path_.depth_of_region[index_of(r)] = depth;
    std::uint32_t segment = 0;
    for (node_id n = f_[r].first; n != nothing; n = f_[n].next) {
      if (!is_alive(n)) continue;
      if (node_id const known = of(same_.of(n)).latest;
          same_.merges(n) && known != nothing && is_available(known, r)) {
        merge(n, known);
        continue;
      }
      note& x = of(n);
      x.place = f_[n].place;
      x.segment = segment;
      if (effects_of(n).is_pure() && f_[n].code != op::yield) {
        x.segment = 0;
        auto use = [&](value_id v) {
          if (node_id const m = maker_of(v); m != nothing && f_[m].parent == r)
            x.segment = std::max(x.segment, of(m).segment + is_ordered(m));
        };
        for (value_id const v : f_.operands_of(n)) use(v);
        for (std::uint32_t i = 0; i < x.uses_inside.count; ++i) use(used_inside_[x.uses_inside.first + i]);
      }
      if (is_ordered(n)) ++segment;
      enter(n);
      scheduled.push_back(n);
    }
  }
  // Whether an operation of this or an enclosing region dominates region r.
  bool is_available(node_id known, region_id r) {
    region_id const there = f_[known].parent;
    return there == r || of(known).segment <= path_.segment_at[path_.depth_of_region[index_of(there)]];
  }
  void merge(node_id n, node_id into) {
    place_id& place = of(into).place;
    if (place != f_[n].place) place = place == nothing ? f_[n].place : program_.join(f_[n].place, place);
    merges_outside_ = merges_outside_ || (f_[into].parent != f_[n].parent && !effects_of(n).is_pure());
  }

  // Orders the regions of an operation, and collects what they use from outside.
  void plan_inside(node_id n, std::uint32_t depth) {
    path_.segment_at[depth] = of(n).segment;
    std::vector<node_id> needs;
    for (region_id const inner : f_.regions_of(n)) {
      plan(inner, depth + 1);
      range const found = regions_[index_of(inner)].needs;
      needs.insert(needs.end(), needs_.begin() + found.first, needs_.begin() + found.first + found.count);
    }
    ++visit_.stamp;
    auto const first = static_cast<std::uint32_t>(needs_.size());
    for (node_id const m : needs)
      if (std::exchange(of(m).stamp, visit_.stamp) != visit_.stamp) needs_.push_back(m);
    of(n).needs = {first, static_cast<std::uint32_t>(needs_.size()) - first};
  }

  void find_edges(region_id r, std::span<node_id const> scheduled) {
    current_.edges.clear();
    node_id adding = nothing, choosing = nothing;
    for (node_id const n : scheduled) {
      note& x = of(n);
      x.edges.first = static_cast<std::uint32_t>(current_.edges.size());
      auto need = [&](node_id m) {
        if (m != nothing && f_[m].parent == r) current_.edges.push_back(m);
      };
      if (effects_of(n).has(effect::accumulates) && !is_ordered(n)) need(std::exchange(adding, n));
      if (chooses(n) && !is_ordered(n))
        need(std::exchange(choosing, n)); // the random choices of a model keep their order
      for (std::uint32_t i = 0; i < f_[n].operand_count; ++i) need(maker_of(f_.operand(n, i)));
      for (std::uint32_t i = 0; i < x.needs.count; ++i) need(needs_[x.needs.first + i]);
      x.edges.count = static_cast<std::uint32_t>(current_.edges.size()) - x.edges.first;
    }
  }
  std::span<node_id const> edges_of(node_id n) {
    return std::span(current_.edges).subspan(of(n).edges.first, of(n).edges.count);
  }

  void find_needed(std::span<node_id const> scheduled) {
    std::vector<node_id> open;
    auto need = [&](node_id n) {
      if (!std::exchange(of(n).is_needed, true)) open.push_back(n);
    };
    for (node_id const n : scheduled) {
      if (must_stay(n) || f_[n].code == op::yield) need(n);
      while (!open.empty()) {
        node_id const m = open.back();
        open.pop_back();
        for (node_id const needed : edges_of(m)) {
          of(needed).is_demanded = true;
          need(needed);
        }
      }
    }
  }

  // Calls done(n) for an operation and its dependences, operands first, each once per ++visit_.stamp.
  template <class Done>
  void visit(node_id start, Done const& done) {
    if (of(start).stamp == visit_.stamp) return;
    of(start).stamp = visit_.stamp;
    visit_.path.push_back({start, 0});
    while (!visit_.path.empty()) {
      auto& [n, next] = visit_.path.back();
      if (next < of(n).edges.count) {
        node_id const needed = current_.edges[of(n).edges.first + next++];
        if (std::exchange(of(needed).stamp, visit_.stamp) != visit_.stamp) visit_.path.push_back({needed, 0});
        continue;
      }
      done(n);
      visit_.path.pop_back();
    }
  }

  bool is_root(node_id n) { return must_stay(n) && !of(n).is_demanded && !is_ordered(n); }

  // Numbers the operations in the depth-first order of dependences. Finds the operations that are bound to a segment, and those
  // that end one.
  void rank(std::span<node_id const> scheduled) {
    current_.bound.clear();
    current_.ends.clear();
    current_.ranked.clear();
    ++visit_.stamp;
    auto note_rank = [&](node_id n) {
      of(n).rank = static_cast<std::uint32_t>(current_.ranked.size());
      current_.ranked.push_back(n);
      if (!effects_of(n).is_pure() && !is_ordered(n)) current_.bound.push_back(n);
    };
    std::vector<node_id> roots; // of a segment: operations without uses, random choices first
    for (node_id const n : scheduled) {
      if (is_root(n)) {
        of(n).rank = static_cast<std::uint32_t>(roots.size()); // preliminary, until it is visited
        roots.push_back(n);
      }
      if (!is_ordered(n) && f_[n].code != op::yield) continue;
      current_.ends.push_back(n);
      std::sort(roots.begin(), roots.end(), [&](node_id a, node_id b) {
        return chooses(a) != chooses(b) ? chooses(a) : of(a).rank < of(b).rank;
      });
      for (node_id const root : roots) visit(root, note_rank);
      roots.clear();
      visit(n, note_rank);
    }
    auto const by_segment = [&](node_id a, node_id b) {
      return of(a).segment != of(b).segment ? of(a).segment < of(b).segment : of(a).rank < of(b).rank;
    };
    if (current_.ends.size() > 1) std::sort(current_.bound.begin(), current_.bound.end(), by_segment);
  }

  // Adds edges from other uses of an array to the last operation that may reuse its buffer, where nothing else orders them.
  // The edges depend on ranks alone, so that the result does not depend on the original order. Returns whether there are
  // any.
  bool put_uses_before_reuse(region_id r) {
    auto uses = arrays_.note(f_, r, current_.ranked, [&](value_id v) { return whole_array(v); });
    auto const may_move = [&](std::uint32_t before, std::uint32_t after) {
      node_id const n = current_.ranked[before];
      return !is_ordered(n) && !is_root(n) && of(n).segment <= of(current_.ranked[after]).segment;
    };
    auto const wanted = uses_before_reuse(uses, may_move);
    if (wanted.empty()) return false;
    growing_order all(static_cast<std::uint32_t>(current_.ranked.size()));
    for (std::uint32_t i = 0; i < current_.ranked.size(); ++i)
      for (node_id const needed : edges_of(current_.ranked[i])) all.add(i, of(needed).rank);
    std::vector<std::pair<node_id, node_id>> more;
    for (auto const& [after, before] : wanted)
      if (all.add(after, before)) more.emplace_back(current_.ranked[after], current_.ranked[before]);
    std::vector<node_id> const old = current_.edges;
    current_.edges.clear();
    auto at = more.begin();
    for (node_id const n : current_.ranked) {
      range& edges = of(n).edges;
      auto const first = static_cast<std::uint32_t>(current_.edges.size());
      for (; at != more.end() && at->first == n; ++at) current_.edges.push_back(at->second);
      current_.edges.insert(
          current_.edges.end(), old.begin() + edges.first, old.begin() + edges.first + edges.count);
      edges = {first, static_cast<std::uint32_t>(current_.edges.size()) - first};
    }
    return true;
  }
  // The array of which a value is a part; the value itself, if it is not a part.
  value_id whole_array(value_id v) {
    while (f_.is_result(v)) {
      node_id const m = maker_of(v);
      if (ir::row_of(f_[m].code).result != ir::array_result::part) return f_.result(m, f_[v].index);
      v = f_.operand(m, 0);
    }
    return v;
  }

  void order(region_id r) {
    auto const first = static_cast<std::uint32_t>(order_.size());
    ++visit_.stamp;
    auto const place = [&](node_id n) { order_.push_back(n); };
    auto at = current_.bound.begin();
    for (std::uint32_t segment = 0; segment < current_.ends.size(); ++segment) {
      auto const begin = at;
      while (at != current_.bound.end() && of(*at).segment == segment) ++at;
      for (auto i = begin; i != at; ++i)
        if (chooses(*i)) visit(*i, place);
      for (auto i = begin; i != at; ++i)
        if (is_root(*i)) visit(*i, place);
      for (node_id const n : edges_of(current_.ends[segment])) visit(n, place);
      for (auto i = begin; i != at; ++i) visit(*i, place);
      visit(current_.ends[segment], place);
    }
    auto const count = static_cast<std::uint32_t>(order_.size()) - first;
    regions_[index_of(r)].order = {first, count};
    note_needs(r);
  }

  // The values of enclosing regions that a region uses, in order.
  void note_needs(region_id r) {
    ++visit_.stamp;
    auto const first = static_cast<std::uint32_t>(needs_.size());
    auto need = [&](node_id m) {
      if (m != nothing && f_[m].parent != r && std::exchange(of(m).stamp, visit_.stamp) != visit_.stamp)
        needs_.push_back(m);
    };
    range const order = regions_[index_of(r)].order;
    for (std::uint32_t k = 0; k < order.count; ++k) {
      node_id const n = order_[order.first + k];
      for (std::uint32_t i = 0; i < f_[n].operand_count; ++i) need(maker_of(f_.operand(n, i)));
      for (std::uint32_t i = 0; i < of(n).needs.count; ++i) need(needs_[of(n).needs.first + i]);
    }
    regions_[index_of(r)].needs = {first, static_cast<std::uint32_t>(needs_.size()) - first};
  }

  struct region_note {
    range order; // in order_
    range needs; // in needs_
  };

  program& program_;
  function const& f_;
  std::vector<effect_set> effects_;
  liveness alive_;
  congruence same_;
  std::vector<note> nodes_;
  std::vector<region_note> regions_;
  std::vector<value_id> used_inside_;
  std::vector<node_id> needs_;
  array_uses arrays_;
  struct {
    std::vector<node_id> edges;
    std::vector<node_id> ranked; // its operations, by rank
    std::vector<node_id> bound;  // those bound to their segments
    std::vector<node_id> ends;   // the ends of its segments
  } current_;                    // the region that is planned
  std::vector<node_id> order_;
  struct {
    std::vector<std::uint32_t> segment_at;      // by depth, for the current path
    std::vector<std::uint32_t> depth_of_region; // for enclosing regions
  } path_;
  struct {
    std::uint32_t stamp = 0;                             // of the operations that were visited
    std::vector<std::pair<node_id, std::uint32_t>> path; // operations, and their next dependence
  } visit_;
  bool merges_outside_ = false;
};

/// Writes the operations of an ordering into a function of the same parameters with an empty body.
class ordered_writer {
public:
  ordered_writer(ordering const& order, program& p, function_id into)
      : order_(order), f_(order.from()), c_(p, into, function::body), written_(f_.value_count(), nothing),
        latest_(f_.node_count(), nothing), outer_(f_.node_count(), nothing) {}

  /// Returns the effects of the written operations, as far as they are known: merging may show that an operation cannot fail.
  std::vector<effect_set> write() {
    write(function::body, function::body);
    return std::move(effects_);
  }

private:
  void write(region_id r, region_id into) {
    for (std::uint32_t i = 0; i < f_[r].argument_count; ++i)
      written_[index_of(f_.argument(r, i))] = c_->argument(into, i);
    std::span<node_id const> const operations = order_.operations(r);
    for (node_id const n : operations) {
      c_.to_end(into);
      write(n);
    }
    for (std::size_t k = operations.size(); k-- > 0;)
      latest_of(operations[k]) = outer_[index_of(operations[k])];
  }
  void write(node_id n) {
    operands_.clear();
    results_.clear();
    for (std::uint32_t i = 0; i < f_[n].operand_count; ++i) operands_.push_back(written(f_.operand(n, i)));
    for (value_id const v : f_.results_of(n)) results_.push_back(f_.type_of(v));
    arguments_.resize(f_[n].region_count);
    for (std::uint32_t i = 0; i < f_[n].region_count; ++i) {
      arguments_[i].clear();
      for (value_id const v : f_.arguments_of(f_.region_at(n, i))) arguments_[i].push_back(f_.type_of(v));
    }
    effects_.push_back(order_.effects_of(n));
    c_.set_place(order_.place_of(n));
    node_id const made = c_.insert(f_[n].code, operands_, results_, f_[n].attributes, arguments_);
    for (std::uint32_t i = 0; i < f_[n].result_count; ++i)
      written_[index_of(f_.result(n, i))] = c_->result(made, i);
    for (std::uint32_t i = 0; i < f_[n].region_count; ++i) write(f_.region_at(n, i), c_->region_at(made, i));
    outer_[index_of(n)] = std::exchange(latest_of(n), n);
  }
  value_id written(value_id v) {
    if (f_.is_literal(v)) return c_.literal(f_.type_of(v), f_.bits_of(v));
    if (f_.is_argument(v)) return written_[index_of(v)];
    return written_[index_of(f_.result(maker_of(v), f_[v].index))];
  }
  // The operation of a class that was written last, in this or an enclosing region.
  node_id& latest_of(node_id n) { return latest_[index_of(order_.classes().of(n))]; }
  node_id maker_of(value_id v) { return latest_of(f_.node_of(order_.classes().of(v))); }

  ordering const& order_;
  function const& f_;
  cursor c_;
  std::vector<value_id> written_; // for each value of f_
  std::vector<node_id> latest_;   // by representative of a class
  std::vector<node_id> outer_;    // by operation: the latest of its class in the enclosing region
  std::vector<effect_set> effects_;
  std::vector<value_id> operands_;
  std::vector<type> results_;
  std::vector<std::vector<type>> arguments_;
};

} // namespace overdub::pass::detail
