#include <overdub/ir/cursor.hpp>
#include <overdub/stage/staged_hooks.hpp>

#include <string_view>
#include <vector>

namespace overdub::detail {

ir::id_range<ir::value_id>
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
std::vector<ir::value_id> stage_observed(recorder& r, observed_call const& call) {
  if (call.contexts.empty()) return call.stage();
  observation const& here = call.contexts.front();
  auto const add_hook = [&](std::string_view name, observation::hook hook,
                            std::span<ir::value_id const> given) {
    r.add_hook({here.context, name, call.name, hook, call.objects.front(), here.has_state}, given);
  };
  auto const inside = [&] {
    observed_call inner = call;
    inner.contexts = call.contexts.subspan(1);
    inner.objects = call.objects.subspan(1);
    return stage_observed(r, inner);
  };
  if (here.before != nullptr) add_hook("before", here.before, call.operands);
  std::vector<ir::value_id> results;
  if (here.failed == nullptr)
    results = inside();
  else
    for (ir::value_id const v :
         stage_protect(r, inside, [&] { add_hook("failed", here.failed, call.operands); }))
      results.push_back(v);
  if (here.after != nullptr) add_hook("after", here.after, call.operands_after(results));
  return results;
}

} // namespace overdub::detail
