// test_derivative(f, x...): tests the derivatives of f in forward mode, in reverse mode and nested, in direct runs and in programs. It
// works with any test framework: the report converts to true, or has a sentence for each failure.
#pragma once

#include <overdub/contexts/forward/forward_along.hpp>
#include <overdub/core/exact_math.hpp>
#include <overdub/reverse.hpp>
#include <overdub/test_derivative/oracle.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub {
namespace oracle {

// Converts integers to i64, as in programs.
template <class X>
auto as_parameter(X const& x) {
  static_assert(
      !overdub::detail::plain_described<X>, "overdub: test_derivative takes numbers, arrays, and trees of "
                                            "them; give it a struct that is a template over its number");
  if constexpr (std::integral<X> && !std::same_as<X, bool>)
    return static_cast<i64>(x);
  else if constexpr (overdub::detail::tree<X>)
    return tree_traits<X>::map([](auto const& child) { return as_parameter(child); }, x);
  else
    return x;
}

inline void append(leaf_list&, zero) {}
template <class X>
void append(leaf_list& all, X const& x) {
  if constexpr (is_scalar_leaf<X>)
    all.emplace_back(x);
  else if constexpr (overdub::detail::tree<X>)
    overdub::detail::each_child([&](auto const& child) { append(all, child); }, x);
}
// The outermost metadata of a tree of tagged numbers.
template <class X>
auto metadata_in(X const& x) {
  if constexpr (overdub::detail::is_tagged<X>)
    return x.metadata;
  else if constexpr (overdub::detail::tree<X>)
    return tree_traits<X>::map([](auto const& child) { return metadata_in(child); }, x);
  else
    return zero{};
}

// Builds trees of the structure of x. The leaves are numbered, across calls, in their order.
struct in_order {
  std::size_t next = 0;

  template <class X, class Make>
  auto operator()(X const& x, Make const& make) {
    if constexpr (is_scalar_leaf<X>)
      return make(x, next++);
    else
      return tree_traits<X>::map([&](auto const& child) { return (*this)(child, make); }, x);
  }
};
template <class T>
inline constexpr bool changes = ir::is_differentiable(type_in_programs<T>);

// Calls `call` with trees of the structure of `like`, with the leaves make(leaf, number).
template <class... X, class Make, class Call>
auto call_with(std::tuple<X...> const& like, Make const& make, Call const& call) {
  in_order order;
  return std::apply(call, order(like, make));
}

template <class F, class Reference, class... X>
subject subject_of(F const& f, Reference const& reference, X const&... x) {
  using all = std::tuple<X...>;
  all const like(x...);
  subject s;
  s.program = stage(f, signature<X...>);
  (append(s.inputs, x), ...);
  s.value = [f, like](leaf_list const& at) {
    leaf_list results;
    append(
        results, call_with(
                     like, [&]<class T>(T const&, std::size_t i) { return at[i].as<T>(); },
                     [&](auto const&... a) { return f(a...); }));
    return results;
  };
  s.tangents = [f, like](leaf_list const& at, leaf_list const& along) {
    leaf_list results;
    append(
        results, metadata_in(call_with(
                     like,
                     [&]<class T>(T const&, std::size_t i) {
                       if constexpr (changes<T>)
                         return overdub::tag(at[i].as<T>(), along[i].as<T>());
                       else
                         return at[i].as<T>();
                     },
                     [&](auto const&... a) { return overdub::overdub(contexts::forward{}, f, a...); })));
    return results;
  };
  s.second = [f, like](leaf_list const& at, leaf_list const& a, leaf_list const& b) {
    leaf_list results;
    append(
        results,
        metadata_in(metadata_in(call_with(
            like,
            [&]<class T>(T const&, std::size_t i) {
              if constexpr (changes<T>)
                return overdub::tag(overdub::tag(at[i].as<T>(), a[i].as<T>()), b[i].as<T>());
              else
                return at[i].as<T>();
            },
            [&](auto const&... t) { return overdub::overdub(compose(contexts::forward{}, contexts::forward{}), f, t...); }))));
    return results;
  };
  if constexpr (!std::same_as<Reference, none>)
    s.reference = [reference, like](leaf_list const& at, leaf_list const& along) {
      std::size_t const count = at.size();
      leaf_list both = at;
      both.insert(both.end(), along.begin(), along.end());
      leaf_list results;
      append(
          results, call_with(
                       std::tuple_cat(like, like),
                       [&]<class T>(T const&, std::size_t i) {
                         if constexpr (changes<T>)
                           return both[i].as<T>();
                         else
                           return i < count ? both[i].as<T>() : T{};
                       },
                       [&](auto const&... t) { return reference(t...); }));
      return results;
    };
  return s;
}

// Tests the compiled gradient: it is compiled once for the types, and does not allocate if all arguments and results are numbers.
template <class F, class... X>
void check_compiled(derivative_report& report, derivative_test const& how, F const& f, X const&... x) {
  auto const fail = [&](char const* what) { report.failures.emplace_back(what); };
  using R = typename overdub::detail::compilation<F, types<X...>>::result;
  auto const back = compile(vector_jacobian_product(f), signature<X..., R>);
  report.checks += 2;
  if (&back.made() != &compile(vector_jacobian_product(f), signature<X..., R>).made())
    fail("reverse, compiled: it is compiled again for the same types");
  R const value = f(x...);
  leaf_list leaves;
  append(leaves, value);
  leaf_list const seeds = cotangent_like(leaves, how.seed);
  in_order order;
  R const cotangent =
      order(value, [&]<class T>(T const&, std::size_t i) { return seeds[i].template as<T>(); });
  leaf_list first, second;
  append(first, back(x..., cotangent));
  long const before = how.allocations == nullptr ? 0 : how.allocations();
  auto const again = back(x..., cotangent);
  long const after = how.allocations == nullptr ? 0 : how.allocations();
  append(second, again);
  if (first != second) fail("reverse, compiled: a second call returns another result");
  bool has_arrays = false;
  for (leaf_list const* const all : {&first, &leaves})
    for (datum const& d : *all) has_arrays = has_arrays || d.type().rank > 0;
  if (how.allocations == nullptr || has_arrays) return;
  ++report.checks;
  if (after != before) fail("reverse, compiled: a second call allocates");
}

template <class F, class Reference, class... X>
derivative_report run(derivative_test const& how, F const& f, Reference const& reference, X const&... x) {
  derivative_report report;
  try {
    report = check(subject_of(f, reference, x...), how);
    check_compiled(report, how, f, x...);
  } catch (error const& e) {
    report.failures.push_back(std::string("the derivative cannot be tested: ") + e.what());
  }
  return report;
}

} // namespace oracle

/// Tests the derivatives of f, which must not have captures, at x...: numbers, arrays, and trees of them.
///
///   allocations and all arguments and results are numbers, does not allocate.
///
/// If f has a kink, finite differences do not converge, and the report says so: see test_derivative_against. Throws only std::bad_alloc:
/// exceptions of f are failures in the report. Runs f a few hundred times for each direction. As thread-safe as f, except for
/// how.allocations.
template <class F, class... X>
derivative_report test_derivative(derivative_test const& how, F const& f, X const&... x) {
  static_assert(
      std::is_empty_v<F>, "overdub: a function whose derivative is tested captures nothing; give what it "
                          "captured as an argument");
  return oracle::run(how, f, none{}, oracle::as_parameter(x)...);
}
template <class F, class... X>
requires(!std::same_as<F, derivative_test>) derivative_report test_derivative(F const& f, X const&... x) {
  return test_derivative(derivative_test{}, f, x...);
}

/// Tests the derivatives of f against known tangents: reference(x..., dx...) returns the tangents of f's results, a tree of those numbers
/// that have a tangent. Use it at kinks, and if f is piecewise constant, where finite differences are not valid. Second derivatives are
/// compared only with one another.
template <class F, class Reference, class... X>
derivative_report
test_derivative_against(Reference const& reference, derivative_test const& how, F const& f, X const&... x) {
  return oracle::run(how, f, reference, oracle::as_parameter(x)...);
}
template <class F, class Reference, class... X>
requires(!std::same_as<F, derivative_test>) derivative_report
    test_derivative_against(Reference const& reference, F const& f, X const&... x) {
  return test_derivative_against(reference, derivative_test{}, f, x...);
}

} // namespace overdub
