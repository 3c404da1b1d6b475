// The evaluation of accumulators: they are cells, or, in symbolic contexts, accumulators of the staged program.
#pragma once

#include <overdub/control/map.hpp>
#include <overdub/stage/evaluation/arrays.hpp>
#include <overdub/stage/evaluation/symbols.hpp>
#include <overdub/stage/sum_of_numbers.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// ---- cells

// Adds by `add`, with interception by the contexts of the values.
struct add_elements {
  template <class X>
  auto operator()(X const& x, X const& y) const {
    if constexpr (is_array<plain_t<X>>)
      return map(*this, x, y);
    else
      return overdub::add(x, y);
  }
};
template <class S>
cell<S> added_by_rule(cell<S> const& a, cell<S> const& b) {
  return detail::opened(a, [&]<class T>(auto const& x, std::type_identity<T>) -> cell<S> {
    if constexpr (is_of_numbers<T> && !is_of_numbers<wrap_t<S, T>>)
      return wrap_t<S, T>(add_elements{}(x, *b.template get<wrap_t<S, T>>()));
    else
      return {};
  });
}
// The additions of an accumulator, and its accesses to elements, are not calls, since their order is unspecified. Metadata that do not
// consist of numbers, or have one type for all values, are combined by the context's rules.
template <class S>
void add_to_cell(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  std::uint32_t const last = at.f[n].operand_count - 1;
  cell<S> const x = e.cell_at(at, at.f.operand(n, last));
  cell<S>& sum = at[at.f.operand(n, 0)].leaf;
  std::vector<i64> indices;
  for (std::uint32_t i = 1; i < last; ++i) indices.push_back(make_concrete{}(e.integer(at, n, i)));
  auto const adds = [&]<class E>(auto& whole, std::type_identity<array<E>>) {
    auto const add_part = [&]<class Part>(std::type_identity<Part>) {
      wrap_t<S, Part> const* const part = x.template get<wrap_t<S, Part>>();
      if (part != nullptr) whole = add_to_part(std::move(whole), indices, *part);
      return part != nullptr;
    };
    if (add_part(std::type_identity<E>{})) return true;
    if constexpr (is_array<E>)
      return add_part(std::type_identity<typename E::value_type>{});
    else
      return false;
  };
  bool const is_added = sum.visit([&]<class Whole>(Whole& whole) {
    if constexpr (is_array<plain_t<Whole>> && is_of_numbers<Whole>)
      return adds(whole, std::type_identity<plain_t<Whole>>{});
    else
      return false;
  });
  if (!is_added)
    sum = detail::updated(
        e, at, n, sum, 1, last, [&](cell<S> const& part) { return detail::added_by_rule<S>(part, x); });
}
template <class S>
void accumulate_in_cells(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  std::uint32_t const count = at.f[n].operand_count;
  ir::region_id const body = at.f.region_at(n, 0);
  std::vector<slot<S>> start;
  for (std::uint32_t i = 0; i < count; ++i) start.push_back(e.slot_at(at, at.f.operand(n, i)));
  auto const further = run_region(e, at, body, std::move(start));
  for (std::uint32_t i = 0; i < count; ++i) at[at.f.result(n, i)] = at[at.f.argument(body, i)];
  for (std::uint32_t i = 0; i < further.size(); ++i) at[at.f.result(n, count + i)] = further[i];
}

// ---- accumulators of the staged program

// Addition is linear: adds the values and their metadata, symbol by symbol.
template <class S>
void stage_add_to(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  std::uint32_t const last = at.f[n].operand_count - 1;
  std::vector<ir::value_id> operands(1);
  for (ir::value_id const i : detail::symbols_of(e.cells_at(at, n, 1, last - 1))) operands.push_back(i);
  operands.push_back(operands[0]);
  auto const values = detail::symbols_of(e.cells_at(at, n, last, 1));
  auto const& accumulators = at[at.f.operand(n, 0)].accumulators;
  for (std::size_t k = 0; k < accumulators.size(); ++k) {
    operands.front() = accumulators[k];
    operands.back() = values[k];
    e.recorder().insert(ir::op::add_to, operands, {});
  }
}
template <class S>
void stage_accumulate(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  recorder& r = e.recorder();
  auto const start = e.cells_at(at, n, 0, at.f[n].operand_count);
  auto const operands = detail::symbols_of(start);
  auto accumulators = r.types_of(operands);
  for (ir::type& t : accumulators) t = t.accumulator();
  ir::node_id const made =
      r.insert(ir::op::accumulate, operands, {}, {}, std::vector<std::vector<ir::type>>{accumulators});
  std::vector<slot<S>> arguments;
  std::uint32_t next = 0;
  for (cell<S> const& c : start) {
    slot<S>& s = arguments.emplace_back();
    for (std::size_t k = detail::symbols_of(std::vector{c}).size(); k > 0; --k)
      s.accumulators.push_back(r.here().argument(r.region_of(made, 0), next++));
  }
  std::vector<cell<S>> results = start;
  {
    auto const scope = r.enter(r.region_of(made, 0));
    std::vector<cell<S>> further;
    for (slot<S> const& s : run_region(e, at, at.f.region_at(n, 0), std::move(arguments)))
      further.push_back(e.leaf(s));
    r.yield(detail::symbols_of(further));
    results.insert(results.end(), further.begin(), further.end());
  }
  r.set_results(made, r.types_of(detail::symbols_of(results)));
  detail::set_results(at, n, detail::filled(results, r.here().results_of(made)));
}

// ---- operations

template <class S>
void evaluate_accumulate(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if constexpr (is_symbolic<S>)
    stage_accumulate(e, at, n);
  else
    accumulate_in_cells(e, at, n);
}
template <class S>
void evaluate_add_to(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if constexpr (is_symbolic<S>)
    stage_add_to(e, at, n);
  else
    add_to_cell(e, at, n);
}

} // namespace overdub::detail
