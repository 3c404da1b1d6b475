#include <overdub/implementation/ir/maker.hpp>
#include <overdub/implementation/pass/constant.hpp>
#include <overdub/implementation/pass/each_function.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/pass/fold.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cstddef>
#include <vector>

namespace overdub::pass {
namespace detail {

class folding {
public:
  folding(program& p, function_id f) : cursor_(p, f, function::body) {}

  std::size_t run() {
    region(function::body);
    return changes_;
  }

private:
  using values = std::vector<value_id>;
  function const& f() const { return *cursor_; }
  std::int64_t integer(value_id v) const { return static_cast<std::int64_t>(f().bits_of(v)); }

  void region(region_id r) {
    for (node_id n = f()[r].first; n != nothing;) {
      node_id const before = f()[n].previous;
      if (!fold(n)) {
        n = f()[n].next;
        continue;
      }
      ++changes_;
      n = before == nothing ? f()[r].first : f()[before].next; // visit the replacement
    }
  }

  // Folds an operation. Returns whether it was replaced.
  bool fold(node_id n) {
    if (auto const bits = constant(f(), n, cursor_.owner().math)) {
      value_id const v = cursor_.literal(f().type_of(f().result(n)), *bits);
      cursor_.replace(n, cursor::values(&v, 1));
      return true;
    }
    function::node const node = f()[n];
    cursor_.to_before(n);
    cursor_.set_place(node.place);
    switch (node.code) {
    case op::assert_:
      return f().is_literal(f().operand(n, 0)) && f().bits_of(f().operand(n, 0)) != 0 && replace(n, {});
    case op::iota:
    case op::fill:
      return is_zero(f().operand(n, 0)) && replace(n, {});
    case op::gather:
      return is_empty(f().operand(n, 1)) && replace(n, {});
    case op::reduce:
      for (std::uint32_t i = 0; i < node.result_count; ++i)
        if (!is_empty(f().operand(n, i))) return into_regions(n);
      return node.attributes.is_started() && replace(n, operands(n, node.result_count));
    case op::if_:
      if (!f().is_literal(f().operand(n, 0))) return into_regions(n);
      return replace(n, cursor_.splice(f().region_at(n, f().bits_of(f().operand(n, 0)) != 0 ? 0 : 1), {}));
    case op::while_: {
      region(f().region_at(n, 0));
      value_id const condition = f().operand(f().yield_of(f().region_at(n, 0)), 0);
      if (!f().is_literal(condition) || f().bits_of(condition) != 0) {
        region(f().region_at(n, 1));
        return false;
      }
      cursor_.to_before(n);
      values const initial = operands(n, 0);
      (void)cursor_.splice(f().region_at(n, 0), initial);
      return replace(n, initial);
    }
    default:
      return runs_no_iteration(n) ? replace(n, operands(n, 1)) : into_regions(n);
    }
  }
  // Whether the trip count is known to be 0. A loop does not run for negative ones either; a map fails.
  bool runs_no_iteration(node_id n) const {
    op const code = f()[n].code;
    if (!ir::is_counted(code) || !f().is_literal(f().operand(n, 0))) return false;
    std::int64_t const count = integer(f().operand(n, 0));
    return count == 0 || (count < 0 && ir::carries_values(code));
  }
  bool into_regions(node_id n) {
    for (region_id const r : f().regions_of(n)) region(r);
    return false;
  }
  values operands(node_id n, std::uint32_t first) const {
    values all;
    for (std::uint32_t i = first; i < f()[n].operand_count; ++i) all.push_back(f().operand(n, i));
    return all;
  }
  bool is_zero(value_id v) const { return f().is_literal(v) && f().bits_of(v) == 0; }
  bool is_empty(value_id array) const {
    node_id const n = ir::maker_of(f(), array, op::array);
    return n != nothing && f()[n].operand_count == 0;
  }

  // Replaces the first results by these values, and the others by empty arrays.
  bool replace(node_id n, values results) {
    cursor_.to_before(n);
    for (auto i = static_cast<std::uint32_t>(results.size()); i < f()[n].result_count; ++i) {
      type const t = f().type_of(f().result(n, i));
      results.push_back(f().result(cursor_.insert(op::array, cursor::values{}, cursor::types(&t, 1))));
    }
    cursor_.replace(n, results);
    return true;
  }

  cursor cursor_;
  std::size_t changes_ = 0;
};

} // namespace detail

std::size_t fold(program& p) { return detail::run_on_each_function<detail::folding>(p); }

} // namespace overdub::pass
