// Lifted functions call native functions of numbers, which the program's user binds.
#include "catch.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/lift.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using overdub::datum;
using strings = std::vector<std::string>;

constexpr char const* text = R"(
declare double @_Z5twiced(double)
declare zeroext i8 @next(i8 zeroext, i16 signext, i1 zeroext)
declare void @note(float, i64)
declare i32 @pure(i32) #0
declare double @by_pointer(ptr)
declare double @several(double, ...)
declare i128 @wide(i128)
declare i32 @setjmp(i32) #1

define double @calls(double %x, i32 %k) {
  %a = call double @_Z5twiced(double %x)
  %b = call zeroext i8 @next(i8 zeroext 200, i16 signext -1, i1 zeroext true)
  call void @note(float 1.5, i64 -7)
  %c = call i32 @pure(i32 %k)
  %unused = call i32 @pure(i32 3)
  %d = uitofp i8 %b to double
  %e = sitofp i32 %c to double
  %f = fadd double %a, %d
  %g = fadd double %f, %e
  ret double %g
}
define double @gives_pointer(ptr %x) {
  %a = call double @by_pointer(ptr %x)
  ret double %a
}
define double @gives_several(double %x) {
  %a = call double (double, ...) @several(double %x, double %x)
  ret double %a
}
define i32 @returns_twice(i32 %x) {
  %a = call i32 @setjmp(i32 %x)
  ret i32 %a
}
attributes #0 = { nounwind willreturn readnone }
attributes #1 = { returns_twice }
)";

} // namespace

TEST_CASE("native functions of numbers are called by their names") {
  overdub::lift_result r = overdub::lift(text);
  strings refused;
  for (overdub::refused_function const& f : r.refused) refused.push_back(f.name);
  CHECK(refused == strings{"gives_pointer", "gives_several", "returns_twice"});

  REQUIRE(r.natives.size() == 4);
  CHECK(r.natives[0].symbol == "_Z5twiced");
  CHECK(r.natives[0].name == "twice(double)");
  CHECK(r.natives[0].parameters == strings{"double"});
  CHECK(r.natives[0].results == strings{"double"});
  CHECK(r.natives[1].parameters == strings{"std::uint8_t", "std::int16_t", "bool"});
  CHECK(r.natives[1].results == strings{"std::uint8_t"});
  CHECK(r.natives[2].parameters == strings{"float", "std::int64_t"});
  CHECK(r.natives[2].results.empty());
  CHECK(r.natives[3].name == "pure");

  // The one whose result is not used is dead code, as it has no side effects.
  CHECK(overdub::ir::print(r.program) == R"od(func @calls(%x: f64, %k: i64) -> f64 {
  %0 = host ordered "twice(double)"(%x) : f64
  %1 = host ordered "next"(-56, -1, true) : i64
  host ordered "note"(1.5f32, -7)
  %2 = host pure "pure"(%k) : i64
  %3 = bit_and %1, 255 : i64
  %4 = convert %3 : f64
  %5 = convert %2 : f64
  %6 = add %0, %4 : f64
  %7 = add %6, %5 : f64
  return %7
}
)od");

  static std::vector<double> seen;
  seen.clear();
  auto const bind = [&](char const* name, auto run) {
    r.program.hosts.push_back({.name = r.program.intern(name), .run = run});
  };
  bind("twice(double)", [](void*, void const* const* x, void* const* result) {
    *static_cast<double*>(result[0]) = 2 * *static_cast<double const*>(x[0]);
  });
  bind("next", [](void*, void const* const* x, void* const* result) {
    *static_cast<std::int64_t*>(result[0]) = *static_cast<std::int64_t const*>(x[0]) + 1;
  });
  bind("note", [](void*, void const* const* x, void* const*) {
    seen = {*static_cast<float const*>(x[0]), static_cast<double>(*static_cast<std::int64_t const*>(x[1]))};
  });
  bind("pure", [](void*, void const* const* x, void* const* result) {
    *static_cast<std::int64_t*>(result[0]) = -*static_cast<std::int64_t const*>(x[0]);
  });
  overdub::executable const calls(r.program, *r.program.find("calls"));
  CHECK(calls.call<double>(1.25, std::int64_t{4}) == 2.5 + 201 - 4);
  CHECK(seen == std::vector<double>{1.5, -7});
}
