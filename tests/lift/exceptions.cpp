// Functions that catch exceptions, lifted, return what they return natively, by every executor.
#include "lift/sources/exceptions.hpp"

#include "lift/native.hpp"

#include <overdub/core/error.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

namespace {

using lifted::as_size;
using lifted::number;
using lifted::numbers;
using lifted::size;

overdub::lift_result const& module() {
  static overdub::lift_result const result = overdub::lift_file(OVERDUB_LIFT_EXCEPTIONS);
  return result;
}
template <class Native, class Make>
void same(std::string const& name, Native const& native, Make const& make) {
  lifted::same(module().program, name, native, make);
}
auto around_limits() {
  return [x = std::make_shared<double>(-5.0)] { return std::tuple(*x += 0.45); };
}

} // namespace

TEST_CASE("every function that catches exceptions is lifted") {
  for (overdub::refused_function const& f : module().refused) FAIL_CHECK(text_of(f));
}
TEST_CASE("lifted handlers") {
  same("by_type", by_type, around_limits());
  same("by_base", by_base, around_limits());
  same("by_value", by_value, around_limits());
  same("nested", nested, around_limits());
  same("through_handlers", through_handlers, around_limits());
  same("of_library", of_library, around_limits());
  same("element_or", element_or, [] {
    int const n = size();
    return std::tuple(numbers(as_size(n), -1.0, 1.0), n, number(-1, 12));
  });
  same("count_of_failures", count_of_failures, [] {
    int const n = size();
    return std::tuple(numbers(as_size(n), -4.0, 4.0), n);
  });
}
TEST_CASE("destructors run before lifted handlers") {
  same("with_clean_up", with_clean_up, around_limits());
  same("from_constructor", from_constructor, around_limits());
  same("in_destructor", in_destructor, around_limits());
}
TEST_CASE("errors that no handler catches are errors of the run") {
  overdub::ir::program const& p = module().program;
  overdub::executable const passes(p, *p.find("passes_others")), divides(p, *p.find("divides"));
  CHECK(passes.call<double>(-4.0) == 7);
  CHECK(passes.call<double>(1.0) == 2);
  CHECK_THROWS_AS(passes.call<double>(-2.5), overdub::error);
  CHECK_THROWS(passes_others(-2.5));
  CHECK(divides.call<double>(std::int64_t{7}, std::int64_t{2}) == 3);
  CHECK(divides.call<double>(std::int64_t{-7}, std::int64_t{2}) == -1);
  CHECK_THROWS_AS(divides.call<double>(std::int64_t{7}, std::int64_t{0}), overdub::division_by_zero);
}
