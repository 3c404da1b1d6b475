// Lowering: calls, function values, and operations that leave the program.
#pragma once

#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/host_calls.hpp>
#include <overdub/implementation/execute/lowering.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace overdub::execute {

// The list of a call: the number of argument words, their offsets, the offsets of results.
inline void lowering::lower_call(node_id n) {
  bool const of_value = f_[n].code == ir::op::apply;
  std::vector<offset> list{0};
  for (std::uint32_t k = of_value; k < f_[n].operand_count; ++k) {
    retain_consumed(n, k);
    append_words(list, f_.operand(n, k));
  }
  list[0] = static_cast<offset>(list.size() - 1);
  for (value_id const v : f_.results_of(n)) {
    new_slot(v);
    append_words(list, v);
  }
  offset const first_result = f_[n].result_count > 0 ? at(f_.result(n)) : 0;
  calls_.push_back(
      of_value
          ? out_.emit(&apply::run, first_result, out_.list(list), at(f_.operand(n, 0)))
          : out_.emit(&call::run, first_result, out_.list(list), shared_.number(f_[n].attributes.callee())));
}

inline void lowering::lower_closure(node_id n) {
  std::vector<offset> list;
  for (std::uint32_t k = 0; k < f_[n].operand_count; ++k) {
    retain_consumed(n, k);
    append_words(list, f_.operand(n, k));
  }
  offset const where = new_slot(f_.result(n));
  out_.emit(
      &doing<make_closure>::run, where, out_.list(list), shared_.number(f_[n].attributes.callee()),
      static_cast<offset>(list.size()));
}

// All function values have one calling convention here.
inline void lowering::lower_reabstract(node_id n) {
  value_id const f = f_.operand(n, 0);
  retain_consumed(n, 0);
  out_.emit(&move_word::run, new_slot(f_.result(n)), at(f));
}

inline void lowering::lower_host(node_id n) {
  host_call made = host_call_of(p_, f_, n, shared_.to, [this](std::string const& why) { refuse(why); });
  std::vector<offset> list;
  for (value_id const v : f_.operands_of(n)) list.push_back(at(v));
  for (value_id const v : f_.results_of(n)) list.push_back(new_slot(v));
  out_.emit(&doing<call_host>::run, 0, out_.list(list), static_cast<offset>(shared_.to.hosts.size()));
  shared_.to.hosts.push_back(std::move(made));
}

inline void lowering::lower_sample(node_id n) {
  sample_call made = sample_call_of(p_, f_, n, shared_.to, [this](std::string const& why) { refuse(why); });
  std::vector<offset> list;
  for (value_id const v : f_.operands_of(n)) list.push_back(at(v));
  list.push_back(new_slot(f_.result(n)));
  out_.emit(&doing<call_sampler>::run, 0, out_.list(list), static_cast<offset>(shared_.to.samples.size()));
  shared_.to.samples.push_back(std::move(made));
}

inline void lowering::lower_assert(node_id n) {
  out_.emit(&assert_that::run, 0, at(f_.operand(n, 0)), out_.text(p_.text(f_[n].attributes.text())));
}

} // namespace overdub::execute
