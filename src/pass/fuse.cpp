#include <overdub/implementation/pass/each_function.hpp>
#include <overdub/ir/bounds.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/pass/fuse.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::pass {

namespace detail {

class fusion {
public:
  fusion(program& p, function_id f, effects const& known)
      : cursor_(p, f, function::body), effects_(known.of_each(p[f])), failing_before_(p[f].node_count()) {}

  std::size_t run() {
    region(function::body);
    return fused_;
  }
  /// Whether a map that may fail was fused, and no longer blocks others.
  bool again() const { return again_; }

private:
  function const& f() const { return *cursor_; }
  effect_set effects_of(node_id n) const { return effects_[index_of(n)]; }

  void region(region_id r) {
    std::uint32_t failing = 0;
    for (node_id const n : f().nodes_of(r)) {
      failing_before_[index_of(n)] = failing;
      failing += !effects_of(n).is_pure();
    }
    for (node_id n = f()[r].first; n != nothing;) {
      node_id const before = f()[n].previous;
      bool const is_gone = f()[n].code == op::map && fuse(n); // and perhaps the `at` after it
      n = !is_gone ? f()[n].next : before == nothing ? f()[r].first : f()[before].next;
    }
    for (node_id const n : f().nodes_of(r))
      for (region_id const inner : f().regions_of(n)) region(inner);
  }

  // Whether the map was fused into its reader.
  bool fuse(node_id map) {
    node_id const reader = only_reader(map);
    if (reader == nothing) return false;
    bool const one = f()[reader].code == op::at;
    region_id const iteration = one ? region_id(nothing) : f().region_at(reader, 0);
    value_id const index = one ? f().operand(reader, 1) : f().argument(iteration, 0);
    cursor_.to_before(one ? reader : f()[iteration].first);
    std::vector<value_id> const elements = cursor_.splice(f().region_at(map, 0), cursor::values(&index, 1));
    for (std::uint32_t i = 0; i < elements.size(); ++i)
      while (f().is_used(f().result(map, i)))
        cursor_.replace(f()[f()[f().result(map, i)].first_use].user, cursor::values(&elements[i], 1));
    if (!one) effects_[index_of(reader)] |= effects_of(map);
    again_ = again_ || !effects_of(map).is_pure();
    cursor_.erase(map);
    ++fused_;
    return true;
  }
  // The map or loop that alone reads the results, each element in the iteration of the same index; or the single `at` that
  // reads one. Nothing, if there is none.
  node_id only_reader(node_id map) const {
    for (value_id const v : f().results_of(map))
      if (f().type_of(v).rank > 1) return nothing; // rows may differ in shape
    node_id reader = nothing;
    std::size_t uses = 0;
    for (value_id const v : f().results_of(map))
      for (use_id const u : f().uses_of(v)) {
        node_id const read = f()[u].user;
        if (f()[read].code != op::at || f()[read].operand_count != 2) return nothing;
        node_id const enclosing = iteration_of(map, read);
        if (++uses > 1 && (enclosing == nothing || enclosing != reader)) return nothing;
        reader = enclosing == nothing ? read : enclosing;
      }
    return reader != nothing && may_go_to(map, reader) ? reader : node_id(nothing);
  }
  // The map or loop, in the map's region, whose index an `at` reads by, if both have the same trip count.
  node_id iteration_of(node_id map, node_id read) const {
    value_id const i = f().operand(read, 1);
    if (!ir::is_iteration_index(f(), i)) return nothing;
    node_id const n = ir::owner_of(f(), i);
    return f()[n].parent == f()[map].parent && f().operand(n, 0) == f().operand(map, 0) ? n
                                                                                        : node_id(nothing);
  }
  bool may_go_to(node_id map, node_id reader) const {
    effect_set const e = effects_of(map);
    if (f()[reader].code == op::at)
      return e.is_pure() && f()[reader].parent == f()[map].parent && effects_of(reader).is_pure();
    if (e.is_pure()) return true;
    // The first element that fails remains the first error: nothing else fails in between, or in the reader.
    if (!e.can_merge() || f()[reader].code != op::map) return false;
    if (failing_before_[index_of(reader)] != failing_before_[index_of(map)] + 1) return false;
    for (node_id const n : f().nodes_of(f().region_at(reader, 0)))
      if (!effects_of(n).is_pure()) return false;
    return true;
  }

  cursor cursor_;
  std::vector<effect_set> effects_;
  std::vector<std::uint32_t> failing_before_; // operations of the same region
  bool again_ = false;
  std::size_t fused_ = 0;
};

} // namespace detail

std::size_t fuse(program& p) {
  effects const known(p);
  return detail::run_until_stable<detail::fusion>(p, known);
}

} // namespace overdub::pass
