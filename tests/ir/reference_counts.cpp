// Reference counting: who owns, transfers, borrows and releases references.
#include "catch.hpp"
#include "random_text.hpp"
#include "reference_simulation.hpp"

#include <overdub/implementation/ir/reference_counts.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/regions.hpp>

#include <cstdint>
#include <string>

namespace {

using namespace overdub::ir;

// The counts of the first function, with borrowed parameters and updates in place.
std::string counts_of(std::string const& text) {
  program const p = parse(text);
  call_components const calls(p);
  parameter_ownership const owners(p, calls);
  function_id const id{0};
  use_order const order(p[id]);
  in_place_arrays const in_place(p[id], order);
  return text_of(reference_counts(p[id], order, {owners, id, &in_place}), p, p[id]);
}

} // namespace

TEST_CASE("a parameter that is only read is borrowed") {
  CHECK(counts_of(R"(func @f(%x: f64[]) -> i64 {
  %n = length %x : i64
  return %n
})") == "entry: borrows %x\n");
}

TEST_CASE("an array is reused in place at its last use, and retained before") {
  CHECK(
      counts_of(R"(func @f(%x: f64[]) -> (f64[], f64[]) {
  %y = update %x, 0, 1.0 : f64[]
  %z = update %y, 1, 2.0 : f64[]
  %w = update %y, 2, 3.0 : f64[]
  return %z, %w
})") == "%y = update: transfers %x\n"
        "%z = update: retains %y\n"
        "%w = update: transfers unique %y\n"
        "yield: transfers unique %z, transfers unique %w\n");
}

TEST_CASE("an array that a branch of an iteration updates is in place in both branches") {
  CHECK(
      counts_of(R"(func @f(%x: f64[], %c: bool) -> f64[] {
  %r = loop 3 (%i: i64, %a: f64[] = %x) -> f64[] {
    %b = if %c -> f64[] {
      %d = update %a, %i, 1.0 : f64[]
      yield %d
    } else {
      yield %a
    }
    yield %b
  }
  return %r
})") == "%r = loop: transfers %x\n"
        "  %b = if: counts nothing\n"
        "    %d = update: transfers unique %a\n"
        "    yield: transfers unique %d\n"
        "    yield: transfers unique %a\n"
        "  yield: transfers unique %b\n"
        "yield: transfers unique %r\n");
}

TEST_CASE("what is read last, or not at all, is released after the operation") {
  CHECK(
      counts_of(R"(func @f(%n: i64) -> f64 {
  %unused = iota %n : i64[]
  %x = fill %n, 1.0 : f64[]
  %s = reduce add %x from 0.0 : f64
  return %s
})") == "%unused = iota: releases %unused\n"
        "%s = reduce: releases %x\n");
}

TEST_CASE("a part is borrowed while its array is used, and receives the reference of the array else") {
  CHECK(
      counts_of(R"(func @f(%n: i64) -> (f64, f64[]) {
  %r = fill %n, 1.0 : f64[]
  %m = fill %n, %r : f64[][]
  %a = at %m, 0 : f64[]
  %x = at %a, 0 : f64
  %b = at %m, 1 : f64[]
  %y = update %b, 0, %x : f64[]
  return %x, %y
})") == "%m = fill: releases %r\n"
        "%a = at: borrows %m\n"
        "%b = at: transfers unique %m\n"
        "%y = update: transfers unique %b\n"
        "yield: transfers unique %y\n");
}

TEST_CASE("a value that is yielded twice is retained once, and is not unique") {
  CHECK(counts_of(R"(func @f(%n: i64) -> (f64[], f64[]) {
  %x = fill %n, 1.0 : f64[]
  return %x, %x
})") == "yield: transfers %x, retains %x\n");
}

TEST_CASE("each branch releases what only the other one uses") {
  CHECK(
      counts_of(R"(func @f(%c: bool, %n: i64) -> f64[] {
  %x = fill %n, 1.0 : f64[]
  %y = fill %n, 2.0 : f64[]
  %z = if %c -> f64[] { yield %x } else {
    %w = update %y, 0, 3.0 : f64[]
    yield %w
  }
  return %z
})") == "%z = if: counts nothing\n"
        "  entry: releases %y\n"
        "  yield: transfers unique %x\n"
        "  entry: releases %x\n"
        "  %w = update: transfers unique %y\n"
        "  yield: transfers unique %w\n"
        "yield: transfers unique %z\n");
}

TEST_CASE("a loop consumes initial values, retains those that it reads too, and updates in place") {
  CHECK(
      counts_of(R"(func @f(%n: i64) -> (f64[], f64[]) {
  %x = fill %n, 1.0 : f64[]
  %y = fill %n, 2.0 : f64[]
  %a, %b = loop %n (%i: i64, %u: f64[] = %x, %v: f64[] = %y) -> (f64[], f64[]) {
    %e = at %y, %i : f64
    %w = update %u, %i, %e : f64[]
    %new = fill %n, %e : f64[]
    yield %w, %new
  }
  return %a, %b
})") == "%a, %b = loop: transfers unique %x, retains %y, releases %y\n"
        "  entry: releases %v\n"
        "  %w = update: transfers unique %u\n"
        "  yield: transfers unique %w, transfers unique %new\n"
        "yield: transfers unique %a, transfers %b\n");
}

TEST_CASE("the condition of a while reads what the body consumes") {
  CHECK(
      counts_of(R"(func @f(%n: i64) -> f64[] {
  %x = fill %n, 1.0 : f64[]
  %a = while (%u: f64[] = %x) -> f64[] {
    %e = at %u, 0 : f64
    %c = lt %e, 9.0 : bool
    yield %c
  } do (%v: f64[]) {
    %w = update %v, 0, 10.0 : f64[]
    yield %w
  }
  return %a
})") == "%a = while: transfers unique %x\n"
        "  %w = update: transfers %v\n"
        "  yield: transfers unique %w\n"
        "yield: transfers %a\n");
}

TEST_CASE("a map copies the rows that it yields") {
  CHECK(
      counts_of(R"(func @f(%n: i64) -> f64[][] {
  %x = fill %n, 1.0 : f64[]
  %m = map %n (%i: i64) -> f64[] {
    %y = fill %n, 2.0 : f64[]
    yield %y
  }
  %k = map %n (%j: i64) -> f64[] { yield %x }
  %z = concat %m, %k : f64[][]
  return %z
})") == "%m = map: counts nothing\n"
        "  yield: releases %y\n"
        "%k = map: releases %x\n"
        "%z = concat: releases %m, releases %k\n"
        "yield: transfers unique %z\n");
}

TEST_CASE("a call transfers what the callee owns, unless it reads the value too") {
  CHECK(
      counts_of(R"(func @f(%n: i64) -> (f64[], f64[]) {
  %x = fill %n, 1.0 : f64[]
  %y = call @g(%x, %x) : f64[]
  %z = fill %n, 1.0 : f64[]
  %w = call @g(%z, %y) : f64[]
  return %w, %y
}
func @g(%owned: f64[], %read: f64[]) -> f64[] {
  %e = at %read, 0 : f64
  %u = update %owned, 0, %e : f64[]
  return %u
})") == "%y = call: retains %x, releases %x\n"
        "%w = call: transfers unique %z\n"
        "yield: transfers %w, transfers %y\n");
}

TEST_CASE("accumulators are unique, and their region uses captured values last") {
  CHECK(
      counts_of(R"(func @f(%x: f64[], %n: i64) -> (f64[], f64) {
  %y = fill %n, 1.0 : f64[]
  %s, %r = accumulate (%acc: acc f64[] = %x) -> (f64[], f64) {
    %e = at %y, 0 : f64
    add_to %acc, 0, %e
    yield %e
  }
  return %s, %r
})") == "%s, %r = accumulate: transfers %x\n"
        "  %e = at: releases %y\n"
        "yield: transfers unique %s\n");
}

TEST_CASE("in lanes, a uniform array is copied where it becomes one that varies, and divergent branches "
          "release nothing") {
  program const p = parse(R"(func @f(%c: bool, %n: i64) -> f64[] {
  %x = fill %n, 1.0 : f64[]
  %y = fill %n, 1.0 : f64[]
  %z = if %c -> f64[] { yield %x } else { yield %y }
  return %z
})");
  function const& f = p[function_id{0}];
  use_order const order(f);
  parameter_ownership const all;
  counting_rules rules{all, function_id{0}};
  rules.varies = [&](value_id v) { return f.is_result(v) && f[f.node_of(v)].code == op::if_; };
  rules.is_in_lanes = [&](node_id n) { return f[n].code == op::if_; };
  CHECK(
      text_of(reference_counts(f, order, rules), p, f) == "%z = if: releases %x, releases %y\n"
                                                          "yield: transfers %z\n");
}

TEST_CASE("in random programs, each reference is released or transferred once on each path, and none is used "
          "later") {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    program const p = random_text(seed).make();
    call_components const calls(p);
    parameter_ownership const inferred(p, calls), all;
    for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
      function_id const id{i};
      use_order const order(p[id]);
      in_place_arrays const in_place(p[id], order);
      counting_rules const borrowing{inferred, id, &in_place}, owning{all, id};
      for (counting_rules const& rules : {borrowing, owning}) {
        reference_counts const counts(p[id], order, rules);
        for (std::uint64_t path = 0; path < 3; ++path) {
          std::string const fault = reference_simulation(p[id], counts, rules, 3 * seed + path).run();
          INFO("seed " << seed << ": " << fault << "\n" << print(p) << text_of(counts, p, p[id]));
          REQUIRE(fault.empty());
        }
      }
    }
  }
}
