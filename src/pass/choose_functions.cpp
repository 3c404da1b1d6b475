#include <overdub/pass/choose_functions.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::pass {
namespace detail {

inline bool choose_function(cursor& c) {
  function const& f = *c;
  node_id const n = c.node();
  if (f[n].operand_count != 2 || !f.type_of(c.result()).is_function()) return false;
  value_id const array = c.operand(0);
  if (!f.is_result(array) || f[f.node_of(array)].code != op::array) return false;
  std::vector<value_id> elements, indices;
  for (value_id const v : f.operands_of(f.node_of(array))) elements.push_back(v);
  if (elements.empty()) return false;
  type const t = f.type_of(c.result()), integers = ir::i64.array_of();
  c.set_place(f[n].place);
  for (std::size_t i = 0; i < elements.size(); ++i)
    indices.push_back(c.literal(static_cast<std::int64_t>(i)));
  value_id const numbers = c->result(c.insert(op::array, indices, cursor::types(&integers, 1)));
  value_id const index = c.add(op::at, numbers, c.operand(1)); // an index out of range still fails
  value_id chosen = elements.back();
  for (std::size_t i = elements.size() - 1; i-- > 0;) {
    value_id const operands[] = {c.add(op::eq, index, indices[i]), elements[i], chosen};
    chosen = c->result(c.insert(op::select, operands, cursor::types(&t, 1)));
  }
  c.replace(chosen);
  return true;
}

} // namespace detail

std::size_t choose_functions(program& p) {
  std::size_t changes = 0;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    for (cursor c(p, function_id{i}); c.next();)
      if (c.code() == op::at) changes += detail::choose_function(c);
  return changes;
}

} // namespace overdub::pass
