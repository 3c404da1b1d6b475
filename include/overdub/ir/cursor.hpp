// The cursor: a position in a function, at which operations are inserted, replaced, erased and moved during a walk. All passes
// edit functions by cursors.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/infer.hpp>
#include <overdub/ir/literal_bits.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/ir/walk.hpp>

#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace overdub::ir {

/// A position between two operations of a function, or at the end of a region. It walks over all operations in pre-order:
/// nested ones come after the operation that contains them.
///
///   for (cursor c(p, f); c.next();)
///     if (...) c.replace(c.add(op::mul, c.operand(0), c.operand(0)));
///
/// The walk continues with the operation that followed when the cursor arrived. Operations inserted or moved before it are
/// not visited, nor are their regions; operations inserted after it are. Every edit is O(its operands, their uses, and the
/// depth), and none recurses. Two cursors on one function may alternate, unless one moves or erases the current or next
/// operation of the other.
class cursor {
public:
  using types = std::span<type const>;
  using values = std::span<value_id const>;

  /// A cursor before the first operation of the function.
  cursor(program& p, function_id f)
      : program_(&p), id_(f), region_(function::body), before_(here()[region_].first), next_(before_) {}
  /// A cursor at the end of a region.
  cursor(program& p, function_id f, region_id r) : program_(&p), id_(f), region_(r) {}

  program& owner() const { return *program_; }
  function_id id() const { return id_; }
  function const& operator*() const { return (*program_)[id_]; }
  function const* operator->() const { return &(*program_)[id_]; }

  // ---- walking

  /// Moves to the next operation in pre-order, and the insertion point to before it. Returns false at the end of the function.
  bool next();
  /// Skips the regions of the current operation.
  void skip_regions() { next_ = after_regions_; }

  /// The current operation, after next().
  node_id node() const { return node_; }
  op code() const { return here()[node_].code; }
  value_id operand(std::uint32_t i) const { return here().operand(node_, i); }
  value_id result(std::uint32_t i = 0) const { return here().result(node_, i); }

  // ---- the insertion point

  void to_end(region_id r) { place_at(r, nothing); }
  void to_start(region_id r) { place_at(r, here()[r].first); }
  void to_before(node_id n) { place_at(here()[n].parent, n); }
  void to_after(node_id n) { place_at(here()[n].parent, here()[n].next); }
  /// Moves to before the yield of a region, or to its end if it has no yield yet.
  void to_yield(region_id r);
  region_id region() const { return region_; }

  // ---- inserting

  value_id literal(type t, std::uint64_t bits);
  /// The literal of a double, float, std::int64_t or bool.
  template <class T>
  value_id literal(T x) {
    static_assert(
        std::is_same_v<T, double> || std::is_same_v<T, float> || std::is_same_v<T, std::int64_t> ||
            std::is_same_v<T, bool>,
        "overdub: a literal is a double, float, std::int64_t or bool");
    constexpr type t = std::is_same_v<T, double>  ? f64
                       : std::is_same_v<T, float> ? f32
                       : std::is_same_v<T, bool>  ? boolean
                                                  : i64;
    return literal(t, bits_of_number(x));
  }

  /// A value without a definition, as a free variable of a term, for code whose parameters are not known yet. Operations in all regions may
  /// use it. A copy of the code (`clone`, with a map) binds it; the verifier rejects a function that has one.
  value_id free_value(type t);

  /// Inserts an operation with results and region arguments of these types. The verifier checks the types later. The spans
  /// may refer to operands of the function itself.
  node_id insert(
      op code, values operands, types results, attributes const& a = {},
      std::span<std::vector<type> const> regions = {});
  /// Inserts an operation, and infers its result types. Throws verify_error for operands of wrong types.
  node_id insert(op code, std::initializer_list<value_id> operands, attributes const& a = {}) {
    return insert(code, values(operands.begin(), operands.size()), a);
  }
  node_id insert(op code, values operands, attributes const& a = {});
  /// Inserts an operation with one result, and returns the result.
  template <class... V>
  value_id add(op code, V... operands) {
    return here().result(insert(code, {value_id(operands)...}));
  }
  value_id convert(value_id x, type to);
  void yield(values results) { insert(op::yield, results, types{}); }

  /// The source location of operations that are inserted from now on.
  void set_place(place_id p) { place_ = p; }

  // ---- editing

  void set_operand(node_id n, std::uint32_t i, value_id v);
  /// Replaces the operands of an operation, whose number may change.
  void set_operands(node_id n, values operands);
  /// Adds results of these types to an operation that was inserted without results.
  void set_results(node_id n, types results);
  attributes& attributes_of(node_id n) { return here().nodes_[index_of(n)].attributes; }
  void set_code(node_id n, op code) { here().nodes_[index_of(n)].code = code; }
  void set_type(value_id v, type t) { here().values_[index_of(v)].type = t; }
  void set_name(value_id v, symbol name) { here().values_[index_of(v)].name = name; }
  void set_place_of(node_id n, place_id p) { here().nodes_[index_of(n)].place = p; }

  /// Replaces every use of `from` by `to`.
  void substitute(value_id from, value_id to);
  /// Replaces the uses of an operation's results, and erases it.
  void replace(node_id n, values results);
  void replace(value_id result) { replace(node_, values(&result, 1)); }
  void replace(values results) { replace(node_, results); }

  /// Erases an operation with its regions. Its results must be unused. An insertion point before it, or in its regions, moves
  /// to after it.
  void erase(node_id n);
  void erase() { erase(node_); }

  /// Moves an operation, with its regions, to the insertion point, which must not be in one of them.
  void move(node_id n);
  /// Moves the operations of a region, except the yield, to the insertion point, and replaces uses of its arguments.
  /// Returns the yielded values, and leaves the region empty.
  std::vector<value_id> splice(region_id from, values arguments);

  /// Copies an operation of any function of this program to the insertion point. `map` maps its operands, and those in its
  /// regions; copied values are added to the map. O(operations copied).
  template <class Map>
  node_id clone(function_id from, node_id n, Map& map) {
    std::vector<node_id> originals{n};
    for (region_id const r : (*program_)[from].regions_of(n))
      walk((*program_)[from], r, [&](node_id m) { originals.push_back(m); });
    return clone(from, originals, map);
  }
  /// Copies the operations of a region, including the yield.
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
  // The first operation in the regions of n, from this region on.
  node_id first_nested(node_id n, std::uint32_t region) const;
  // The next operation in the walk after the regions of n.
  node_id next_after(node_id n) const;
  // If the walk would continue at n or in its regions, lets it continue after them.
  void leave(node_id n);
  // Whether n is `outer`, or nested in it.
  bool is_within(node_id n, node_id outer) const;

  // Copies operations that are listed in the order of a walk; the first region's go to the insertion point. They are listed
  // before anything is inserted, since a region may be copied into itself. Returns the first copy.
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
  node_id before_ = nothing; // the insertion point is before it; nothing: at the end of the region
  node_id next_ = nothing;
  node_id node_ = nothing;
  node_id after_regions_ = nothing; // the next operation after the regions of node_
  place_id place_ = nothing;
};

} // namespace overdub::ir
