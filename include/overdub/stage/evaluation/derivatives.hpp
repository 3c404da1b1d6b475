// Calls of functions with a declared derivative in a context of forward mode, whose metadata are tangents for one
// direction.
#pragma once

#include <overdub/ir/error.hpp>
#include <overdub/stage/evaluation/function_callee.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace overdub::detail {

// Splits a stack into the outermost context with tangents and the other contexts. Contexts that enclose it have no metadata.
template <class S>
struct split_at_tangents;
template <class S>
requires keeps_tangents<typename S::context>
struct split_at_tangents<S> {
  using level = S;
  using others = typename S::tail;
  static others without(S const& s) { return s.rest(); }
};
template <class S>
requires(!keeps_tangents<typename S::context>) struct split_at_tangents<S> {
  using rest = split_at_tangents<typename S::tail>;
  using level = typename rest::level;
  using others = push_t<typename S::head, typename rest::others>;
  static others without(S const& s) { return others(s.top(), rest::without(s.rest())); }
};

// Whether a tangent is known to be zero, as that of a constant is.
template <class M>
bool is_known_zero([[maybe_unused]] ir::function const* made, M const& tangent) {
  using P = plain_t<M>;
  if constexpr (is_symbolic<stack_of_t<M>>) {
    ir::function const& f = *made;
    auto const is_zero = [&](ir::value_id v) { return f.is_literal(v) && f.bits_of(v) == 0; };
    bool all = true;
    auto const look = [&](symbol_of_value s, auto) {
      bool const is_filled = f.is_result(s.id) && f[f.node_of(s.id)].code == ir::op::fill;
      all = all && is_zero(is_filled ? f.operand(f.node_of(s.id), 1) : s.id);
      return s;
    };
    (void)transform_symbols(tangent, look);
    return all;
  } else if constexpr (is_array<P>) {
    auto const plain = concrete(tangent);
    for (i64 i = 0; i < plain.size(); ++i)
      if (!detail::is_known_zero(made, plain[i])) return false;
    return true;
  } else
    return concrete(tangent) == P{};
}

template <class S>
std::vector<slot<S>>
call_by_rule(evaluation_state<S>& e, ir::function_id id, std::vector<slot<S>> const& arguments) {
  using split = split_at_tangents<S>;
  using level = typename split::level;
  using others = typename split::others;
  using below = typename level::tail;

  ir::program const& p = e.program();
  others const around = split::without(e.stack());
  level const& here = e.stack();
  evaluation_state<others> values(p, around, {}, detail::intercepts_functions_of<others>(p), e.limit());
  evaluation_state<below> changes(p, here.rest(), {}, detail::intercepts_functions_of<below>(p), e.limit());
  ir::function const* made = nullptr; // the function of the symbols
  if constexpr (is_symbolic<S>) made = &e.recorder().here();

  std::vector<slot<others>> inner;
  std::vector<slot<below>> parameters, tangents;
  bool is_constant = true;
  for (slot<S> const& s : arguments)
    e.leaf(s).visit([&](auto const& x) {
      auto const& v = down_to<level>(x);
      inner.push_back({cell<others>(wrap(around, v.inner()))});
      parameters.push_back({cell<below>(v.inner())});
      if constexpr (!std::is_empty_v<std::remove_cvref_t<decltype(v.metadata())>>) {
        is_constant = is_constant && detail::is_known_zero(made, v.metadata());
        tangents.push_back({cell<below>(v.metadata())});
      }
    });

  ir::derivative const& says = p[id].derivative;
  if (says.how == ir::derivative::by::refused && !is_constant)
    throw differentiation_error(message(
        "overdub: @%s cannot be differentiated: %s", std::string(p.name_of(id)).c_str(),
        std::string(p.text(says.why)).c_str()));
  bool const changes_result = says.how == ir::derivative::by::rule && !is_constant;
  std::vector<slot<others>> const results = call_function(values, id, std::move(inner));
  std::vector<slot<below>> along;
  if (changes_result) {
    for (slot<others> const& r : results)
      values.leaf(r).visit([&](auto const& x) { along.push_back({cell<below>(down_to<below>(x))}); });
    along.insert(along.end(), parameters.begin(), parameters.end());
    along.insert(along.end(), tangents.begin(), tangents.end());
    along = call_function(changes, says.tangent, std::move(along));
  }

  std::vector<slot<S>> all;
  std::size_t next = 0;
  for (slot<others> const& r : results)
    values.leaf(r).visit([&](auto const& x) {
      auto const& y = down_to<below>(x);
      using Y = std::remove_cvref_t<decltype(y)>;
      using V = wrap_t<level, Y>;
      if constexpr (std::is_same_v<typename V::metadata_type, Y>)
        if (changes_result) {
          auto const& tangent = *changes.leaf(along[next++]).template get<Y>();
          all.push_back({cell<S>(wrap(e.stack(), V(y, tangent, here.top())))});
          return;
        }
      all.push_back({cell<S>(wrap(e.stack(), wrap(here, y)))}); // a constant
    });
  return all;
}

} // namespace overdub::detail
