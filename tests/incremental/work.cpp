// incremental: an update that is more work than a plain run becomes a plain run. Work is counted; no time is measured.
#include "catch.hpp"
#include "contexts/executors.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/implementation/incremental/work_counter.hpp>
#include <overdub/incremental/incremental_program.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>

#include <bit>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace {

namespace od = overdub;
using od::datum;
using od::i64;

// The sum of squared deviations from a number, and the largest of them.
constexpr char const* deviations = R"(
entry @deviations
func @deviations(%x: f64[], %c: f64) -> (f64, f64) {
  %n = length %x : i64
  %s = map %n (%i: i64) -> f64 {
    %e = at %x, %i : f64
    %d = sub %e, %c : f64
    %q = mul %d, %d : f64
    yield %q
  }
  %t = reduce add %s from 0.0 : f64
  %m = reduce max %x from 0.0 : f64
  return %t, %m
})";

datum numbers(i64 n) {
  std::vector<double> x;
  for (i64 i = 0; i < n; ++i) x.push_back(static_cast<double>(i * 37 % 101) / 8);
  return datum::of({n}, od::array<double>::copy_of(x));
}
od::incremental_program
followed(char const* text, std::vector<datum> const& inputs, od::compile_options const& o = {}) {
  return {std::make_shared<od::update_program_cache>(od::ir::parse(text), o), inputs};
}
bool is_plain(od::incremental_program const& p) {
  return p.explain().find("\na plain run") != std::string::npos;
}
std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

// Sets the number and commits, `updates` times. Returns the first update that was a plain run, from 1.
int first_plain(od::incremental_program& f, int updates) {
  int first = 0;
  for (int k = 1; k <= updates; ++k) {
    f.set(1, datum(0.125 * k));
    f.propose();
    if (first == 0 && is_plain(f)) first = k;
    f.commit();
  }
  return first;
}
i64 work(char const* text, std::vector<datum> const& inputs) {
  od::ir::program const counts = od::increments::work_counter_of(od::ir::parse(text));
  od::ir::verify(counts);
  return od::executable(counts).run(inputs)[0].as<i64>();
}

} // namespace

TEST_CASE("the counted work grows with the work of the run") {
  i64 const one = work(deviations, {numbers(1000), datum(1.0)}),
            ten = work(deviations, {numbers(10'000), datum(1.0)});
  CHECK(one > 4000);
  CHECK(ten > 9 * one);
  CHECK(ten < 11 * one);
  constexpr char const* rows = R"(
entry @rows
func @rows(%start: i64[], %x: f64[], %is: bool) -> f64 {
  %n = length %start : i64
  %m = sub %n, 1 : i64
  %z = map %m (%i: i64) -> f64 {
    %from = at %start, %i : i64
    %next = add %i, 1 : i64
    %to = at %start, %next : i64
    %count = sub %to, %from : i64
    %r = map %count (%k: i64) -> f64 {
      %j = add %from, %k : i64
      %e = at %x, %j : f64
      yield %e
    }
    %t = reduce add %r from 0.0 : f64
    yield %t
  }
  %sum = reduce add %z from 0.0 : f64
  %y = if %is -> f64 {
    %last = loop %n (%l: i64, %s: f64 = 0.0) -> f64 {
      %h = mul %s, 0.5 : f64
      %a = add %h, 1.0 : f64
      yield %a
    }
    yield %last
  } else {
    yield 0.0
  }
  %all = add %sum, %y : f64
  return %all
})";
  auto const of = [](std::vector<i64> const& start) {
    return datum::of({static_cast<i64>(start.size())}, od::array<i64>::copy_of(start));
  };
  i64 const few = work(rows, {of({0, 10, 20, 30}), numbers(3000), datum(false)});
  i64 const many = work(rows, {of({0, 10, 20, 3000}), numbers(3000), datum(false)});
  CHECK(many > 50 * few); // rows of different lengths
  CHECK(work(rows, {of({0, 10, 20, 30}), numbers(3000), datum(true)}) > few);
}

TEST_CASE(
    "additions to an accumulator on which a trip count depends are counted, and checks are not repeated") {
  constexpr char const* histogram = R"(
entry @histogram
func @histogram(%start: i64[], %x: f64) -> f64 {
  %all = accumulate (%sum: acc i64[] = %start) -> i64[] {
    map 10 (%k: i64) {
      add_to %sum, 0, 100
      yield
    }
    yield
  }
  %n = at %all, 0 : i64
  %y = map %n (%i: i64) -> f64 {
    %e = exp %x : f64
    yield %e
  }
  %is = lt %x, 0.0 : bool
  assert %is, "never"
  %s = reduce add %y from 0.0 : f64
  return %s
})";
  i64 const zero[] = {0};
  CHECK(work(histogram, {datum::of({1}, od::array<i64>::copy_of(zero)), datum(0.5)}) > 1000 * 18);
}

TEST_CASE("a count makes no additions on which no trip count depends") {
  od::ir::program const counts = od::increments::work_counter_of(od::ir::parse(R"(
entry @histogram
func @histogram(%a: f64[], %i: i64[]) -> f64 {
  %n = length %i : i64
  %all = accumulate (%sum: acc f64[] = %a) -> f64[] {
    map %n (%k: i64) {
      %at = at %i, %k : i64
      add_to %sum, %at, 1.0
      yield
    }
    yield
  }
  %m = length %all : i64
  %y = map %m (%j: i64) -> f64 {
    %e = at %all, %j : f64
    %f = exp %e : f64
    yield %f
  }
  %s = reduce add %y from 0.0 : f64
  return %s
})"));
  CHECK(od::ir::print(counts).find("add_to") == std::string::npos);
}

TEST_CASE("the seventeenth update with more work than a run is a plain run, and explain reports it") {
  for (auto const& o : executors()) {
    od::incremental_program f = followed(deviations, {numbers(2000), datum(0.5)}, o);
    f.set_at(0, 5, bits(3.25)); // elements are saved from now on: updates of the number write all of them
    f.commit();
    CHECK(first_plain(f, 40) == 17);
    f.set(1, datum(0.75));
    f.propose();
    CHECK_THAT(
        f.explain(),
        Catch::Contains(" = map: recomputed in full, since a plain run is less work than an update") &&
            Catch::Contains("a plain run: the work of an update is "));
  }
}

TEST_CASE("rebuilding a reverse index counts as work if columns change between updates") {
  constexpr char const* product = R"(
entry @product
func @product(%w: f64[], %col: i64[], %val: f64[]) -> f64 {
  %n = length %col, %val : i64
  %rows = div %n, 4 : i64
  %z = map %rows (%i: i64) -> f64 {
    %from = mul %i, 4 : i64
    %p = map 4 (%k: i64) -> f64 {
      %j = add %from, %k : i64
      %c = at %col, %j : i64
      %a = at %val, %j : f64
      %b = at %w, %c : f64
      %m = mul %a, %b : f64
      yield %m
    }
    %t = reduce add %p from 0.0 : f64
    yield %t
  }
  %s = reduce add %z from 0.0 : f64
  return %s
})";
  std::vector<i64> columns;
  for (i64 k = 0; k < 8000; ++k) columns.push_back(k * 37 % 500);
  datum const col = datum::of({8000}, od::array<i64>::copy_of(columns));
  for (auto const& o : executors()) {
    auto const counted = [&](bool columns_change) {
      od::incremental_program f = followed(product, {numbers(500), col, numbers(8000)}, o);
      for (int k = 0; k < 40; ++k) {
        if (columns_change) {
          f.set_at(1, 7 * k, static_cast<std::uint64_t>(k));
          f.commit();
        }
        f.set_at(0, 11 * k, bits(0.125 * k));
        f.commit();
      }
      f.set_at(0, 3, bits(0.25));
      f.propose();
      std::string const text = f.explain(), before = "the work of an update is ";
      auto const at = text.find(before);
      REQUIRE(at != std::string::npos);
      return std::stol(text.substr(at + before.size()));
    };
    CHECK(counted(true) > 8000 * 32);
    CHECK(counted(false) < 8000);
  }
}

TEST_CASE("an update with less work than a run is never a plain run") {
  for (auto const& o : executors()) {
    od::incremental_program f = followed(deviations, {numbers(2000), datum(0.5)}, o);
    for (int k = 0; k < 60; ++k) {
      f.set_at(0, k * 7 % 2000, bits(0.375 * k));
      f.propose();
      CHECK_FALSE(is_plain(f));
      if (k == 20) CHECK_THAT(f.explain(), Catch::Contains("the update program: the work of an update is "));
      f.commit();
    }
  }
}

TEST_CASE("small functions are not counted") {
  od::incremental_program f = followed(deviations, {numbers(50), datum(0.5)});
  f.set_at(0, 5, bits(3.25));
  f.commit();
  CHECK(first_plain(f, 40) == 0);
  f.set(1, datum(0.75));
  f.propose();
  CHECK_THAT(f.explain(), !Catch::Contains("work"));
}

TEST_CASE("values are the same when plain runs start, are proposed, rolled back and end") {
  for (auto const& o : executors()) {
    std::vector<datum> now{numbers(2000), datum(0.5)};
    od::executable const again(od::ir::parse(deviations));
    od::incremental_program f = followed(deviations, now, o);
    std::vector<double> x(now[0].elements<double>().begin(), now[0].elements<double>().end());
    int plain = 0;
    for (int k = 0; k < 200; ++k) {
      bool const is_element = k == 0 || k % 53 == 52;
      if (is_element) {
        x[static_cast<std::size_t>(k)] = 0.3 * k + 0.1;
        f.set_at(0, k, bits(0.3 * k + 0.1));
      } else {
        f.set(1, datum(0.1 * k));
      }
      std::vector<datum> const next{
          datum::of({2000}, od::array<double>::copy_of(x)), is_element ? now[1] : datum(0.1 * k)};
      auto const wanted = again.run(next);
      f.propose();
      bool const was_plain = is_plain(f);
      plain += was_plain;
      double const sum = std::bit_cast<double>(f.proposed(0)), exact = wanted[0].as<double>();
      INFO("update " << k);
      CHECK(std::abs(sum - exact) <= 1e-12 * exact);
      if (was_plain) CHECK(sum == exact); // the value of a run, to the bit
      CHECK(f.proposed(1) == wanted[1].bits());
      double const before = f.result(0).as<double>();
      CHECK(std::abs(f.difference() - (sum - before)) <= 1e-9 * exact);
      if (k % 3 == 1 && !is_element) {
        f.rollback();
        CHECK(f.result(0).as<double>() == before);
        CHECK(f.input(1) == now[1]);
        continue;
      }
      f.commit();
      now = next;
      CHECK(f.value(0) == bits(sum));
      CHECK(f.input(0) == now[0]);
    }
    CHECK(plain > 30); // until elements are set too often
  }
}

TEST_CASE("if other change signatures need saved values, update programs run instead of plain runs, and save "
          "them") {
  od::incremental_program f = followed(deviations, {numbers(2000), datum(0.5)});
  int plain = 0;
  for (int k = 0; k < 400; ++k) {
    f.set(1, datum(0.125 * k));
    f.propose();
    plain += is_plain(f);
    f.commit();
    f.set_at(0, k, bits(0.25 * k));
    f.propose();
    CHECK_FALSE(is_plain(f));
    f.commit();
  }
  CHECK(plain == 0);
  f.set(1, datum(0.75));
  f.propose();
  CHECK_THAT(
      f.explain(),
      Catch::Contains(
          "the update program, since updates of other change signatures need the values that it saves"));
}

TEST_CASE("plain runs end when updates that need saved values start") {
  od::incremental_program f = followed(deviations, {numbers(2000), datum(0.5)});
  f.set_at(0, 5, bits(3.25));
  f.commit();
  CHECK(first_plain(f, 40) == 17);
  int plain = 0, last = 0;
  for (int k = 0; k < 200; ++k) {
    f.set(1, datum(0.375 * k));
    f.propose();
    plain += is_plain(f);
    if (is_plain(f)) last = k;
    f.commit();
    f.set_at(0, k, bits(0.25 * k));
    f.commit();
  }
  CHECK(plain > 0);
  CHECK(last < 40); // and they do not return at once
}

TEST_CASE("a copy continues as its source would, and so does the target of an assignment") {
  od::incremental_program f = followed(deviations, {numbers(2000), datum(0.5)}), other = f;
  f.set_at(0, 5, bits(3.25));
  f.commit();
  CHECK(first_plain(f, 20) == 17);
  od::incremental_program copy = f;
  CHECK(first_plain(copy, 5) == 1);
  for (int k = 0; k < 3; ++k) {
    other = k == 1 ? copy : f; // a plain run saves nothing
    other.set_at(0, 7 + k, bits(1.5));
    other.propose();
    double const sum = std::bit_cast<double>(other.proposed(0));
    other.commit();
    auto const wanted =
        od::executable(od::ir::parse(deviations)).run(std::vector{other.input(0), other.input(1)});
    CHECK(std::abs(sum - wanted[0].as<double>()) <= 1e-12 * sum);
    CHECK(other.value(0) == bits(sum));
  }
}

TEST_CASE("if the function throws in a plain run, inputs are unchanged and the changes stay pending") {
  constexpr char const* checked = R"(
entry @checked
func @checked(%x: f64[], %k: i64) -> f64 {
  %n = length %x : i64
  %y = map %n (%i: i64) -> f64 {
    %e = at %x, %i : f64
    %o = at %x, %k : f64
    %p = mul %e, %o : f64
    yield %p
  }
  %t = reduce add %y from 0.0 : f64
  return %t
})";
  od::incremental_program f = followed(checked, {numbers(2000), datum(i64{1})});
  f.set_at(0, 5, bits(3.25));
  f.commit();
  bool was_plain = false;
  for (int k = 1; k < 40; ++k) {
    f.set(1, datum(i64{k}));
    f.propose();
    was_plain = is_plain(f);
    f.commit();
  }
  CHECK(was_plain);
  double const before = f.result(0).as<double>();
  f.set(1, datum(i64{2000}));
  CHECK_THROWS_AS(f.propose(), od::index_error);
  CHECK(f.result(0).as<double>() == before);
  CHECK(f.input(1).as<i64>() == 39);
  CHECK(f.has_changes());
  f.rollback();
  f.set(1, datum(i64{38}));
  f.commit();
  auto const wanted = od::executable(od::ir::parse(checked)).run(std::vector{f.input(0), f.input(1)});
  CHECK(f.result(0) == wanted[0]);
}

TEST_CASE("a result that is a part of an input is the proposed part, in plain runs too") {
  constexpr char const* part = R"(
entry @part
func @part(%r: f64[][], %c: f64) -> (f64, f64[]) {
  %n = length %r : i64
  %s = map %n (%i: i64) -> f64 {
    %e = at %r, %i, 0 : f64
    %q = mul %e, %c : f64
    yield %q
  }
  %t = reduce add %s from 0.0 : f64
  %row = at %r, 1 : f64[]
  return %t, %row
})";
  std::vector<double> x(4000, 1.5);
  auto const rows = [&] { return datum::of({2000, 2}, od::array<double>::copy_of(x)); };
  od::incremental_program f = followed(part, {rows(), datum(0.5)});
  i64 const first[] = {7, 0}, path[] = {1, 1};
  f.set_at(0, first, bits(2.5));
  f.commit();
  x[14] = 2.5;
  bool was_plain = false;
  for (int k = 1; k < 40; ++k) {
    f.set(1, datum(0.25 * k));
    f.set_at(0, path, bits(k)); // a plain run writes to the row in place, and restores it
    x[3] = k;
    f.propose();
    was_plain = is_plain(f);
    f.commit();
    auto const wanted = od::executable(od::ir::parse(part)).run(std::vector{rows(), datum(0.25 * k)});
    CHECK(f.result(0) == wanted[0]);
    CHECK(f.result(1) == wanted[1]);
  }
  CHECK(was_plain);
}

TEST_CASE("work is counted again if inputs become much longer") {
  od::incremental_program f = followed(deviations, {numbers(50), datum(0.5)});
  f.set_at(0, 5, bits(3.25));
  f.commit();
  CHECK(first_plain(f, 40) == 0);
  f.set(0, numbers(5000));
  f.commit();
  CHECK(first_plain(f, 40) == 17);
}
