#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/lower_scalars.hpp>
#include <overdub/implementation/ir/operands.hpp>
#include <overdub/implementation/ir/sine_and_cosine.hpp>

namespace overdub::execute {
namespace {

// The first of the two computes both results.
void lower_sine_and_cosine(function_lowering& fn, node_id n, node_id other) {
  if (!fn.order.is_before(n, other)) return;
  offset const from = fn.at(fn.f.operand(n, 0)), own = fn.slots.assign_new(fn.f.result(n)),
               later = fn.slots.allocate(1);
  fn.slots.assign(fn.f.result(other), {.at = later, .owns_words = true});
  bool const is_sine = fn.f[n].code == ir::op::sin;
  bool const is_f32 = fn.type_of(fn.f.result(n)).element == ir::scalar::f32;
  fn.out.emit(
      is_f32 ? &call_sine_and_cosine<float>::run : &call_sine_and_cosine<double>::run, is_sine ? own : later,
      from, is_sine ? later : own);
}

void lower_select(function_lowering& fn, node_id n) {
  value_id const result = fn.f.result(n);
  offset const where = fn.slots.assign_new(result);
  offset const list[] = {fn.at(fn.f.operand(n, 0)), fn.slots.words_of(result)};
  fn.out.emit(
      &doing<select_words>::run, where, fn.out.list(list), fn.at(fn.f.operand(n, 1)),
      fn.at(fn.f.operand(n, 2)));
  fn.out.emit(&retain_owner::run, 0, fn.slots.owner_word(result));
}

} // namespace

void lower_elementwise(function_lowering& fn, node_id n) {
  value_id const result = fn.f.result(n);
  if (fn.f[n].code == ir::op::select && fn.type_of(result).rank + fn.type_of(result).is_function() > 0)
    return lower_select(fn, n);
  if (fn.f[n].code == ir::op::digamma || fn.f[n].code == ir::op::polygamma)
    if (detail::special.digamma_f64 == nullptr)
      fn.refuse(
          "digamma and polygamma are computed with Boost.Math; #include <overdub/special.hpp> in a source "
          "of the program");
  if (fn.p.math == ir::math_mode::exact && fn.lanes == nullptr)
    if (node_id const other = ir::other_of_sine_and_cosine(fn.f, n); other != ir::nothing)
      return lower_sine_and_cosine(fn, n, other);
  emitter::operand x[3]{};
  std::size_t count = 0;
  for (value_id const v : fn.f.operands_of(n)) x[count++] = {v, fn.at(v), is_only_use(fn.f, v, n)};
  ir::scalar const type = fn.type_of(x[ir::main_operand(fn.f[n].code)].value).element;
  end_scalars(fn, n);
  offset const where = fn.slots.assign_new(result);
  fn.out.elementwise(fn.f[n].code, type, {x, count}, result, where);
}

void lower_convert(function_lowering& fn, node_id n) {
  value_id const from = fn.f.operand(n, 0), result = fn.f.result(n);
  offset const source = fn.at(from);
  end_scalars(fn, n);
  offset const where = fn.slots.assign_new(result);
  fn.out.convert(fn.type_of(from).element, fn.type_of(result).element, source, where);
}

} // namespace overdub::execute
