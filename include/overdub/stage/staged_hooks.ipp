#pragma once

#include <overdub/stage/staged_hooks.hpp>

#include <string_view>
#include <vector>

namespace overdub::detail {

OVERDUB_DECL ir::id_range<ir::value_id>
stage_protect(recorder& r, function_view<std::vector<ir::value_id>()> compute, function_view<void()> fail) {
  ir::node_id const n = r.insert(ir::op::protect, {}, {}, {}, std::vector<std::vector<ir::type>>(2));
  std::vector<ir::type> types;
  {
    auto const scope = r.enter(r.region_of(n, 0));
    std::vector<ir::value_id> const results = compute();
    r.at().yield(results);
    types = r.types_of(results);
  }
  {
    auto const scope = r.enter(r.region_of(n, 1));
    fail();
    r.at().yield({});
  }
  r.at().set_results(n, types);
  return r.here().results_of(n);
}
OVERDUB_DECL ir::value_id stage_observed(
    recorder& r, std::span<observation const> contexts, std::span<void* const> objects,
    std::span<ir::value_id const> operands, function_view<ir::value_id()> stage) {
  if (contexts.empty()) return stage();
  observation const& here = contexts.front();
  auto const call = [&](std::string_view name, observation::hook hook, std::span<ir::value_id const> given) {
    r.add_hook({here.context, name, here.operation, hook, objects.front(), here.has_state}, given);
  };
  auto const inside = [&] {
    return stage_observed(r, contexts.subspan(1), objects.subspan(1), operands, stage);
  };
  if (here.before != nullptr) call("before", here.before, operands);
  ir::value_id result = ir::nothing;
  if (here.failed == nullptr) {
    result = inside();
  } else {
    result = stage_protect(
        r, [&] { return std::vector{inside()}; }, [&] { call("failed", here.failed, operands); })[0];
  }
  if (here.after != nullptr) {
    std::vector<ir::value_id> given{result};
    given.insert(given.end(), operands.begin(), operands.end());
    call("after", here.after, given);
  }
  return result;
}

} // namespace overdub::detail
