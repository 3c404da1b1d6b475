// Random functions of C++: one template interprets an expression that is drawn at run time. A staged function has no captures, so the
// expressions of the current functions are in a global variable: `drawn`.
#pragma once

#include "pass/random_program.hpp"

#include <overdub/overdub.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace random_function {

using namespace overdub;

// The forms of an expression. Its parts are evaluated first, from left to right.
enum class form {
  parameter,  // a number of the function, of the loop, of the map or of `let`, by its index
  element,    // of the function's array, by its index
  unary,      // an operation on a part
  binary,     // on two parts
  by_literal, // on a part and a plain number
  choice,     // select(part < literal, part, part)
  call_one,   // a named function of one number
  call_two,   // of two numbers
  call_array, // a named function of the array
  counted,    // a recursive function
  native,     // a native function, which contexts do not enter
  guarded,    // a native function that may throw
  noted,      // a native function with a side effect
  total,      // sum(xs)
  mapped,     // sum(map([&](x) { part }, xs))
  by_name,    // sum(map(f, xs))
  product,    // dot(xs, map([&](x) { part }, xs))
  largest,    // reduce(max, map(...))
  branch,     // if_(part < literal, part, part)
  repeated,   // loop(3, part, [&](i, s) { part - (s + i) })
  steps,      // while_ of two iterations, whose loop-carried value is a tuple
  swept,   // the final value of scan([&](s, x) { {part - s * x, s} }, part, xs), plus the sum of its outputs
  pair,    // a function that returns two numbers
  applied, // a function whose argument is a function
  scaled,  // the sum of the array that a function returns
  local,   // a function that runs in a local context with a literal member
  vector,  // a function of a std::vector, of one or three parts
  let      // part 0, which part 1 may use any number of times
};

struct expression {
  form is = form::parameter;
  std::uint32_t which = 0;
  double literal = 0;
  std::vector<expression> parts = {};
};

// The indices of the functions in `bodies`.
enum number : std::uint32_t { entry, two, one, of_array, count };
struct functions {
  std::array<expression, count> bodies;
};
inline functions drawn;

// ---- the functions

template <class Row>
using element_of = std::remove_cvref_t<decltype(std::declval<Row const&>()[i64{}])>;

struct entry_body {
  template <class V, class Row>
  V operator()(V x, V y, Row row) const;
};
struct two_body {
  template <class V>
  V operator()(V x, V y) const;
};
struct one_body {
  template <class V>
  V operator()(V x) const;
};
struct array_body {
  template <class Row>
  element_of<Row> operator()(Row row) const;
};
inline constexpr auto f_entry = fn<"entry">(entry_body{});
inline constexpr auto f_two = fn<"two">(two_body{});
inline constexpr auto f_one = fn<"one">(one_body{});
inline constexpr auto f_array = fn<"of_array">(array_body{});
inline constexpr auto f_counted = fn<"counted">([](scope auto& cx, auto x, auto n) -> decltype(x) {
  return if_(
      n < 1, [&]() -> decltype(x) { return x * 0.5; },
      [&]() -> decltype(x) {
        auto const y = x + 1.5;
        auto const rest = cx.self(y, n - 1);
        return rest - x;
      });
});
inline constexpr auto f_pair = fn<"pair">([](auto x) -> std::tuple<decltype(x), decltype(x)> {
  auto const y = x * 0.75;
  return {y, x + 0.375};
});
inline constexpr auto f_applied = fn<"applied">([](auto const& f, auto x) -> decltype(x) {
  auto const y = f(x);
  return y - 0.875;
});
inline constexpr auto f_scaled =
    fn<"scaled">([](auto xs) { return overdub::map([](auto x) { return x * 1.75; }, xs); });
inline constexpr auto f_small = fn<"small">([](auto x) -> decltype(x) {
  auto const y = x * 1.125;
  return y - 0.1875;
});
inline constexpr auto f_list = fn<"list">([](auto const& xs) {
  auto all = xs[0];
  for (std::size_t i = 1; i < xs.size(); ++i) {
    auto const scaled = all * 0.6875;
    all = scaled + xs[i];
  }
  return all - 0.3125 * static_cast<double>(xs.size());
});
// Multiplies products by a member.
struct scales : context {
  double factor;
  explicit scales(double by) : factor(by) {}
  template <class X, class Y>
  requires(std::is_same_v<plain_t<X>, double>&& std::is_same_v<plain_t<Y>, double>) auto overdub(
      mul_t mul, X const& x, Y const& y) {
    auto const product = mul(x, y);
    return mul(product, factor);
  }
};
inline constexpr auto f_native = leaf<"native">([](double x) { return x * 0.5 + 1.25; }, effects::pure);
inline constexpr auto f_guarded = leaf<"guarded">(
    [](double x) {
      if (x > 6) throw std::domain_error("guarded");
      return x * 2.0;
    },
    effects::may_fail);
// Reports its argument to the test.
inline void (*on_noted)(double) = nullptr;
inline constexpr auto f_noted = leaf<"noted">([](double x) {
  if (on_noted != nullptr) on_noted(x);
  return x + 0.125;
});

// Applies the operation with the given index.
inline constexpr std::uint32_t unary_operations = 5, binary_operations = 6;
template <class V>
V unary_of(std::uint32_t which, V const& x) {
  switch (which) {
  case 0:
    return overdub::sin(x);
  case 1:
    return overdub::cos(x);
  case 2:
    return -x;
  case 3:
    return overdub::abs(x);
  default:
    return overdub::tanh(x);
  }
}
template <class V, class B>
V binary_of(std::uint32_t which, V const& x, B const& y) {
  switch (which) {
  case 0:
    return x + y;
  case 1:
    return x - y;
  case 2:
    return x * y;
  case 3:
    return overdub::max(x, y);
  case 4:
    return overdub::min(x, y);
  default:
    return overdub::hypot(x, y);
  }
}

template <class V, class Row>
struct runner {
  std::vector<V> numbers;
  Row const* row = nullptr; // null for functions without an array

  runner with(V const& x) const {
    runner inner = *this;
    inner.numbers.push_back(x);
    return inner;
  }
  auto mapped(expression const& e) const {
    return overdub::map([&](auto const& x) -> V { return with(x).value(e); }, *row);
  }

  V value(expression const& e) const {
    auto const& part = e.parts;
    switch (e.is) {
    case form::parameter:
      return numbers.at(e.which);
    case form::unary:
      return unary_of<V>(e.which, value(part[0]));
    case form::binary: {
      V const x = value(part[0]);
      V const y = value(part[1]);
      return binary_of<V>(e.which, x, y);
    }
    case form::by_literal:
      return binary_of<V>(e.which, value(part[0]), e.literal);
    case form::choice: {
      auto const c = value(part[0]) < e.literal;
      V const x = value(part[1]);
      V const y = value(part[2]);
      return overdub::select(c, x, y);
    }
    case form::call_one:
      return f_one(value(part[0]));
    case form::call_two: {
      V const x = value(part[0]);
      V const y = value(part[1]);
      return f_two(x, y);
    }
    case form::counted:
      return f_counted(value(part[0]), i64{2});
    case form::native:
      return f_native(value(part[0]));
    case form::guarded:
      return f_guarded(value(part[0]));
    case form::noted:
      return f_noted(value(part[0]));
    case form::branch: {
      auto const c = value(part[0]) < e.literal;
      return overdub::if_(
          c, [&]() -> V { return value(part[1]); }, [&]() -> V { return value(part[2]); });
    }
    case form::repeated: {
      V const start = value(part[0]);
      return overdub::loop(i64{3}, start, [&](auto const& i, auto const& s) -> V {
        V const next = with(s).value(part[1]);
        auto const step = overdub::convert<double>(i);
        V const moved = s + step;
        return next - moved;
      });
    }
    case form::steps: {
      V const start = value(part[0]);
      auto const last = overdub::while_(
          std::tuple{start, i64{2}}, [](auto const& s) { return std::get<1>(s) > 0; },
          [&](auto const& s) {
            V const next = with(std::get<0>(s)).value(part[1]);
            return std::tuple{next, std::get<1>(s) - 1};
          });
      return std::get<0>(last);
    }
    case form::pair: {
      auto const both = f_pair(value(part[0]));
      return std::get<0>(both) - std::get<1>(both);
    }
    case form::applied:
      return f_applied(f_one, value(part[0]));
    case form::local:
      return overdub::run(scales(e.literal), f_small, value(part[0]));
    case form::vector: {
      std::vector<V> all;
      for (expression const& each : part) all.push_back(value(each));
      return f_list(all);
    }
    case form::let: {
      V const x = value(part[0]);
      return with(x).value(part[1]);
    }
    default:
      return of_row(e);
    }
  }

private:
  V of_row(expression const& e) const {
    if constexpr (std::is_same_v<Row, none>)
      throw std::logic_error("a function without an array was drawn as one that has some");
    else
      switch (e.is) {
      case form::element:
        return (*row)[static_cast<i64>(e.which)];
      case form::call_array:
        return f_array(*row);
      case form::swept: {
        V const start = value(e.parts[0]);
        auto const [last, stacked] = overdub::scan(
            [&](auto const& s, auto const& x) {
              V const next = with(x).value(e.parts[1]);
              V const moved = s * x;
              return std::tuple<V, V>{next - moved, s};
            },
            start, *row);
        auto const all = overdub::sum(stacked);
        return last + all;
      }
      case form::scaled:
        return overdub::sum(f_scaled(*row));
      case form::total:
        return overdub::sum(*row);
      case form::mapped:
        return overdub::sum(mapped(e.parts[0]));
      case form::by_name:
        return overdub::sum(overdub::map(f_one, *row));
      case form::product:
        return overdub::dot(*row, mapped(e.parts[0]));
      default:
        return overdub::reduce(overdub::max, mapped(e.parts[0]));
      }
  }
};

template <class V, class Row>
V entry_body::operator()(V x, V y, Row row) const {
  return runner<V, Row>{{x, y}, &row}.value(drawn.bodies[entry]);
}
template <class V>
V two_body::operator()(V x, V y) const {
  return runner<V, none>{{x, y}}.value(drawn.bodies[two]);
}
template <class V>
V one_body::operator()(V x) const {
  return runner<V, none>{{x}}.value(drawn.bodies[one]);
}
template <class Row>
element_of<Row> array_body::operator()(Row row) const {
  return runner<element_of<Row>, Row>{{}, &row}.value(drawn.bodies[of_array]);
}

// ---- which functions

struct options {
  int depth = 4;
  // Staging before the run makes programs canonical: it merges equal operations, removes dead ones, and reorders those without
  // effects (limitations). In a canonical function, each value is used once, where it was computed last, and no two operations are
  // equal. For other functions, contexts may observe other events if the function is staged before.
  bool canonical = true;
  bool natives = true;
  bool failing = true;
};

class maker {
public:
  maker(std::uint64_t seed, options const& wanted) : random_(seed), wanted_(wanted) {}

  functions make() {
    functions made;
    for (std::uint32_t f = count; f-- > 0;) {
      function_ = f;
      operations_.clear();
      made.bodies[f] =
          any(f == entry ? wanted_.depth : wanted_.depth - 1, f == entry || f == two ? 2
                                                              : f == one             ? 1
                                                                                     : 0);
    }
    return made;
  }

private:
  bool has_row() const { return function_ == entry || function_ == of_array; }
  // Calls have one number, two, or the array as arguments: of later functions in the list, so that there is no recursion.
  bool may_call(std::uint32_t f) const { return f > function_ && (f != of_array || has_row()); }

  // An expression with `numbers` numbers in scope.
  expression any(int depth, std::uint32_t numbers) {
    for (int attempts = 0; attempts < 20; ++attempts) {
      auto const before = operations_;
      expression e = drawn_once(depth, numbers);
      if (is_allowed(e)) return e;
      operations_ = before;
    }
    // An operation that is new in the function, since its literal is.
    return {form::by_literal, 2, next_literal(), {leaf(numbers)}};
  }
  // Records the operation, and returns whether it is new.
  bool is_allowed(expression const& e) {
    if (e.is == form::parameter || e.is == form::element || e.is == form::let || !wanted_.canonical)
      return true;
    return operations_.insert(text(e)).second;
  }
  // Operations with the same number of operands are not distinguished, nor are local contexts: a rule may replace one by another.
  static std::string text(expression const& e) {
    std::string all = std::to_string(static_cast<int>(e.is)) + '.';
    if (e.is != form::local) all += std::to_string(e.literal);
    if (e.is == form::parameter || e.is == form::element) all += '.' + std::to_string(e.which);
    for (expression const& part : e.parts) all += '(' + text(part) + ')';
    return all;
  }
  expression leaf(std::uint32_t numbers) {
    if (numbers == 0 || (has_row() && random_.chance(20))) return {form::element, random_.below(3)};
    return {form::parameter, random_.below(numbers)};
  }
  double next_literal() { return 0.0625 * ++literals_ - 1; }

  expression drawn_once(int depth, std::uint32_t numbers) {
    if (depth == 0 || random_.chance(5)) return leaf(numbers);
    auto part = [&] { return any(depth - 1, numbers); };
    auto with_one_more = [&] { return any(depth - 1, numbers + 1); };
    switch (random_.below(25)) {
    case 0:
    case 1:
      return {form::unary, random_.below(unary_operations), 0, {part()}};
    case 2:
    case 3:
    case 4:
      return two_parts(form::binary, random_.below(binary_operations), part, part);
    case 5:
    case 6:
      return {form::by_literal, random_.below(binary_operations), next_literal(), {part()}};
    case 7:
      return three_parts(form::choice, part);
    case 8:
      if (may_call(one)) return {form::call_one, 0, 0, {part()}};
      break;
    case 9:
    case 10:
      if (may_call(two)) return two_parts(form::call_two, 0, part, part);
      break;
    case 11:
      if (may_call(of_array)) return {form::call_array};
      break;
    case 12:
      return {form::counted, 0, 0, {part()}};
    case 13:
      if (wanted_.natives) return {form::native, 0, 0, {part()}};
      break;
    case 14:
      if (wanted_.natives && wanted_.failing) return {form::guarded, 0, 0, {part()}};
      break;
    case 15:
      return three_parts(form::branch, part);
    case 16:
      return two_parts(form::repeated, 0, part, with_one_more);
    case 17:
      if (wanted_.canonical) break;
      if (wanted_.natives && random_.chance(40)) return {form::noted, 0, 0, {part()}};
      return two_parts(form::let, 0, part, with_one_more);
    case 18:
      return two_parts(form::steps, 0, part, with_one_more);
    case 19:
      return {form::pair, 0, 0, {part()}};
    case 20:
      if (may_call(one)) return {form::applied, 0, 0, {part()}};
      break;
    case 21:
      return {form::local, 0, next_literal(), {part()}};
    case 22: {
      expression e{form::vector};
      std::uint32_t const parts = random_.chance(50) ? 1 : 3;
      for (std::uint32_t i = 0; i < parts; ++i) e.parts.push_back(part());
      return e;
    }
    default:
      if (!has_row()) break;
      switch (random_.below(7)) {
      case 0:
        return {form::total};
      case 1:
        return {form::mapped, 0, 0, {with_one_more()}};
      case 2:
        if (may_call(one)) return {form::by_name};
        break;
      case 3:
        return {form::product, 0, 0, {with_one_more()}};
      case 4:
        return two_parts(form::swept, 0, part, with_one_more);
      case 5:
        return {form::scaled};
      default:
        return {form::largest, 0, 0, {with_one_more()}};
      }
    }
    return drawn_once(depth, numbers);
  }
  template <class First, class Second>
  static expression two_parts(form is, std::uint32_t which, First const& first, Second const& second) {
    expression e{is, which};
    e.parts.push_back(first());
    e.parts.push_back(second());
    return e;
  }
  template <class Part>
  expression three_parts(form is, Part const& part) {
    expression e = two_parts(is, 0, part, part);
    e.parts.push_back(part());
    e.literal = next_literal();
    return e;
  }

  random_program::random_numbers random_;
  options wanted_;
  std::uint32_t function_ = 0;
  int literals_ = 0;
  std::set<std::string> operations_; // the operations of the function, as text
};

} // namespace random_function
