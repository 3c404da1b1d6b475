// Calls through pointers, of functions, virtual functions and std::function, lifted, are those of native code, by every executor.
#include "lift/sources/pointers.hpp"

#include "lift/native.hpp"

#include <overdub/reverse/gradient_program.hpp>

#include <string>
#include <tuple>
#include <vector>

namespace {

using lifted::number;
using lifted::numbers;
using overdub::datum;

overdub::lift_result const& module() {
  static overdub::lift_result const result = overdub::lift_file(OVERDUB_LIFT_POINTERS);
  return result;
}
template <class Native, class Make>
void same(std::string const& name, Native const& native, Make const& make) {
  lifted::same(module().program, name, native, make, OVERDUB_LIFT_CALLS);
}
auto integer_and_number(int low, int high) {
  return [=] { return std::tuple(number(low, high), number(-2.0, 2.0)); };
}
auto a_number() {
  return [] { return std::tuple(number(-2.0, 2.0)); };
}

using values = std::vector<datum>;
values run(std::string const& name, values const& arguments) {
  INFO(name);
  auto const f = module().program.find(name);
  REQUIRE(f);
  return overdub::executable(module().program, *f).run(arguments);
}

} // namespace

TEST_CASE("of functions that call through pointers, those alone are refused that have another reason") {
  std::vector<std::string> names;
  for (overdub::refused_function const& f : module().refused) names.push_back(f.name);
  CHECK(names == std::vector<std::string>{"odd::area() const"});
}

TEST_CASE("lifted pointers to functions") {
  same("by_table(int, double)", by_table, integer_and_number(0, 2));
  same("by_parameter(int, double)", by_parameter, integer_and_number(-1, 3));
  same("of_the_library(int, double)", of_the_library, integer_and_number(0, 2));
  same("sorted_by(double*, int, bool)", sorted_by, [] {
    int const n = lifted::size();
    return std::tuple(numbers(lifted::as_size(n), -1.0, 1.0), n, number(0, 1) == 1);
  });
  same("recursive_by_pointer(double, int)", recursive_by_pointer, [] {
    return std::tuple(number(-2.0, 2.0), number(0, 9));
  });
  same("of_pairs(int, double, double)", of_pairs, [] {
    return std::tuple(number(0, 1), number(-2.0, 2.0), number(-2.0, 2.0));
  });
  same("of_large_structs(int, double)", of_large_structs, integer_and_number(0, 1));
  same("compared(int)", compared, [] { return std::tuple(number(-1, 1)); });
}

TEST_CASE("lifted virtual functions") {
  same("areas(int, double)", areas, integer_and_number(0, 7));
  same("on_the_stack(double)", on_the_stack, a_number());
  same("of_both_bases(double)", of_both_bases, a_number());
  same("of_virtual_bases(double)", of_virtual_bases, a_number());
  same("in_constructors(double)", in_constructors, a_number());
  same("overridden_twice(int, double)", overridden_twice, integer_and_number(0, 1));
  same("visited(int, double)", visited, integer_and_number(1, 9));
}

TEST_CASE("lifted objects of std::function") {
  same("by_function_object(int, double)", by_function_object, integer_and_number(-1, 5));
  same("integral(double, int)", integral, [] { return std::tuple(number(-2.0, 2.0), number(1, 20)); });
  same("captured_by_reference(int, double)", captured_by_reference, integer_and_number(0, 6));
  same("large_capture(double)", large_capture, a_number());
  same("functions_in_vector(int, double)", functions_in_vector, integer_and_number(0, 6));
}

TEST_CASE("a call through a pointer to no lifted function is an error of the run") {
  auto const through_pointer = Catch::Contains("a call through a pointer");
  CHECK_THROWS_WITH(run("of_none(int, double)", {0, 1.5}), through_pointer);
  CHECK(run("of_none(int, double)", {1, 1.5}) == values{2.25});
  CHECK_THROWS_WITH(run("empty_function(int, double)", {0, 1.5}), Catch::Contains("does not return"));
  CHECK(run("empty_function(int, double)", {1, 1.5}) == values{0.75});
  CHECK_THROWS_WITH(run("calls_refused(int, double)", {1, 1.5}), through_pointer);
  CHECK(run("calls_refused(int, double)", {0, 1.5}) == values{2.25});
  CHECK_THROWS_WITH(run("calls_pure(double)", {1.5}), through_pointer);
}

TEST_CASE("derivatives of functions that call through pointers are those of finite differences") {
  auto const check = [](std::string const& name, int first) {
    INFO(name);
    auto const value = [&](double x) { return run(name, {first, x})[0].as<double>(); };
    overdub::ir::program g = module().program;
    overdub::gradient_request wanted;
    wanted.inputs = {false, true};
    wanted.results = {true};
    g.entry = overdub::add_gradient(g, *g.find(name), wanted);
    double const slope = overdub::executable(g).run(values{first, 1.25, 1.0})[1].as<double>(), h = 1e-6;
    CHECK(slope == Approx((value(1.25 + h) - value(1.25 - h)) / (2 * h)).epsilon(1e-6));
  };
  check("areas(int, double)", 5);
  check("by_function_object(int, double)", 2);
  check("visited(int, double)", 6);
  check("by_table(int, double)", 0);
}
