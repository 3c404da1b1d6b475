// Dead-code elimination.
#include "pass/laws.hpp"

#include <overdub/implementation/pass/dead_code.hpp>
#include <overdub/pass/dce.hpp>

namespace {
using overdub::pass::erasable;

void dce(overdub::ir::program& p) { overdub::pass::dce(p); }
template <erasable Which>
void drop(overdub::ir::program& p) {
  (void)overdub::pass::drop_dead_code(p, overdub::ir::function_id{0}, Which);
}
} // namespace

TEST_CASE("dead operations are removed, and operations that may fail or have side effects are not") {
  laws::rewrites(
      dce, R"(
func @f(%a: f64[]) -> f64 {
  %s = sin 1.0 : f64
  %t = cos %s : f64
  %x = at %a, 0 : f64
  %y = sample "y" "normal"() : f64
  %z = host reads_context "clock"() : f64
  return 1.0
})",
      R"(
func @f(%a: f64[]) -> f64 {
  %x = at %a, 0 : f64
  %y = sample "y" "normal"() : f64
  return 1.0
})");
}

TEST_CASE("operations that may fail are erased on request, and side effects are not") {
  laws::rewrites(
      drop<erasable::what_may_fail>, R"(
func @f(%a: f64[], %c: bool) -> f64[] {
  assert %c, "no"
  %x = at %a, 0 : f64
  %y = sample "y" "normal"() : f64
  %s = accumulate (%t: acc f64[] = %a) -> f64[] {
    %z = at %a, 1 : f64
    assert %c, "never"
    add_to %t, 0, 1.0
    yield
  }
  return %s
})",
      R"(
func @f(%a: f64[], %c: bool) -> f64[] {
  %y = sample "y" "normal"() : f64
  %s = accumulate (%t: acc f64[] = %a) -> f64[] {
    add_to %t, 0, 1.0
    yield
  }
  return %s
})");
}

TEST_CASE("everything unused is erased on request, except additions to accumulators whose sums are used") {
  laws::rewrites(
      drop<erasable::any>, R"(
func @f(%n: i64, %a: f64[], %c: bool) -> f64[] {
  assert %c, "no"
  %y = sample "y" "normal"() : f64
  %dead = accumulate (%d: acc f64[] = %a) -> f64[] {
    add_to %d, 0, 1.0
    yield
  }
  %s = accumulate (%t: acc f64[] = %a) -> f64[] {
    map %n (%i: i64) {
      if %c {
        %i.x = accumulate (%u: acc f64[] = %a) -> f64[] {
          %z = sample "z" "normal"() : f64
          add_to %t, %i, %z
          add_to %u, 0, 2.0
          yield
        }
        yield
      } else {
        assert %c, "never"
        yield
      }
      yield
    }
    if %c {
      %w = sample "w" "normal"() : f64
      yield
    } else {
      yield
    }
    yield
  }
  return %s
})",
      R"(
func @f(%n: i64, %a: f64[], %c: bool) -> f64[] {
  %s = accumulate (%t: acc f64[] = %a) -> f64[] {
    map %n (%i: i64) {
      if %c {
        %i.x = accumulate (%u: acc f64[] = %a) -> f64[] {
          %z = sample "z" "normal"() : f64
          add_to %t, %i, %z
          add_to %u, 0, 2.0
          yield
        }
        yield
      } else {
        yield
      }
      yield
    }
    yield
  }
  return %s
})");
}

TEST_CASE("what is erased on request changes nothing else of runs that do not fail, on random programs") {
  std::uint64_t erased[2] = {0, 0};
  for (std::uint64_t seed = 0; seed < laws::seeds(1000); ++seed)
    for (erasable const which : {erasable::what_may_fail, erasable::any}) {
      random_program::options options = random_program::any_options(seed);
      if (which == erasable::any) options.effects = false; // on which calls of the host depend
      auto const p = random_program::make(seed, options);
      auto const in = laws::arguments(seed);
      auto const before = reference::run(p, in, 20'000);
      if (!before || before->failed != reference::failure::none) continue;
      auto rest = p;
      dce(rest);
      erased[which == erasable::any] += overdub::pass::drop_dead_code(rest, rest.entry, which);
      INFO("random program " << seed << '\n' << print(p) << "\nbecomes\n" << print(rest));
      REQUIRE(overdub::ir::faults_of(rest).empty());
      auto const after = reference::run(rest, in, 20'000);
      REQUIRE(after);
      REQUIRE(after->results == before->results);
      if (which == erasable::what_may_fail) REQUIRE(*after == *before);
    }
  CHECK(erased[0] > 10);
  CHECK(erased[1] > 10);
}

TEST_CASE("unused results of branches, maps and loops are removed, with their operands") {
  laws::rewrites(
      dce, R"(
func @f(%n: i64, %c: bool) -> (f64, f64[]) {
  %a, %b = if %c -> (f64, f64) {
    %s = sin 1.0 : f64
    yield %s, 2.0
  } else {
    yield 3.0, 4.0
  }
  %p, %q = map %n (%i: i64) -> (f64, f64) {
    %x = convert %i : f64
    %y = sin %x : f64
    yield %x, %y
  }
  return %b, %p
})",
      R"(
func @f(%n: i64, %c: bool) -> (f64, f64[]) {
  %b = if %c -> f64 {
    yield 2.0
  } else {
    yield 4.0
  }
  %p = map %n (%i: i64) -> f64 {
    %x = convert %i : f64
    yield %x
  }
  return %b, %p
})");
}

TEST_CASE("loop-carried values that only compute themselves are erased, and others are not") {
  laws::rewrites(
      dce, R"(
func @f(%n: i64) -> f64 {
  %a, %b, %c = loop %n (%i: i64, %x: f64 = 0.0, %y: f64 = 1.0, %z: f64 = 2.0) -> (f64, f64, f64) {
    %p = add %x, %z : f64
    %q = mul %y, 2.0 : f64
    %r = sin %z : f64
    yield %p, %q, %r
  }
  return %a
})",
      R"(
func @f(%n: i64) -> f64 {
  %a, %c = loop %n (%i: i64, %x: f64 = 0.0, %z: f64 = 2.0) -> (f64, f64) {
    %p = add %x, %z : f64
    %r = sin %z : f64
    yield %p, %r
  }
  return %a
})");
}

TEST_CASE(
    "unreachable functions are removed, also those with dead callers or with themselves as only caller") {
  auto p = overdub::ir::parse(R"(
entry @f
func @f() -> f64 {
  %unused = call @g() : f64
  return 1.0
}
func @g() -> f64 { return 2.0 }
func @h() -> f64 { %x = call @h() : f64
  return %x }
)");
  dce(p);
  CHECK(p.find("f").has_value());
  CHECK_FALSE(p.find("g").has_value());
  CHECK_FALSE(p.find("h").has_value());
}
