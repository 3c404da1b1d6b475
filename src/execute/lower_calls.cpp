#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/host_calls.hpp>
#include <overdub/implementation/execute/lower_calls.hpp>

#include <utility>

namespace overdub::execute {

// The list of a call: the number of argument words, their offsets, the offsets of results.
void lower_call(function_lowering& fn, node_id n) {
  bool const of_value = fn.f[n].code == ir::op::apply;
  std::vector<offset> list{0};
  for (std::uint32_t k = of_value; k < fn.f[n].operand_count; ++k) {
    retain_consumed(fn, n, k);
    append_words(fn, list, fn.f.operand(n, k));
  }
  list[0] = static_cast<offset>(list.size() - 1);
  for (value_id const v : fn.f.results_of(n)) {
    fn.slots.assign_new(v);
    append_words(fn, list, v);
  }
  offset const first_result = fn.f[n].result_count > 0 ? fn.at(fn.f.result(n)) : 0;
  fn.calls.push_back(
      of_value
          ? fn.out.emit(&apply::run, first_result, fn.out.list(list), fn.at(fn.f.operand(n, 0)))
          : fn.out.emit(
                &call::run, first_result, fn.out.list(list), fn.shared.number(fn.f[n].attributes.callee())));
}

void lower_closure(function_lowering& fn, node_id n) {
  std::vector<offset> list;
  for (std::uint32_t k = 0; k < fn.f[n].operand_count; ++k) {
    retain_consumed(fn, n, k);
    append_words(fn, list, fn.f.operand(n, k));
  }
  offset const where = fn.slots.assign_new(fn.f.result(n));
  fn.out.emit(
      &doing<make_closure>::run, where, fn.out.list(list), fn.shared.number(fn.f[n].attributes.callee()),
      static_cast<offset>(list.size()));
}

// All function values have one calling convention here.
void lower_reabstract(function_lowering& fn, node_id n) {
  value_id const f = fn.f.operand(n, 0);
  retain_consumed(fn, n, 0);
  fn.out.emit(&move_word::run, fn.slots.assign_new(fn.f.result(n)), fn.at(f));
}

void lower_host(function_lowering& fn, node_id n) {
  host_call made =
      host_call_of(fn.p, fn.f, n, fn.shared.to, [&fn](std::string const& why) { fn.refuse(why); });
  std::vector<offset> list = operand_words(fn, n);
  for (value_id const v : fn.f.results_of(n)) list.push_back(fn.slots.assign_new(v));
  fn.out.emit(&doing<call_host>::run, 0, fn.out.list(list), static_cast<offset>(fn.shared.to.hosts.size()));
  fn.shared.to.hosts.push_back(std::move(made));
}

void lower_sample(function_lowering& fn, node_id n) {
  sample_call made =
      sample_call_of(fn.p, fn.f, n, fn.shared.to, [&fn](std::string const& why) { fn.refuse(why); });
  std::vector<offset> list = operand_words(fn, n);
  list.push_back(fn.slots.assign_new(fn.f.result(n)));
  fn.out.emit(
      &doing<call_sampler>::run, 0, fn.out.list(list), static_cast<offset>(fn.shared.to.samples.size()));
  fn.shared.to.samples.push_back(std::move(made));
}

void lower_assert(function_lowering& fn, node_id n) {
  fn.out.emit(
      &assert_that::run, 0, fn.at(fn.f.operand(n, 0)), fn.out.text(fn.p.text(fn.f[n].attributes.text())));
}

} // namespace overdub::execute
