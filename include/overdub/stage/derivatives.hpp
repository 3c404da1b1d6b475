// Stages the declared derivative of a function: its rules become functions of the program, to which the function refers.
#pragma once

#include <overdub/call/recurse.hpp>
#include <overdub/control/derivative_rule.hpp>
#include <overdub/ir/rule_signature.hpp>
#include <overdub/stage/recorder.hpp>

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// Call is the rule_call of the function's call in `staging`.
template <class Call, class F, class R, class... X>
class derivative_stager {
  using says = derivative_of<F>;
  Call const& call_;
  recorder& recorder_;
  F const& f_;
  ir::function_id of_;
  std::vector<ir::type> parameters_;

public:
  derivative_stager(Call const& call, F const& f, ir::function_id of, std::vector<ir::type> parameters)
      : call_(call), recorder_(call.context().recorder()), f_(f), of_(of),
        parameters_(std::move(parameters)) {}

  // `result` and `x` have the structure of the function's result and arguments.
  void run(R const& result, X const&... x) {
    ir::derivative made;
    if constexpr (says::is_rule) {
      static_assert(
          (takes_numbers<X>() && ... && takes_numbers<R>()),
          "overdub: a function with a derivative_rule takes and returns numbers, arrays, and trees of them; "
          "give it the members "
          "of this struct, or make the struct a template over its number");
      made.how = ir::derivative::by::rule;
      made.tangent = tangent(result, x...);
      if constexpr (has_cotangent<F>) made.cotangent = cotangent(result, x...);
    } else if constexpr (says::is_constant)
      made.how = ir::derivative::by::constant;
    else {
      made.how = ir::derivative::by::refused;
      made.why = recorder_.program.intern(says::why);
    }
    recorder_.program[of_].derivative = made;
  }

private:
  template <class T>
  static consteval bool takes_numbers() {
    if constexpr (is_symbol<T>)
      return true;
    else if constexpr (is_struct_of_symbols<T>)
      return false;
    else if constexpr (tree<T>)
      return []<class... Child>(std::tuple<Child...>*) {
        return (takes_numbers<Child>() && ...);
      }(static_cast<typename tree_traits<T>::children*>(nullptr));
    else
      return true;
  }
  std::vector<ir::type> const& results() const { return recorder_.program[of_].results; }

  ir::function_id tangent(R const& result, X const&... x) {
    ir::rule_signature const s = ir::tangent_signature(parameters_, results());
    return stage(&type_key<derivative_stager, zero>, ".tangent", s, [&](auto& next) {
      R const r = refilled(result, next);
      std::tuple<X...> const arguments{refilled(x, next)...};
      std::tuple<decltype(tangents(x, next))...> const change{tangents(x, next)...};
      auto const along = overdub::detail::apply_to(
          [&](auto const&... a) {
            return overdub::detail::apply_to(
                [&](auto const&... d) {
                  return owned_tree(recurse(call_, typename says::tangent{}, r, a..., d...));
                },
                change);
          },
          arguments);
      std::vector<ir::value_id> all;
      collect(all, r, along);
      return all;
    });
  }
  ir::function_id cotangent(R const& result, X const&... x) {
    ir::rule_signature const s = ir::cotangent_signature(parameters_, results());
    return stage(&type_key<derivative_stager, none>, ".cotangent", s, [&](auto& next) {
      R const r = refilled(result, next);
      std::tuple<X...> const arguments{refilled(x, next)...};
      auto const c = tangents(result, next);
      auto const back = overdub::detail::apply_to(
          [&](auto const&... a) {
            return owned_tree(recurse(call_, typename says::cotangent{}, r, a..., c));
          },
          arguments);
      std::vector<ir::value_id> all;
      if constexpr (sizeof...(X) == 1)
        collect(all, std::get<0>(arguments), back);
      else {
        static_assert(
            count_of_children<std::remove_cvref_t<decltype(back)>>() == sizeof...(X),
            "overdub: a cotangent_rule returns a tuple with a cotangent for each argument of the function");
        collect(all, arguments, back);
      }
      return all;
    });
  }
  // Stages a function with these parameter and result types. `make` stages its body, and returns the yielded symbols.
  template <class Make>
  ir::function_id stage(void const* key, char const* suffix, ir::rule_signature const& s, Make const& make) {
    std::string name(f_.name()); // in two steps: g++ 12 warns of what + would read
    name += suffix;
    std::size_t const number = recorder_.begin(key, name, s.parameters);
    ir::function_id const made = recorder_.id_of(number);
    recorder_.program[made].results = s.results;
    auto const scope = recorder_.enter(made);
    auto const parameters = recorder_.here().parameters();
    std::size_t at = 0;
    auto next = [&] { return parameters[at++]; };
    auto const yielded = make(next);
    recorder_.yield(yielded);
    recorder_.end(number, std::any());
    return made;
  }

  template <class T>
  static constexpr bool changes = ir::is_differentiable(ir_type_of<T>);

  // A tree with a parameter as the tangent of each differentiable number, and `zero` for the others.
  template <class T, class Next>
  static auto tangents(T const& x, Next& next) {
    return map_symbols(
        [&]<class S>(S const& s) {
          if constexpr (changes<typename symbol_type<S>::type>) {
            S copy = s;
            copy.metadata.id = next();
            return copy;
          } else
            return zero{};
        },
        x);
  }
  // Appends the values of a tree of tangents: one for each differentiable number of `like`.
  template <class T, class D>
  void collect(std::vector<ir::value_id>& all, T const& like, D const& given) {
    if constexpr (is_symbol<T>) {
      using P = typename symbol_type<T>::type;
      if constexpr (changes<P>) all.push_back(given_for<P>(like, given));
    } else if constexpr (tree<T>) {
      if constexpr (std::same_as<D, zero>)
        each_child([&](auto const& child) { collect(all, child, zero{}); }, like);
      else
        each_child([&](auto const& child, auto const& of) { collect(all, child, of); }, like, given);
    }
  }
  template <class P, class T, class D>
  ir::value_id given_for(T const& like, D const& given) {
    if constexpr (is_symbol<D>) {
      using G = typename symbol_type<D>::type;
      constexpr bool fits = is_array<P> == is_array<G>;
      static_assert(
          fits, "overdub: a rule returns a tangent of another kind than the value: a number for an array, or "
                "an array for a number");
      if constexpr (std::same_as<P, G> || is_array<P> || !fits)
        return given.metadata.id;
      else
        return recorder_.converted(given.metadata.id, ir_type_of<P>);
    } else {
      static_assert(
          std::same_as<D, zero>,
          "overdub: a rule returns trees like the function's own: numbers, arrays, and "
          "zero{} for what does not change");
      if constexpr (is_array<P>) {
        static_assert(
            !is_array<typename P::value_type>,
            "overdub: a rule returns zero for an array of arrays, which does not "
            "determine the shape; return an array of zeros");
        ir::value_id const operands[] = {
            recorder_.add(ir::op::length, std::span(&like.metadata.id, 1), ir::i64),
            recorder_.literal(typename P::value_type{})};
        return recorder_.add(ir::op::fill, operands, ir_type_of<P>);
      } else
        return recorder_.literal(P{});
    }
  }
};

} // namespace overdub::detail
