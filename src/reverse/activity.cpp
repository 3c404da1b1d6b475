#include <overdub/implementation/reverse/activity.hpp>

#include <cstdint>

namespace overdub::adjoint {

activity::activity(ir::program const& p, function_id id, std::vector<bool> const& parameters)
    : activity(p[id]) {
  function const& f = p[id];
  std::vector<value_id> inputs;
  for (std::uint32_t i = 0; i < parameters.size(); ++i)
    if (parameters[i]) inputs.push_back(f.argument(function::body, i));
  ir::dependents const known(
      f, {.values = inputs},
      {.passes =
           [&](node_id n) {
             ir::attributes const& a = f[n].attributes;
             return f[n].code != op::call ||
                    (!a.is_exempt() && p[a.callee()].derivative.how != ir::derivative::by::constant);
           },
       .carries = [](ir::type t) { return is_differentiable(t) || is_opaque(t); }});
  for (std::uint32_t i = 0; i < f.value_count(); ++i)
    if (value_id const v{i}; known.of(v))
      set(v, is_opaque(f.type_of(v)) ? activity_state::hides : activity_state::varies);
}

} // namespace overdub::adjoint
