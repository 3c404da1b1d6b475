// The cursor: a position in a function, where operations are inserted, and with which they are replaced, erased and moved
// while walking. Every pass edits with it, and none renumbers by hand.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/infer.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/ir/walk.hpp>

#include <bit>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

namespace overdub::ir {

/// A position between two operations of a function, or at the end of a region. It walks over all operations, nested ones
/// behind the operation that they are in:
///
///   for (cursor c(p, f); c.next();)
///     if (...) c.replace(c.add(op::mul, c.operand(0), c.operand(0)));
///
/// The walk goes on with what followed the operation when it came there: what is inserted or moved in between is not
/// visited, with all that stands in its regions, and what is inserted further on is. Every edit is O(what it names, its
/// uses, and how deep it stands), and none recurses. Two cursors on one function may be used by turns, while neither
/// moves or erases what the other stands on or goes to next.
class cursor {
public:
  using types = std::span<type const>;
  using values = std::span<value_id const>;

  /// Before the first operation of the function, of nested regions too.
  cursor(program& p, function_id f)
      : program_(&p), id_(f), region_(function::body), before_(here()[region_].first), next_(before_) {}
  /// At the end of a region.
  cursor(program& p, function_id f, region_id r) : program_(&p), id_(f), region_(r) {}

  program& owner() const { return *program_; }
  function_id id() const { return id_; }
  function const& operator*() const { return (*program_)[id_]; }
  function const* operator->() const { return &(*program_)[id_]; }

  // ---- walking

  /// To the next operation, into nested regions; false at the function's end. New operations are inserted before it.
  bool next();
  /// Does not walk into the regions of the operation that the cursor is at.
  void skip_regions() { next_ = behind_; }

  /// The operation that the cursor is at, after next().
  node_id node() const { return node_; }
  op code() const { return here()[node_].code; }
  value_id operand(std::uint32_t i) const { return here().operand(node_, i); }
  value_id result(std::uint32_t i = 0) const { return here().result(node_, i); }

  // ---- the place where operations are inserted

  void to_end(region_id r) { place_at(r, nothing); }
  void to_start(region_id r) { place_at(r, here()[r].first); }
  void to_before(node_id n) { place_at(here()[n].parent, n); }
  void to_after(node_id n) { place_at(here()[n].parent, here()[n].next); }
  /// Before the yield of a region, or at its end when it has none yet.
  void to_yield(region_id r);
  region_id region() const { return region_; }

  // ---- inserting

  value_id literal(type t, std::uint64_t bits);
  value_id literal(double x) { return literal(f64, std::bit_cast<std::uint64_t>(x)); }
  value_id literal(float x) { return literal(f32, std::bit_cast<std::uint32_t>(x)); }
  value_id literal(std::int64_t x) { return literal(i64, static_cast<std::uint64_t>(x)); }
  value_id literal(bool x) { return literal(boolean, x ? 1 : 0); }

  /// Inserts an operation with results of these types, and regions with arguments of those. Nothing is checked here: the
  /// verifier does. The span may view operands of the function itself.
  node_id insert(
      op code, values operands, types results, attributes const& a = {},
      std::span<std::vector<type> const> regions = {});
  /// The same, with the types of the results found by the operation's rule; throws verify_error where they do not fit.
  node_id insert(op code, std::initializer_list<value_id> operands, attributes const& a = {}) {
    return insert(code, values(operands.begin(), operands.size()), a);
  }
  node_id insert(op code, values operands, attributes const& a = {});
  /// Inserts an operation of one result, and returns it.
  template <class... V>
  value_id add(op code, V... operands) {
    return here().result(insert(code, {value_id(operands)...}));
  }
  value_id convert(value_id x, type to);
  void yield(values results) { insert(op::yield, results, types{}); }

  /// Where operations that are inserted from now on stand in the user's source.
  void set_place(place_id p) { place_ = p; }

  // ---- editing

  void set_operand(node_id n, std::uint32_t i, value_id v);
  /// Other operands for an operation, of any number.
  void set_operands(node_id n, values operands);
  /// Results for an operation that was inserted without any.
  void set_results(node_id n, types results);
  attributes& attributes_of(node_id n) { return here().nodes_[index_of(n)].attributes; }
  void set_code(node_id n, op code) { here().nodes_[index_of(n)].code = code; }
  void set_type(value_id v, type t) { here().values_[index_of(v)].type = t; }
  void set_name(value_id v, symbol name) { here().values_[index_of(v)].name = name; }
  void set_place_of(node_id n, place_id p) { here().nodes_[index_of(n)].place = p; }

  /// Every use of `from` becomes one of `to`.
  void substitute(value_id from, value_id to);
  /// The operation's results become these values, and it is erased.
  void replace(node_id n, values results);
  void replace(value_id result) { replace(node_, values(&result, 1)); }
  void replace(values results) { replace(node_, results); }

  /// Erases an operation with all that its regions hold. Its results must not be used any more. A cursor that inserted
  /// there goes behind it.
  void erase(node_id n);
  void erase() { erase(node_); }

  /// Moves an operation, with its regions, to where the cursor inserts, which is in none of these regions.
  void move(node_id n);
  /// Moves what a region holds, its yield apart, to where the cursor inserts; uses of its arguments become `arguments`.
  /// Returns what the region yielded, and leaves it empty.
  std::vector<value_id> splice(region_id from, values arguments);

  /// Copies an operation of any function of this program to where the cursor inserts. `map` says what its operands, and
  /// those of operations in its regions, become here; what the copies make is added to it. O(operations copied).
  template <class Map>
  node_id clone(function_id from, node_id n, Map& map) {
    std::vector<node_id> originals{n};
    for (region_id const r : (*program_)[from].regions_of(n))
      walk((*program_)[from], r, [&](node_id m) { originals.push_back(m); });
    return clone(from, originals, map);
  }
  /// Copies what a region holds, its yield too.
  template <class Map>
  void clone_contents(function_id from, region_id r, Map& map) {
    std::vector<node_id> originals;
    walk((*program_)[from], r, [&](node_id m) { originals.push_back(m); });
    if (!originals.empty()) (void)clone(from, originals, map);
  }

private:
  function& here() const { return (*program_)[id_]; }

  void place_at(region_id r, node_id before);

  // ---- uses
  void put_use(use_id u, value_id v);
  void add_use(value_id v, node_id user);
  void remove_use(use_id u);
  void drop_operands(node_id n);

  // ---- order
  void link(node_id n);
  void unlink(node_id n);
  // The first operation in the regions of n from this one on.
  node_id inside(node_id n, std::uint32_t region) const;
  // The operation that follows in the walk, behind the regions of n.
  node_id behind(node_id n) const;
  // The walk goes on behind n, if it was about to go there.
  void leave(node_id n);
  // Whether n is `outer`, or in one of its regions.
  bool is_within(node_id n, node_id outer) const;

  // Copies operations that are given in the order of a walk; the first stands where the cursor inserts, and so do those of
  // its region. They are listed before anything is inserted: a region may be copied into itself. Returns the first copy.
  template <class Map>
  node_id clone(function_id from, std::vector<node_id> const& originals, Map& map) {
    struct copied_region {
      region_id original;
      region_id copy;
      node_id before;
    };
    std::vector<copied_region> open{{(*program_)[from][originals.front()].parent, region_, before_}};
    place_id const saved = place_;
    node_id first = nothing;
    std::vector<value_id> operands;
    std::vector<type> results;
    std::vector<std::vector<type>> regions;
    for (node_id const n : originals) {
      function::node const original = (*program_)[from][n];
      {
        function const& f = (*program_)[from];
        operands.clear();
        results.clear();
        regions.assign(original.region_count, {});
        for (value_id const v : f.operands_of(n)) operands.push_back(mapped(from, v, map));
        for (value_id const v : f.results_of(n)) results.push_back(f.type_of(v));
        for (std::uint32_t i = 0; i < original.region_count; ++i)
          for (value_id const v : f.arguments_of(f.region_at(n, i))) regions[i].push_back(f.type_of(v));
      }
      while (open.back().original != original.parent) open.pop_back();
      place_at(open.back().copy, open.back().before);
      place_ = original.place;
      node_id const copy = insert(original.code, operands, results, original.attributes, regions);
      if (first == nothing) first = copy;
      function const& f = (*program_)[from];
      for (std::uint32_t i = 0; i < original.result_count; ++i)
        map.insert_or_assign(f.result(n, i), here().result(copy, i));
      for (std::uint32_t i = original.region_count; i-- > 0;) {
        region_id const made = here().region_at(copy, i);
        for (std::uint32_t k = 0; k < regions[i].size(); ++k)
          map.insert_or_assign(f.argument(f.region_at(n, i), k), here().argument(made, k));
        open.push_back({f.region_at(n, i), made, nothing});
      }
    }
    place_at(open.front().copy, open.front().before);
    place_ = saved;
    return first;
  }

  template <class Map>
  value_id mapped(function_id from, value_id v, Map const& map) {
    auto const at = map.find(v);
    if (at != map.end()) return at->second;
    function const& f = (*program_)[from];
    return f.is_literal(v) && from != id_ ? literal(f.type_of(v), f.bits_of(v)) : v;
  }

  program* program_;
  function_id id_;
  region_id region_;
  node_id before_ = nothing; // what is inserted goes before it; nothing: at the end of the region
  node_id next_ = nothing;
  node_id node_ = nothing;
  node_id behind_ = nothing; // what follows without the regions of node_
  place_id place_ = nothing;
};

} // namespace overdub::ir

#if OVERDUB_HEADER_ONLY
#include <overdub/ir/cursor.ipp>
#endif
