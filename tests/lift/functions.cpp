// Small functions of C++, lifted, return what they return natively, by every executor.
#include "lift/sources/functions.hpp"

#include "lift/native.hpp"

#include <overdub/forward_program.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse/gradient_program.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

namespace {

overdub::lift_result const& module() {
  static overdub::lift_result const result = overdub::lift_file(OVERDUB_LIFT_FUNCTIONS);
  return result;
}

template <class Native, class Make>
void same(std::string const& name, Native const& native, Make const& make, int times = 20) {
  lifted::same(module().program, name, native, make, times);
}

// The text of a function alone, after the passes.
std::string text_of_function(std::string const& name) {
  overdub::ir::program p = module().program;
  p.entry = *p.find(name);
  overdub::pass::default_pipeline(p);
  return overdub::ir::print(p);
}

using lifted::array_and_size;
using lifted::as_size;
using lifted::bits;
using lifted::number;
using lifted::numbers;
using lifted::reals;
using lifted::size;

} // namespace

TEST_CASE("every function of the source is lifted") {
  // Functions of the standard library that return a pointer are lifted as parts of their callers.
  for (overdub::refused_function const& f : module().refused) {
    INFO(text_of(f));
    CHECK((f.construct == "a pointer as result" && f.name.find("std::") != std::string::npos));
  }
}

TEST_CASE("lifted loops") {
  same("norm(double const*, long)", norm, array_and_size());
  same("dot(double const*, double const*, int)", dot, [] {
    int const n = size();
    return std::tuple(numbers(as_size(n), -1.0, 1.0), numbers(as_size(n), -1.0, 1.0), n);
  });
  same("pendulum(double, double, double, int)", pendulum, [] {
    return std::tuple(number(-3.0, 3.0), number(-60.0, 60.0), 0.1, number(0, 40));
  });
  same("first_above(double const*, int, double)", first_above, [] {
    int const n = size();
    return std::tuple(numbers(as_size(n), -2.0, 2.0), n, 1.0);
  });
  same("count_until_zero(int const*, int)", count_until_zero, [] {
    int const n = size();
    return std::tuple(numbers(as_size(n), -3, 9), n);
  });
  same("skips_odd(double const*, int)", skips_odd, array_and_size());
  same("largest(double const*, unsigned long)", largest, array_and_size());
  same("largest_index(float const*, int)", largest_index, [] {
    return std::tuple(numbers(9, -1.0f, 1.0f), 9);
  });
  same("second_order(double const*, int)", second_order, array_and_size());
  same("moving(double const*, int, int)", moving, [] {
    return std::tuple(numbers(12, -1.0, 1.0), number(0, 12), number(0, 5));
  });
  same("walk(double const*, int)", walk, array_and_size());
  same("backwards(double const*, int)", backwards, [] {
    int const n = size() + 1;
    return std::tuple(numbers(as_size(n), -1.0, 1.0), n);
  });
  same("two_exits(double const*, int, double)", two_exits, [] {
    return std::tuple(numbers(9, -1.0, 2.0), 9, number(0.0, 6.0));
  });
  same("is_sorted(double const*, int)", is_sorted, array_and_size(0, 0.5));
  same("do_while(double)", do_while, reals(-2, 50));
  same("steps_down(int)", steps_down, [] { return std::tuple(number(0, 30)); });
  same("strided(long const*, long)", strided, [] {
    int const n = size();
    return std::tuple(numbers<long>(as_size(n), -9, 9), n);
  });
  same("logistic(double, int)", logistic, [] { return std::tuple(number(0.0, 1.0), size()); });
  same("mandelbrot(double, double)", mandelbrot, [] {
    return std::tuple(number(-2.0, 1.0), number(-1.0, 1.0));
  });
  same("simpson(double, double, int)", simpson, [] {
    return std::tuple(-1.0, number(0.0, 2.0), number(1, 9));
  });
  same("levels(int, double)", levels, [] { return std::tuple(number(0, 9), number(-1.0, 2.0)); });
  same("extremes(double const*, int)", extremes, array_and_size());
  same("closure(double, int)", closure, [] { return std::tuple(number(0.5, 2.0), number(1, 9)); });
  same("goes(int)", goes, [] { return std::tuple(size()); });
  same("crosses(int)", crosses, [] { return std::tuple(size()); });
  same("collatz(long)", collatz, [] { return std::tuple(number(1L, 5000L)); });
  same("bisect(double, double)", bisect, [] { return std::tuple(number(-1.0, 0.0), number(1.0, 2.0)); });
  same("newton(double)", newton, reals(0, 9));
  same("population(unsigned int)", population, [] { return std::tuple(static_cast<unsigned>(bits()())); });
  same("primes(int)", primes, [] { return std::tuple(number(0, 120)); });
}

TEST_CASE("lifted branches and recursion") {
  same("clamped(double)", clamped, reals(-1, 2));
  same("sign(double)", sign, reals(-1, 1));
  same("by_case(int, double)", by_case, [] { return std::tuple(number(-2, 9), number(-1.0, 1.0)); });
  same("fibonacci(long)", fibonacci, [] { return std::tuple(number(0L, 15L)); });
  same("is_even(int)", is_even, [] { return std::tuple(number(0, 20)); });
  same("ackermann(int, int)", ackermann, [] { return std::tuple(number(0, 2), number(0, 4)); });
  same("gcd(long, long)", gcd, [] { return std::tuple(number(-99L, 99L), number(-99L, 99L)); });
  same("gcd_unsigned(unsigned int, unsigned int)", gcd_unsigned, [] {
    return std::tuple(static_cast<unsigned>(bits()()), static_cast<unsigned>(bits()()));
  });
  same("all_or_any(bool, bool, bool)", all_or_any, [] {
    return std::tuple(number(0, 1) == 1, number(0, 1) == 1, number(0, 1) == 1);
  });
  same("compares(double, double)", compares, [] {
    double const some[] = {-1, 0, 1, std::numeric_limits<double>::quiet_NaN()};
    return std::tuple(some[number(0, 3)], some[number(0, 3)]);
  });
  same("binary_search(int const*, int, int)", binary_search, [] {
    std::vector<int> x = numbers(10, 0, 30);
    std::sort(x.begin(), x.end());
    return std::tuple(x, 10, number(0, 30));
  });
  same("weekday(int, int, int)", weekday, [] {
    return std::tuple(number(1900, 2100), number(1, 12), number(1, 28));
  });
}

TEST_CASE("lifted arrays") {
  same("scale(double*, int, double)", scale, [] {
    int const n = size();
    return std::tuple(numbers(as_size(n), -2.0, 2.0), n, 0.3);
  });
  same("scale_and_sum(double*, int)", scale_and_sum, array_and_size());
  same("of_callees(double const*, long)", of_callees, array_and_size());
  same("polynomial(double)", polynomial, reals(-2, 2));
  same("horner(double const*, int, double)", horner, [] {
    int const n = size();
    return std::tuple(numbers(as_size(n), -2.0, 2.0), n, 0.7);
  });
  same("insertion_sort(double*, int)", insertion_sort, array_and_size());
  same("bubble_sort(int*, int)", bubble_sort, [] {
    int const n = size();
    return std::tuple(numbers(as_size(n), -9, 9), n);
  });
  same("prefix_sums(double*, int)", prefix_sums, array_and_size());
  same("multiply(double const*, double const*, double*, int)", multiply, [] {
    return std::tuple(numbers(9, -1.0, 1.0), numbers(9, -1.0, 1.0), numbers(9, 0.0, 0.0), 3);
  });
  same("trace_of_square(double const*)", trace_of_square, [] { return std::tuple(numbers(9, -1.0, 1.0)); });
  same("reverse(double*, int)", reverse, [] {
    int const n = size() + 1;
    return std::tuple(numbers(as_size(n), -2.0, 2.0), n);
  });
  same("rotate3(double*, double)", rotate3, [] { return std::tuple(numbers(3, -1.0, 1.0), 0.4); });
  same("local_array(double const*, int)", local_array, array_and_size());
  same("zeroed(int)", zeroed, [] { return std::tuple(number(0, 99)); });
  same("table(int)", table, [] { return std::tuple(number(0, 9)); });
  same("days(int)", days, [] { return std::tuple(number(0, 11)); });
  same("divide(int, int, int*, int*)", divide, [] {
    return std::tuple(number(-99, 99), number(1, 9), numbers(1, 0, 0), numbers(1, 0, 0));
  });
  same("divides_and_adds(int, int)", divides_and_adds, [] {
    return std::tuple(number(-99, 99), number(1, 9));
  });
  same("parts_of_one_array(double*, int)", parts_of_one_array, [] {
    int const n = number(1, 9);
    return std::tuple(numbers(as_size(2 * n), -2.0, 2.0), n);
  });
  same("moments(double const*, double const*, int)", moments, [] {
    int const n = size();
    return std::tuple(numbers(as_size(3 * n), -2.0, 2.0), numbers(as_size(3 * n), -2.0, 2.0), n);
  });
}

TEST_CASE("loops that compare the index plus a constant are counted") {
  same("differences(double const*, int)", differences, array_and_size());
  same("wraps_around(unsigned char)", wraps_around, [] { return std::tuple(number<unsigned char>(0, 255)); });
  same("last_of(unsigned long)", last_of, [] { return std::tuple(number(0UL, 40UL)); });
  for (std::string const name : {"differences(double const*, int)", "last_of(unsigned long)"}) {
    std::string const text = text_of_function(name);
    INFO(text);
    CHECK(text.find(" = loop ") != text.npos);
    CHECK(text.find(" = while ") == text.npos);
  }
}

TEST_CASE("calls that receive parts of arrays copy nothing, and small local arrays are scalars") {
  for (std::string const name :
       {"parts_of_one_array(double*, int)", "moments(double const*, double const*, int)"}) {
    std::string const text = text_of_function(name);
    INFO(text);
    for (char const* const operation : {" = slice ", " = concat ", " = call ", " = fill "})
      CHECK(text.find(operation) == text.npos);
  }
}

TEST_CASE("lifted copies of arrays that functions access in no other way") {
  same("clears_by_callee(int*)", clears_by_callee, [] { return std::tuple(numbers(5, -9, 9)); });
  same("copies_pair(double*, double const*)", copies_pair, [] {
    return std::tuple(numbers(3, -1.0, 1.0), numbers(2, -1.0, 1.0));
  });
  same("copies_vectors(float*, float const*)", copies_vectors, [] {
    return std::tuple(numbers(4, -1.0f, 1.0f), numbers(6, -1.0f, 1.0f));
  });
  same("passes_what_is_not_used(double const*, int)", passes_what_is_not_used, [] {
    return std::tuple(numbers(3, -1.0, 1.0), size());
  });
  same("copies_of_copies(double const*, int)", copies_of_copies, [] {
    return std::tuple(numbers(4, -1.0, 1.0), size());
  });
}

TEST_CASE("lifted numbers") {
  auto const any = [] { return bits()() >> number(0, 63); };
  same(
      "wraps(int, int)", wraps, [=] { return std::tuple(static_cast<int>(any()), static_cast<int>(any())); },
      200);
  same("hash(unsigned char const*, int)", hash, [] {
    int const n = size();
    return std::tuple(numbers<unsigned char>(as_size(n), 0, 255), n);
  });
  same(
      "random_bits(unsigned long)", random_bits, [=] { return std::tuple(any()); }, 200);
  same(
      "divide_unsigned(unsigned long, unsigned long)", divide_unsigned,
      [=] { return std::tuple(any(), any() | 1); }, 500);
  same(
      "remainder_unsigned(unsigned long, unsigned long)", remainder_unsigned,
      [=] { return std::tuple(any(), any() | 1); }, 500);
  same(
      "narrow(short, unsigned char)", narrow,
      [=] { return std::tuple(static_cast<short>(any()), static_cast<unsigned char>(any())); }, 200);
  same("shifts(int, unsigned int, int)", shifts, [=] {
    return std::tuple(static_cast<int>(any() >> 34), static_cast<unsigned>(any() >> 34), number(0, 31));
  });
  same(
      "from_unsigned(unsigned long, unsigned int)", from_unsigned,
      [=] { return std::tuple(any(), static_cast<unsigned>(any())); }, 500);
  same(
      "to_unsigned(double)", to_unsigned,
      [] { return std::tuple(std::ldexp(number(1.0, 2.0), number(-2, 62))); }, 200);
  same("single(float, float)", single, [] { return std::tuple(number(-9.0f, 9.0f), number(-9.0f, 9.0f)); });
  same(
      "functions(double, double)", functions, [] { return std::tuple(number(-3.0, 3.0), number(-3.0, 3.0)); },
      100);
  same(
      "exponents(double, int)", exponents, [] { return std::tuple(number(-3.0, 3.0), number(-1100, 1100)); });
  same("is_negative(double const*, float)", is_negative, [] {
    return std::tuple(std::vector<double>{number(0, 1) == 0 ? -0.0 : 0.0}, number(-1.0f, 1.0f));
  });
  same(
      "popcount_builtin(unsigned long)", popcount_builtin, [=] { return std::tuple(any()); }, 100);
}

TEST_CASE("lifted conversions out of the range of a narrow integer saturate") {
  overdub::ir::program const& p = module().program;
  overdub::executable const f(p, *p.find("saturates(double)"));
  CHECK(f.call<std::int64_t>(1e300) == 1 + 4 + 16);
  CHECK(f.call<std::int64_t>(3e9) == 1 + 4 + 16);
  CHECK(f.call<std::int64_t>(-3e9) == 2 + 8 + 32);
  CHECK(f.call<std::int64_t>(300.0) == 4 + 16);
  CHECK(f.call<std::int64_t>(std::numeric_limits<double>::quiet_NaN()) == 8);
}

TEST_CASE("lifted integers of one bit") {
  std::string text;
  std::vector<std::string> const predicates{"eq",  "ne",  "ult", "ule", "ugt",
                                            "uge", "slt", "sle", "sgt", "sge"};
  for (std::string const& how : predicates)
    text += "define i1 @" + how + "(i1 %a, i1 %b) {\n  %c = icmp " + how + " i1 %a, %b\n  ret i1 %c\n}\n";
  text += "define i1 @to_bit(double %x) {\n  %c = fptoui double %x to i1\n  ret i1 %c\n}\n";
  overdub::lift_result const r = overdub::lift(text);
  CHECK(r.refused.empty());
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 2; ++b) {
      bool const all[] = {a == b, a != b, a<b, a <= b, a> b, a >= b, a > b, a >= b,
                          a < b,  a <= b}; // with a sign, true is -1
      for (std::size_t k = 0; k < predicates.size(); ++k) {
        INFO(predicates[k] << ' ' << a << ' ' << b);
        overdub::executable const f(r.program, *r.program.find(predicates[k]));
        CHECK(f.call<bool>(a == 1, b == 1) == all[k]);
      }
    }
  overdub::executable const to_bit(r.program, *r.program.find("to_bit"));
  CHECK(to_bit.call<bool>(1.0));
  CHECK(!to_bit.call<bool>(0.5));
}

TEST_CASE("derivatives of lifted functions are those of the formula") {
  // c[0] + c[1] x + c[2] x² + c[3] x³
  std::vector<double> const c{1, -2, 0.5, 3}, dc{0.1, 0.2, 0.3, 0.4};
  double const x = 0.7, by_x = c[1] + 2 * c[2] * x + 3 * c[3] * x * x;
  std::string const name = "horner(double const*, int, double)";

  overdub::ir::program backward = module().program;
  backward.entry = *backward.find(name);
  overdub::differentiate_entry(backward, {true, false, true}, true);
  auto const gradient = overdub::executable(backward).run(
      std::vector<overdub::datum>{overdub::datum(c), overdub::datum(4), overdub::datum(x)});
  REQUIRE(gradient.size() == 3);
  CHECK(gradient[0].as<double>() == horner(c.data(), 4, x));
  overdub::array<double> const by_c = gradient[1].as<overdub::array<double>>();
  for (int i = 0; i < 4; ++i) CHECK(by_c[i] == Approx(std::pow(x, i)));
  CHECK(gradient[2].as<double>() == Approx(by_x));

  overdub::ir::program const forward = overdub::forward_of(module().program);
  overdub::executable const tangent(forward, *forward.find(name + ".forward"));
  auto const results = tangent.run(std::vector<overdub::datum>{
      overdub::datum(c), overdub::datum(dc), overdub::datum(4), overdub::datum(x), overdub::datum(1.0)});
  REQUIRE(results.size() == 2);
  CHECK(results[0].as<double>() == horner(c.data(), 4, x));
  CHECK(results[1].as<double>() == Approx(by_x + horner(dc.data(), 4, x)));
}
