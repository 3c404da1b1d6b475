#include "../contexts.hpp"

#include <overdub/reverse/gradient_program.hpp>

namespace overdub::tools {

// Adds the gradient of every differentiable function by all its differentiable inputs.
ir::program in_reverse(ir::program const& p, observed&) {
  ir::program made = p;
  auto const is_real = [](ir::type t) {
    return t.element == ir::scalar::f32 || t.element == ir::scalar::f64;
  };
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    ir::function_id const f{i};
    if (p.is_erased(f)) continue;
    gradient_request wanted;
    bool takes = false, gives = false;
    for (ir::value_id const v : p[f].parameters()) {
      wanted.inputs.push_back(is_real(p[f].type_of(v)));
      takes = takes || wanted.inputs.back();
    }
    for (ir::type const t : p[f].results) {
      wanted.results.push_back(is_real(t));
      gives = gives || wanted.results.back();
    }
    if (!takes || !gives) continue;
    ir::function_id const gradient = add_gradient(made, f, wanted);
    if (p.entry == f) made.entry = gradient;
  }
  return made;
}

} // namespace overdub::tools
