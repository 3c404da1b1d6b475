// The evaluation of operations that leave the program: native functions, random choices and assertions.
#pragma once

#include <overdub/core/quantifiers.hpp>
#include <overdub/stage/evaluation/copy.hpp>
#include <overdub/stage/program_native.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace overdub::detail {

// ---- native functions

template <class S>
std::string_view name_of_native(evaluation_state<S> const& e, ir::function::node const& x) {
  return e.program().text(x.attributes.text());
}
template <class S>
void const* origin_of_native(evaluation_state<S> const& e, ir::function::node const& x) {
  ir::host_binding const* const known = e.program().host(x.attributes.text());
  return known == nullptr ? nullptr : known->origin_in_cpp;
}
// The native function of a host operation.
template <class S>
ir::host_binding const& host_of(evaluation_state<S> const& e, ir::function::node const& x) {
  ir::host_binding const* const known = e.program().host(x.attributes.text());
  if (known == nullptr)
    throw host_error(message(
        "overdub: evaluate: the program has no function for the host operation \"%s\"; run it by an "
        "executable that is given one",
        std::string(detail::name_of_native(e, x)).c_str()));
  detail::refuse_context(*known);
  return *known;
}
template <class S>
void run_native(
    evaluation_state<S> const& e, ir::function::node const& x, std::vector<void const*> const& given,
    void* result) {
  ir::host_binding const& known = detail::host_of(e, x);
  known.run(known.object, given.data(), &result);
}
template <class S>
ir::value_id stage_native(
    evaluation_state<S>& e, ir::function::node const& x, std::span<ir::value_id const> operands,
    std::vector<ir::type> const& results) {
  recorder& r = e.recorder();
  ir::node_id const made = r.insert(ir::op::host, operands, results, detail::attributes_in(e, x));
  return results.empty() ? ir::value_id{ir::nothing} : r.here().result(made);
}

// ---- operations that contexts do not intercept

// Throws evaluation_error if the call would lose metadata, and a context with metadata has a rule for all native functions, which does not
// apply here. Constants have no metadata to lose.
template <class S>
void refuse_lost_metadata(
    [[maybe_unused]] evaluation_state<S> const& e, [[maybe_unused]] frame<S>& at,
    [[maybe_unused]] ir::node_id n) {
  if constexpr (keeps_metadata<S>()) {
    ir::function::node const& x = at.f[n];
    if (x.result_count == 0) return;
    bool const has_rule = with_effect(
        x.attributes.effects, []<effect E>(effects::constant<E>) { return has_native_rule<S, E>(); });
    if (has_rule && !holds_for_all(at.f.operands_of(n), [&](ir::value_id v) { return at.f.is_literal(v); }))
      throw evaluation_error(message(
          "overdub: a context that keeps metadata has a rule for native functions, which it does not answer "
          "by in "
          "a program; give it one for \"%s\", or for the function that calls it",
          std::string(detail::name_of_native(e, x)).c_str()));
  }
}
// The native function is called with plain numbers. Its results are constants in the contexts.
template <class S>
void call_host(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  ir::host_binding const& known = detail::host_of(e, at.f[n]);
  detail::refuse_lost_metadata(e, at, n);
  using plain = cell<overdub::stack<>>;
  std::vector<plain> operands, results;
  for (cell<S> const& x : e.cells_at(at, n, 0, at.f[n].operand_count))
    detail::opened(x, [&](auto const& held, auto) { operands.emplace_back(concrete(held)); });
  for (ir::value_id const v : at.f.results_of(n))
    results.push_back(with_type(at.f.type_of(v), []<class T>(std::type_identity<T>) { return plain(T{}); }));
  std::vector<void const*> given;
  std::vector<void*> places;
  for (auto const& x : operands) x.visit([&](auto const& held) { given.push_back(&held); });
  for (auto& x : results) x.visit([&](auto& held) { places.push_back(&held); });
  known.run(known.object, given.data(), places.data());
  std::vector<cell<S>> made;
  for (auto const& x : results)
    made.push_back(x.visit([&](auto const& held) { return cell<S>(wrap(e.stack(), held)); }));
  detail::set_results(at, n, made);
}
// Copies a host operation, with plain values as operands. Its results are constants in the contexts.
template <class S>
void stage_host(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  recorder& r = e.recorder();
  ir::attributes const a = detail::attributes_in(e, at.f[n]);
  auto const arguments = e.cells_at(at, n, 0, at.f[n].operand_count);
  detail::refuse_lost_metadata(e, at, n);
  std::vector<ir::value_id> operands;
  for (auto const& x : arguments)
    detail::opened(x, [&](auto const& held, auto) { operands.push_back(symbol_below(held)); });
  std::vector<ir::type> plain;
  for (ir::value_id const v : at.f.results_of(n)) plain.push_back(at.f.type_of(v));
  ir::node_id const made = r.insert(ir::op::host, operands, plain, a);
  std::vector<cell<S>> given;
  for (std::uint32_t i = 0; i < plain.size(); ++i)
    given.push_back(with_type(plain[i], [&]<class T>(std::type_identity<T>) {
      return cell<S>(symbol_in<T>(e.stack(), r.here().result(made, i)));
    }));
  detail::set_results(at, n, given);
}
// Copies a random choice or an assertion, whose results have no metadata.
template <class S>
void stage_choice_or_assertion(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  recorder& r = e.recorder();
  ir::attributes const a = detail::attributes_in(e, at.f[n]);
  auto operands = detail::symbols_of(e.cells_at(at, n, 0, at.f[n].operand_count));
  if (at.f[n].code == ir::op::assert_) operands.resize(1);
  std::vector<cell<S>> like;
  std::vector<ir::type> types;
  for (ir::value_id const v : at.f.results_of(n)) {
    like.push_back(detail::prototype(e, at.f.type_of(v))); // its symbols are placeholders of another function
    detail::append_types_in(e, types, at.f.type_of(v));
  }
  if (operands.size() != at.f[n].operand_count || types.size() != at.f[n].result_count)
    throw evaluation_error(message(
        "overdub: \"%s\" is a random choice, and a context keeps metadata "
        "for its values; give the context a rule for the function that makes it",
        std::string(r.program.text(a.text())).c_str()));
  ir::node_id const made = r.insert(at.f[n].code, operands, types, a);
  detail::set_results(at, n, detail::filled(like, r.here().results_of(made)));
}

template <class S>
void evaluate_host(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if constexpr (is_symbolic<S>)
    stage_host(e, at, n);
  else
    call_host(e, at, n);
}
template <class S>
void evaluate_sample(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if constexpr (is_symbolic<S>)
    stage_choice_or_assertion(e, at, n);
  else
    throw not_executable(message(
        "overdub: evaluate: no handler is given for the random choice \"%s\"; run the program by an "
        "executable that has "
        "one",
        std::string(detail::name_of_native(e, at.f[n])).c_str()));
}
template <class S>
void evaluate_assert(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if constexpr (is_symbolic<S>)
    stage_choice_or_assertion(e, at, n);
  else if (!concrete(e.template typed<bool>(at, at.f.operand(n, 0))))
    throw assertion_failed(
        message("overdub: assertion failed: %s", std::string(detail::name_of_native(e, at.f[n])).c_str()));
}

} // namespace overdub::detail
