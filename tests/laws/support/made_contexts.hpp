// Contexts that are composed of parts: each part is a rule, a hook or an `enter`, and `made_of` merges several. The lists below are
// products of parts and of compositions.
#pragma once

#include "laws/support/random_function.hpp"

#include <overdub/io/number_text.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <concepts>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace made_contexts {

using namespace overdub;

// ---- events

inline std::vector<std::string> seen;

// Appends numbers and arrays, and skips functions and trees: in programs, functions are no arguments, and hooks receive an empty value
// instead of several results or a function value (limitations).
template <class X>
void append_text(std::string& to, X const& x) {
  if constexpr (requires { x.visit([](auto const&) {}); }) {
    if (x) x.visit([&](auto const& held) { append_text(to, held); });
  } else if constexpr (std::is_same_v<X, bool>)
    to += x ? " true" : " false";
  else if constexpr (std::is_arithmetic_v<X>) {
    auto const number = static_cast<double>(x);
    to += std::isnan(number) ? " nan" : ' ' + io::number_text(number); // a NaN's sign is unspecified
  } else if constexpr (requires { x[x.size() - 1]; }) {
    to += " [";
    for (i64 i = 0; i < static_cast<i64>(x.size()); ++i)
      append_text(to, x[static_cast<decltype(x.size())>(i)]);
    to += " ]";
  }
}
template <class... X>
void note(std::string_view context, std::string_view hook, std::string_view f, X const&... x) {
  std::string line(context);
  line.append(1, ' ').append(hook).append(1, ' ').append(f);
  // Its argument is a vector: a tree in C++, and several numbers in a program.
  if (!f.starts_with(random_function::f_list.name())) (append_text(line, x), ...);
  seen.push_back(std::move(line));
}

// ---- parts with rules

template <class X>
concept real = std::is_same_v < plain_t<X>,
double > ;

// Rules of an operation of one number, and of two.
template <class F, class G>
struct becomes : context {
  auto overdub(F, auto x) { return G{}(x); }
};
template <class F, class G>
struct becomes_of_two : context {
  auto overdub(F, auto x, auto y) { return G{}(x, y); }
};
struct shifts_mathematics : context {
  template <rule_call Call, math F, real X>
  auto overdub(Call call, F, X x) {
    return call.fallback(x) + 1.0;
  }
};
// The signatures of the random functions. Rules and `enter` of all functions must list them, or programs are rejected (limitations).
using all_signatures = types<
    double(double, double, array<double>), double(double, double), double(double), double(array<double>),
    double(double, double, double), double(double, i64), std::tuple<double, double>(double),
    array<double>(array<double>)>;

// The literals of these rules are in no random function, because programs merge equal operations.
struct replaces_one : context {
  auto overdub(decltype(random_function::f_one), auto x) { return x * 3.3; }
};
struct replaces_small : context {
  auto overdub(decltype(random_function::f_small), auto x) { return x * 2.7; }
};
struct replaces_array : context {
  using signatures = types<double(array<double>)>;
  auto overdub(decltype(random_function::f_array), auto xs) {
    auto const scaled = overdub::map([](auto x) { return x * 0.3; }, xs);
    return overdub::sum(scaled) + 1.0;
  }
};
struct replaces_native : context {
  auto overdub(decltype(random_function::f_native), auto x) { return x * 0.7; }
};
template <auto F>
struct goes_on : context {
  template <rule_call Call, class... X>
  recurse_t<Call, std::remove_const_t<decltype(F)>, X...>
  overdub(Call call, std::remove_const_t<decltype(F)>, X... x) {
    return call.recurse(x...) + 1.0;
  }
};
struct goes_on_in_counted : goes_on<random_function::f_counted> {
  using signatures = types<double(double, i64)>; // not of f64 alone
};
struct goes_on_in_all : context {
  static constexpr bool answers_entry = true;
  using signatures = all_signatures;
  template <rule_call Call, function F, class... X>
  recurse_t<Call, F, X...> overdub(Call call, F, X... x) {
    if constexpr (real<recurse_t<Call, F, X...>>)
      return call.recurse(x...) * 2.0;
    else
      return call.recurse(x...);
  }
};
struct falls_back_in_two : context {
  auto overdub(rule_call auto call, decltype(random_function::f_two), auto x, auto y) {
    return call.fallback(x, y) - 1.0;
  }
};
struct clamps_guarded : context {
  auto overdub(rule_call auto call, decltype(random_function::f_guarded), auto x) {
    return call.fallback(overdub::min(x, 5.0)) + 1.0;
  }
};

// Rules of control primitives. Their loop-carried values are trees in C++, and lists of values in programs.
struct repeats_loops : context {
  auto overdub(loop_t loop, auto n, auto state, auto body) { return loop(n, loop(n, state, body), body); }
};
struct takes_two_steps : context {
  auto overdub(while_t loop, auto state, auto condition, auto body) {
    return loop(state, condition, [&](auto const& s) { return body(body(s)); });
  }
};
// Decides by the type of the loop-carried value.
struct shifts_loops_of_numbers : context {
  template <real X>
  auto overdub(loop_t loop, auto n, X state, auto body) {
    return loop(n, state + 0.75, body);
  }
};
struct halves_branches_of_numbers : context {
  auto overdub(if_t branch, auto condition, auto then, auto otherwise) {
    auto const result = branch(condition, then, otherwise);
    if constexpr (real<decltype(result)>)
      return result * 0.55;
    else
      return result;
  }
};
struct negates_conditions : context {
  auto overdub(if_t branch, auto condition, auto then, auto otherwise) {
    return branch(!condition, otherwise, then);
  }
};
// A program that was staged before has `tabulate` instead of `map`, and an indexed loop instead of `scan` (limitations).
struct names_maps_and_scans : context {
  static constexpr bool is_refused_by_programs = true;
};
struct halves_maps : names_maps_and_scans {
  auto overdub(map_t map, auto f, auto... xs) {
    return map([](auto x) { return x * 0.5; }, map(f, xs...));
  }
};
struct shifts_scans : names_maps_and_scans {
  auto overdub(scan_t scan, auto f, auto state, auto xs) { return scan(f, state + 0.25, xs); }
};
struct scales_reductions : context {
  auto overdub(reduce_t reduce, auto f, auto... x) {
    auto const result = reduce(f, x...);
    if constexpr (real<decltype(result)>)
      return result * 0.9;
    else
      return result;
  }
};

// Rules of reductions by one operation.
struct scales_largest : context {
  template <std::same_as<max_t> F>
  auto overdub(reduce_t reduce, F const& f, auto const&... x) {
    auto const result = reduce(f, x...);
    if constexpr (real<decltype(result)>)
      return result * 0.9;
    else
      return result;
  }
};

// ---- parts with hooks

#define OVERDUB_OBSERVES(NAME, FAMILY)                                                                       \
  template <char Name>                                                                                       \
  struct NAME : context {                                                                                    \
    static constexpr char letter[] = {Name};                                                                 \
    static constexpr std::string_view as{letter, 1};                                                         \
    void before(FAMILY f, auto const&... x) { note(as, "before", f.name(), x...); }                          \
    void after(FAMILY f, auto const& result, auto const&... x) {                                             \
      note(as, "after", f.name(), result, x...);                                                             \
    }                                                                                                        \
    void failed(FAMILY f, std::exception_ptr, auto const&... x) { note(as, "failed", f.name(), x...); }      \
  };
OVERDUB_OBSERVES(observes_functions, function auto)
OVERDUB_OBSERVES(observes_natives, native_leaf auto)
OVERDUB_OBSERVES(observes_product, mul_t)
OVERDUB_OBSERVES(observes_sum, add_t)
OVERDUB_OBSERVES(observes_one, decltype(random_function::f_one))
OVERDUB_OBSERVES(observes_array, decltype(random_function::f_array))
OVERDUB_OBSERVES(observes_native, decltype(random_function::f_native))
OVERDUB_OBSERVES(observes_loops, loop_t)
OVERDUB_OBSERVES(observes_open_loops, while_t)
OVERDUB_OBSERVES(observes_branches, if_t)
OVERDUB_OBSERVES(observes_reductions, reduce_t)
OVERDUB_OBSERVES(observes_maps, map_t)
OVERDUB_OBSERVES(observes_scans, scan_t)
OVERDUB_OBSERVES(observes_guarded, decltype(random_function::f_guarded))
#undef OVERDUB_OBSERVES
// Hooks of control primitives on numbers.
template <char Name>
struct observes_control_of_numbers : context {
  static constexpr char letter[] = {Name};
  static constexpr std::string_view as{letter, 1};
  void before(loop_t f, i64 n, double state, auto const&) { note(as, "before", f.name(), n, state); }
  void after(loop_t f, double result, i64, double, auto const&) { note(as, "after", f.name(), result); }
  void after(if_t f, double result, bool condition, auto const&...) {
    note(as, "after", f.name(), result, condition);
  }
  void failed(loop_t f, std::exception_ptr, i64, double state, auto const&) {
    note(as, "failed", f.name(), state);
  }
  void before(while_t f, double state, auto const&...) { note(as, "before", f.name(), state); }
  void before(reduce_t f, auto const&, array<double> const& xs) { note(as, "before", f.name(), xs); }
};
// Hooks of reductions by two operations.
template <char Name>
struct observes_combinations : context {
  static constexpr char letter[] = {Name};
  static constexpr std::string_view as{letter, 1};
  void before(reduce_t, max_t f, auto const&... x) { note(as, "before reduce", f.name(), x...); }
  void before(reduce_t, add_t f, auto const&... x) { note(as, "before reduce", f.name(), x...); }
  void after(reduce_t, auto const& result, max_t f, auto const&...) {
    note(as, "after reduce", f.name(), result);
  }
  void failed(reduce_t, std::exception_ptr, add_t f, auto const&...) { note(as, "failed reduce", f.name()); }
};
template <char Name>
struct observes_operations : context {
  static constexpr char letter[] = {Name};
  void before(elementwise auto f, auto const&... x) { note({letter, 1}, "before", f.name(), x...); }
  void after(elementwise auto f, auto const& result, auto const&...) {
    note({letter, 1}, "after", f.name(), result);
  }
};

// ---- parts with enter

struct leaves_two : context {
  auto enter(decltype(random_function::f_two)) { return leave; }
};
// Not one number: in a program, a function is no argument of a call (limitations), so that a call of a function and a number has one
// number as argument.
struct leaves_calls_of_two_numbers : context {
  using signatures = all_signatures;
  auto enter(function auto, argument_types<double, double>) { return leave; }
};

// ---- contexts

template <char Name, class... Part>
struct made_of : extends<Part...> {
  static constexpr char letter[] = {Name};
  static constexpr std::string_view name{letter, 1};
};
template <char Name>
using observer = made_of<Name, observes_operations<Name>, observes_functions<Name>>;

// Observes fewer operations, and compiles faster.
template <char Name>
using light_observer = made_of<Name, observes_sum<Name>, observes_product<Name>, observes_functions<Name>>;

// The context that these parts enter.
struct inside : made_of<'i', observes_sum<'i'>, observes_functions<'i'>> {};
inline inside entered;
struct enters_one : context {
  auto& enter(decltype(random_function::f_one)) { return entered; }
};
struct enters_all : context {
  auto& enter(function auto) { return entered; }
};

// Two objects of one class of contexts, for functions that two random functions call.
inline random_function::scales once_again(1.75), once_more(-0.5);
struct enters_scales : context {
  auto& enter(decltype(random_function::f_one)) { return once_again; }
  auto& enter(decltype(random_function::f_two)) { return once_more; }
};

// Contexts with metadata. They reject host functions without a rule (limitations), so these have rules.
struct with_natives : context {
  auto overdub(decltype(random_function::f_native) f, auto x) {
    return overdub::tag(f(x.inner), x.metadata * 0.5);
  }
  auto overdub(decltype(random_function::f_guarded) f, auto x) {
    return overdub::tag(f(x.inner), x.metadata * 2.0);
  }
  auto overdub(decltype(random_function::f_noted) f, auto x) { return overdub::tag(f(x.inner), x.metadata); }
};
// A rule of such a context for a function: a context without metadata and without a rule for a function passes the whole function to an
// inner context with a rule (composition).
struct scales_metadata_of_one : context {
  auto overdub(rule_call auto call, decltype(random_function::f_one), auto x) {
    return overdub::tag(call.fallback(x), x.metadata * 0.25);
  }
};
// The maximum depth of the expression of a number. Its type is that of the number, since programs compute it.
struct follows_depth : context {
  template <class T>
  using metadata = T;
  template <elementwise F, real... X>
  requires std::is_same_v < plain_t<decltype(F{}(std::declval<X>().inner...))>,
  double > auto overdub(F f, X... x) { return overdub::tag(f(x.inner...), deepest(x.metadata...) + 1.0); }

private:
  static auto deepest(auto x) { return x; }
  static auto deepest(auto x, auto... rest) { return overdub::max(x, deepest(rest...)); }
};

// A part and an observer in one context; a part outside of an observer; and inside of one.
template <class Part, template <char> class Observer = light_observer>
using beside_observer = types<made_of<'a', Part, Observer<'a'>>>;
template <class Part, template <char> class Observer = light_observer>
using outside_observer = types<made_of<'a', Part>, Observer<'b'>>;
template <class Part, template <char> class Observer = light_observer>
using inside_observer = types<Observer<'a'>, made_of<'b', Part>>;

// Two parts in two contexts, each with an observer, in either order.
template <class P, class Q>
using one_around_the_other = types<
    made_of<'a', P, observes_functions<'a'>>, made_of<'b', Q, observes_product<'b'>, observes_sum<'b'>>>;

// A context with metadata outside of one with the part, and inside of it.
template <class Metadata, class Part>
using around_part = types<made_of<'m', Metadata, with_natives>, made_of<'b', Part, observes_functions<'b'>>>;
template <class Metadata, class Part>
using inside_part = types<made_of<'a', Part, observes_functions<'a'>>, made_of<'m', Metadata, with_natives>>;

} // namespace made_contexts
