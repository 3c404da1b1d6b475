// Random arguments for the functions of functions.hpp, and their results as lists of leaves that can be compared.
#pragma once

#include "property.hpp"

#include <overdub/stage/evaluate.hpp>

#include <exception>
#include <string>
#include <tuple>
#include <typeinfo>
#include <vector>

namespace results {

using namespace overdub;
using leaf = detail::cell<stack<>>;

template <class T>
T argument() {
  if constexpr (detail::is_array<T>) {
    std::vector<typename T::value_type> elements;
    for (int n = *rc::gen::inRange(0, 20); n > 0; --n) elements.push_back(any<typename T::value_type>());
    return T::copy_of(elements);
  } else
    return any<T>();
}

template <class T>
bool same(T const& a, T const& b) {
  if constexpr (detail::is_array<T>) {
    if (a.size() != b.size()) return false;
    for (i64 i = 0; i < a.size(); ++i)
      if (!same(a[i], b[i])) return false;
    return true;
  } else
    return same_bits(a, b);
}
inline bool same(std::vector<leaf> const& a, std::vector<leaf> const& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    bool const equal = a[i].visit([&]<class T>(T const& x) {
      auto const* y = b[i].get<T>();
      return y != nullptr && same(x, *y);
    });
    if (!equal) return false;
  }
  return true;
}

template <class X>
void add_leaves(std::vector<leaf>& all, X const& x) {
  if constexpr (std::is_constructible_v<leaf, X const&>)
    all.push_back(leaf(x));
  else
    std::apply([&](auto const&... child) { (add_leaves(all, child), ...); }, x);
}

/// What a run gave: its results, or the type of what it threw.
struct outcome {
  std::vector<leaf> leaves;
  std::string thrown;
  friend bool operator==(outcome const& a, outcome const& b) {
    return a.thrown == b.thrown && same(a.leaves, b.leaves);
  }
};

template <class F>
outcome outcome_of(F const& run) {
  outcome result;
  try {
    add_leaves(result.leaves, run());
  } catch (std::exception const& e) {
    result.thrown = typeid(e).name();
  }
  return result;
}
template <class... A>
outcome evaluated(ir::program const& p, A const&... a) {
  outcome result;
  try {
    stack<> const none;
    result.leaves = detail::evaluator<stack<>>(p, none).run(p.entry, std::vector<leaf>{leaf(a)...});
  } catch (std::exception const& e) {
    result.thrown = typeid(e).name();
  }
  return result;
}

} // namespace results
