#include <overdub/implementation/pass/constant.hpp>
#include <overdub/implementation/pass/each_function.hpp>
#include <overdub/implementation/pass/rules.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/pass/ir_names.hpp>
#include <overdub/pass/simplify.hpp>

#include <cstddef>

namespace overdub::pass {
namespace detail {

class simplification {
public:
  simplification(program& p, function_id f) : cursor_(p, f, function::body) {}

  std::size_t run() {
    region(function::body);
    return changes_;
  }

private:
  static constexpr int maximum_visits = 4; // of the body of one loop

  void region(region_id r) {
    function const& f = *cursor_;
    for (node_id n = f[r].first; n != nothing;) {
      node_id const before = f[n].previous;
      if (f[n].region_count > 0) regions(n);
      if (!rewrite(n)) {
        n = f[n].next;
        continue;
      }
      ++changes_;
      n = before == nothing ? f[r].first : f[before].next; // visit the replacement
    }
  }
  // Replaces loop-invariant arguments in the body of a loop, and visits it again.
  void regions(node_id n) {
    bool const loops = ir::carries_values((*cursor_)[n].code);
    if (loops) changes_ += structural::unchanged(cursor_, n);
    for (int visit = 0; visit < maximum_visits; ++visit) {
      for (region_id const r : cursor_->regions_of(n)) region(r);
      if (!loops || !structural::unchanged(cursor_, n)) break;
      ++changes_;
    }
  }

  // Whether something has changed.
  bool rewrite(node_id n) {
    function const& f = *cursor_;
    if (auto const bits = constant(f, n, cursor_.owner().math))
      return structural::replace(cursor_, n, cursor_.literal(f.type_of(f.result(n)), *bits));
    pattern::bindings found;
    for (rule_table::entry const& e : rules_.of(f[n].code)) {
      cursor_.set_place(f[n].place);
      if (e.definition->rewrite != nullptr) {
        if (e.definition->rewrite(cursor_, n)) return true;
      } else if (e.left.matches(f, n, found) && applies_to(e.definition->types, f.type_of(found[0]))) {
        return put(n, e.right, found);
      }
    }
    return false;
  }
  bool put(node_id n, pattern const& right, pattern::bindings const& found) {
    function const& f = *cursor_;
    pattern::node const& root = right.root();
    type const t = f.type_of(f.result(n));
    if (root.is == pattern::node::kind::name) return structural::replace(cursor_, n, found[root.name]);
    if (root.is != pattern::node::kind::operation)
      return structural::replace(cursor_, n, cursor_.literal(t, pattern::bits_of(root, t)));
    structural::values operands;
    for (std::uint32_t const i : root.operands) operands.push_back(found[right[i].name]);
    return structural::replace(cursor_, n, root.code, operands);
  }

  cursor cursor_;
  rule_table const& rules_ = rule_table::get();
  std::size_t changes_ = 0;
};

} // namespace detail

std::size_t simplify(program& p) { return detail::run_on_each_function<detail::simplification>(p); }

} // namespace overdub::pass
