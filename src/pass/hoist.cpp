#include <overdub/implementation/pass/each_function.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/pass/hoist.hpp>
#include <overdub/pass/ir_names.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::pass {
namespace detail {

/// What is pure, and yet is executed only where the program executes it: a `while`, which may not terminate; an array of so many elements
/// that a program without it might have enough memory; and calls of functions with either. Recursion fails in the end.
class unbounded {
public:
  explicit unbounded(program const& p)
      : of_(ir::functions_with(
            p, ir::call_components(p), [](function const& f, node_id n) { return is_unbounded(f, n); })) {}
  bool of(function const& f, node_id n) const {
    return is_unbounded(f, n) || (f[n].code == op::call && of_[f[n].attributes.subject]);
  }

private:
  static constexpr std::uint64_t few_elements = 1 << 16;

  static bool is_unbounded(function const& f, node_id n) {
    op const code = f[n].code;
    if (code == op::while_) return true;
    bool const allocates = code == op::fill || code == op::iota || ir::is_counted(code);
    return allocates && f.is_literal(f.operand(n, 0)) && f.bits_of(f.operand(n, 0)) > few_elements;
  }

  std::vector<bool> of_; // by function
};

class hoisting {
public:
  hoisting(program& p, function_id f, effects const& known, unbounded const& without_bounds)
      : cursor_(p, f, function::body), effects_(known.of_each(p[f])), unbounded_(without_bounds),
        depth_(p[f].region_count()), uses_(p[f].node_count()), is_unbounded_(p[f].node_count()) {}

  std::size_t run() {
    region(function::body, 0);
    return moved_;
  }
  /// Whether an operation that may fail was moved: the enclosing operation may be pure now.
  bool again() const { return again_; }

private:
  // A set of region depths, one bit each. Depths from `deepest` on share a bit.
  using depths = std::uint64_t;
  static constexpr std::uint32_t deepest = 63;
  static depths bit(std::uint32_t depth) { return depths{1} << std::min(depth, deepest); }
  static depths up_to(std::uint32_t depth) { return depth >= deepest ? ~depths{0} : (bit(depth) << 1) - 1; }

  function const& f() const { return *cursor_; }
  std::uint32_t depth_of(value_id v) const { return depth_[index_of(f().region_of(v))]; }

  void region(region_id r, std::uint32_t depth) {
    depth_[index_of(r)] = depth;
    for (node_id n = f()[r].first; n != nothing; n = f()[n].next) {
      for (region_id const inner : f().regions_of(n)) region(inner, depth + 1);
      if (f()[n].region_count > 0) move_out(n, depth);
      note(n, depth);
    }
  }
  // Records the depths of the values that an operation uses from outside, and whether it is unbounded.
  void note(node_id n, std::uint32_t depth) {
    depths uses = operands(n);
    bool is_unbounded = unbounded_.of(f(), n);
    for (region_id const r : f().regions_of(n))
      for (node_id const inner : f().nodes_of(r)) {
        uses |= uses_[index_of(inner)] & up_to(depth);
        is_unbounded = is_unbounded || is_unbounded_[index_of(inner)];
      }
    uses_[index_of(n)] = uses;
    is_unbounded_[index_of(n)] = is_unbounded;
  }
  depths operands(node_id n) const {
    depths uses = 0;
    for (value_id const v : f().operands_of(n))
      if (!f().is_literal(v)) uses |= bit(depth_of(v));
    return uses;
  }
  // The depths after values have moved outwards.
  depths uses_now(node_id n, std::uint32_t depth) const {
    if (f()[n].region_count == 0) return operands(n);
    if (!has_moved_ || (uses_[index_of(n)] & bit(depth)) == 0) return uses_[index_of(n)];
    depths uses = operands(n);
    for (region_id const r : f().regions_of(n))
      ir::walk(f(), r, [&](node_id inner) { uses |= operands(inner) & up_to(depth); });
    return uses;
  }

  bool is_known_to_run(node_id n, region_id r) const {
    op const code = f()[n].code;
    if (ir::is_counted(code))
      return f().is_literal(f().operand(n, 0)) &&
             static_cast<std::int64_t>(f().bits_of(f().operand(n, 0))) > 0;
    return ir::has_accumulators(code) || !ir::region_flow(f(), n).yields_results(r); // a condition
  }
  void move_out(node_id n, std::uint32_t depth) {
    if (!ir::repeats_regions(f()[n].code) && !ir::has_accumulators(f()[n].code)) return;
    for (region_id const r : f().regions_of(n)) {
      bool runs = is_known_to_run(n, r);
      has_moved_ = false;
      for (node_id m = f()[r].first; m != nothing;) {
        node_id const following = f()[m].next;
        effect_set const e = effects_[index_of(m)];
        bool const may_move = f()[m].code == op::yield ? false
                              : e.is_pure()            ? runs || !is_unbounded_[index_of(m)]
                                                       : runs && e.can_merge();
        uses_[index_of(m)] = uses_now(m, depth + 1);
        if (may_move && (uses_[index_of(m)] & ~up_to(depth)) == 0 && depth + 1 < deepest) {
          cursor_.to_before(n);
          cursor_.move(m);
          has_moved_ = true;
          ++moved_;
          again_ = again_ || !e.is_pure();
        } else if (!e.is_pure() || is_unbounded_[index_of(m)]) {
          runs = false; // what may fail stays after other failures, and after what is unbounded
        }
        m = following;
      }
    }
  }

  cursor cursor_;
  std::vector<effect_set> effects_;
  unbounded const& unbounded_;
  std::vector<std::uint32_t> depth_;       // for each region
  std::vector<depths> uses_;               // for each visited operation
  std::vector<std::uint8_t> is_unbounded_; // for each visited operation
  bool has_moved_ = false;                 // out of the current region
  bool again_ = false;
  std::size_t moved_ = 0;
};

} // namespace detail

std::size_t hoist(program& p) {
  effects const known(p);
  detail::unbounded const without_bounds(p);
  return detail::run_until_stable<detail::hoisting>(p, known, without_bounds);
}

} // namespace overdub::pass
