// check_finite: stops a program at the first operation that returns an infinity or NaN, and reports it with the call path.
#pragma once

#include <overdub/core/exact_math.hpp>
#include <overdub/core/floating_point.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace overdub::contexts {

/// An operation returned an infinity or NaN for finite numbers.
struct OVERDUB_EXPORTED not_finite : error {
  using error::error;
};

/// Throws not_finite where an operation or a native function returns an infinity or NaN for finite arguments, including
/// tuples and described structs of numbers and arrays. Infinities and NaN in arguments propagate without an error. Costs a
/// test for each operation, and a word for each active function. For one run at a time.
struct check_finite : context {
  static constexpr std::string_view name = "check_finite";

  std::vector<std::string_view> path; // the active functions, outermost first

  void before(function auto f, auto const&...) { path.push_back(f.name()); }
  void after(function auto, auto const&, auto const&...) { path.pop_back(); }
  void failed(function auto, std::exception_ptr, auto const&...) { path.pop_back(); }

  void after(elementwise auto f, auto const& result, auto const&... x) { look_at(f.name(), result, x...); }
  void after(native_leaf auto f, auto const& result, auto const&... x) { look_at(f.name(), result, x...); }

  check_finite fork() { return *this; }
  void join(check_finite&&) {}

private:
  template <class X>
  static bool is_finite(X const& x) {
    bool all = true;
    each_leaf(
        [&]<class Leaf>(Leaf const& leaf) {
          if constexpr (std::is_floating_point_v<Leaf>)
            all = all && overdub::is_finite(leaf);
          else if constexpr (requires { leaf.span(); })
            for (auto const& element : leaf) all = all && is_finite(element);
        },
        x);
    return all;
  }
  void look_at(std::string_view operation, auto const& result, auto const&... x) const {
    if (is_finite(result) || !(is_finite(x) && ...)) return;
    std::string text = std::string(operation) + "(";
    bool first = true;
    ((text += (first ? "" : ", ") + text_of(x), first = false), ...);
    text += ") gave " + text_of(result);
    for (std::size_t i = path.size(); i-- > 0;)
      text += (i + 1 == path.size() ? ", in " : ", called by ") + std::string(path[i]);
    throw not_finite(message("overdub: %s", text.c_str()));
  }
  template <class X>
  static std::string text_of(X const& x) {
    if constexpr (std::is_arithmetic_v<X>) {
      return io::number_text(static_cast<double>(x), io::significant(17));
    } else if constexpr (requires { typename tree_traits<X>::children; }) {
      std::string text;
      each_leaf([&](auto const& leaf) { text += (text.empty() ? "(" : ", ") + text_of(leaf); }, x);
      return text + ")";
    } else
      return "...";
  }
};

} // namespace overdub::contexts
