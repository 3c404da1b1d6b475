#include "program.hpp"

#include "entry_points.hpp"
#include "function.hpp"

#include <overdub/ir/calls.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/ir/walk.hpp>

namespace overdub::jit {
namespace {

bool repeats(ir::program const& p, function_id entry) {
  ir::effect_set all = ir::effects(p).of(entry);
  for (effect const e : {effect::addressed, effect::accumulates, effect::ordered})
    if (all.has(e)) return false;
  return true;
}

// In the exact mode, libm is called number by number. A call that runs once does not matter.
vector_width width_for(ir::program const& p, function_id entry) {
  if (p.math != ir::math_mode::exact) return vector_width::all;
  bool calls = false;
  for (function_id const id : ir::reachable_functions(p, entry)) {
    ir::function const& f = p[id];
    ir::walk(f, ir::function::body, [&](node_id n) {
      bool const repeats = id != entry || f[n].parent != ir::function::body;
      calls = calls || (repeats && ir::is_elementary(f[n].code));
    });
  }
  return calls ? vector_width::at_most_256 : vector_width::all;
}

target_vectors target_for(llvm::Module& m, ir::program const& p, function_id entry, options const& o) {
  vector_width const width = width_for(p, entry);
  return {width, set_target(m, o, width)};
}

} // namespace

program_state::program_state(
    ir::program const& given, function_id entry, execute::code& made, options const& o)
    : p(given), how(o), context(std::make_unique<llvm::LLVMContext>()),
      module(std::make_unique<llvm::Module>("overdub", *context)), calls(given), owners(given, calls),
      is_repeatable(repeats(given, entry)), target(target_for(*module, given, entry, o)),
      elementary(*module, given.math, target.unit), functions(given, calls, *module, target.unit.bits),
      closures(given, owners, functions, made), hosts(made) {
  if (o.debug) lines.emplace(*module, p);
}

void compile_program(program_state& program, function_id entry) {
  (void)program.functions.function_for(entry);
  while (auto const f = program.functions.next_pending()) compile_function(program, *f);
  program.closures.fill();
  program.elementary.keep_variants();
  make_entry_points(program, entry);
  if (program.lines) program.lines->finish();
}

} // namespace overdub::jit
