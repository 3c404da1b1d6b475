#include <overdub/implementation/ir/zero_value.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/type_text.hpp>
#include <overdub/models/function_prefix.hpp>
#include <overdub/models/sample.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::models::detail {

std::vector<ir::value_id> zeros_of(overdub::detail::recorder& r, std::vector<ir::type> const& types) {
  std::vector<ir::value_id> zeros;
  for (ir::type const t : types) zeros.push_back(ir::zero_value(r.at(), t));
  return zeros;
}

ir::value_id stage_choice(
    overdub::detail::recorder& r, std::string_view address, std::string const& distribution,
    std::vector<ir::value_id> const& parameters, void (*draw)(void*, void const* const*, void* const*),
    ir::type type) {
  std::string types;
  for (ir::type const t : r.types_of(parameters))
    types += (types.empty() ? "" : ", ") + ir::text_of(r.program, t);
  (void)r.bind(std::string(function_prefix::draw) + distribution + '(' + types + ')', draw, nullptr);

  std::vector<ir::value_id> operands = ir::enclosing_indices(r.here(), r.at().region());
  ir::attributes a = ir::attributes::of(r.program.intern(address));
  a.detail = r.program.intern(distribution);
  a.count = static_cast<std::uint16_t>(operands.size());
  operands.insert(operands.end(), parameters.begin(), parameters.end());
  return r.add(ir::op::sample, operands, type, a);
}

} // namespace overdub::models::detail
