// The recipes for operations, passes and analyses, which overlay.py performs, make a whole operation, pass and analysis. An element-wise
// operation needs a row of the table. A consumer without a case for a structural one refuses it by its name, or assumes any result.
#include "catch.hpp"

#include <overdub/check.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/incremental.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/single_runs.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/overdub.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse.hpp>
#include <overdub/stage/evaluate.hpp>
#include <overdub/stage/stage.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace {

namespace od = overdub;
using Catch::Matchers::Contains;

inline constexpr auto wave = od::fn<"wave">([](auto x) { return halved(x) * x; }); // x² / 2

// x / 2 if x <= 2, and else 3 x.
od::ir::program branching() {
  return od::ir::parse(R"(entry @f

func @f(%x: f64) -> f64 {
  %c = gt %x, 2.0 : bool
  %y = unless %c -> f64 {
    %a = halved %x : f64
    yield %a
  } else {
    %b = mul %x, 3.0 : f64
    yield %b
  }
  return %y
}
)");
}

od::ir::program copying() {
  return od::ir::parse(R"(
entry @f
func @f(%x: f64[]) -> f64 {
  %y = unknown_copy %x : f64[]
  %z = at %y, 0 : f64
  return %z
})");
}

} // namespace

TEST_CASE("an elementwise operation runs directly, in contexts, and in every executor of programs") {
  od::contexts::count counter;
  CHECK(od::run(counter, wave, 3.0) == 4.5);
  CHECK(counter.calls() > 0);
  CHECK(od::run(od::contexts::forward{}, wave, od::tag(3.0, 1.0)).metadata == 3.0);
  CHECK(od::gradient(wave)(3.0) == 3.0);

  od::ir::program const p = od::stage(wave, od::signature<double>);
  CHECK(od::ir::parse(od::ir::print(p)) == p);
  CHECK(od::executable(p).call<double>(3.0) == 4.5);
  CHECK(od::evaluate<double>(p, 3.0) == 4.5);

  auto u = od::incremental(wave, 3.0);
  u.set<0>(4.0);
  CHECK(u.propose() == 8.0);
  CHECK(od::check(wave, od::between(0.0, 1.0)).count(od::severity::certain) == 0);
}

TEST_CASE("maps with an elementwise operation are vectorised") {
  od::ir::program const map = od::ir::parse(R"(
func @f(%n: i64, %x: f64[]) -> f64[] {
  %y = map %n (%i: i64) -> f64 {
    %a = at %x, %i : f64
    %b = halved %a : f64
    yield %b
  }
  return %y
})");
  od::array<double> const numbers{2.0, 4.0};
  auto const halves =
      od::executable(map, od::ir::function_id{0}).call<od::array<double>>(od::i64{2}, numbers);
  CHECK(halves[1] == 2.0);
}

TEST_CASE("a structural operation is printed, parsed, verified and inferred") {
  od::ir::program const p = branching();
  CHECK(od::ir::print(p) == od::ir::print(od::ir::parse(od::ir::print(p))));
  CHECK(od::ir::parse(od::ir::print(p)) == p);
  CHECK_NOTHROW(od::ir::verify(p));
  CHECK_THROWS_WITH(
      od::ir::parse(R"(
func @f(%x: f64) -> f64 {
  %y = unless %x -> f64 {
    yield %x
  } else {
    yield %x
  }
  return %y
})"),
      Contains("unless: operand 1 is f64, and must be bool"));
  CHECK_THROWS_WITH(
      od::ir::parse(R"(
func @f(%c: bool, %x: f64) -> f64 {
  %y = unless %c -> f64 {
    yield %c
  } else {
    yield %x
  }
  return %y
})"),
      Contains("yields bool here, and must yield f64"));
}

TEST_CASE("the verifier checks the regions of a structural operation") {
  od::ir::program p = branching();
  od::ir::cursor c(p, p.entry, od::ir::function::body);
  for (od::ir::node_id const n : c->nodes_of(od::ir::function::body))
    if ((*c)[n].region_count == 2) c.set_operand(c->yield_of(c->region_at(n, 1)), 0, c.literal(true));
  CHECK_THROWS_WITH(od::ir::verify(p), Contains("unless): region 2 yields (bool), and must yield (f64)"));
}

TEST_CASE("a structural operation is evaluated and interpreted, also after passes and in maps") {
  od::ir::program const p = branching();
  od::ir::program optimised = p;
  od::pass::default_pipeline(optimised);
  for (od::ir::program const* const each : {&std::as_const(p), &std::as_const(optimised)})
    for (double const x : {1.0, 3.0}) {
      double const expected = x > 2 ? x * 3 : x / 2;
      CHECK(od::evaluate<double>(*each, x) == expected);
      CHECK(od::executable(*each).call<double>(x) == expected);
    }
  CHECK(od::ir::print(optimised).find("unless") != std::string::npos);

  od::ir::program const map = od::ir::parse(R"(
entry @f
func @f(%n: i64, %x: f64[]) -> f64[] {
  %y = map %n (%i: i64) -> f64 {
    %a = at %x, %i : f64
    %c = lt %a, 3.0 : bool
    %b = unless %c -> f64 {
      yield 0.0
    } else {
      yield %a
    }
    yield %b
  }
  return %y
})");
  od::array<double> const numbers{2.0, 4.0};
  CHECK(od::executable(map).call<od::array<double>>(od::i64{2}, numbers) == od::array<double>{2.0, 0.0});
}

TEST_CASE("contexts intercept the operations in the regions of a structural one") {
  od::ir::program const p = branching();
  od::contexts::count counter;
  CHECK(od::evaluate<double>(od::overdub(counter, p), 3.0) == 9.0);
  CHECK(counter.calls() > 0);
  double const derivative =
      od::run(
          od::contexts::forward{}, [&](auto x) { return od::evaluate<double>(p, x); }, od::tag(3.0, 1.0))
          .metadata;
  CHECK(derivative == 3.0);
}

TEST_CASE("consumers without a case refuse a structural operation by its name, or assume any result") {
  od::ir::program const unknown = copying();
  od::array<double> const one{1.0};
  CHECK(od::ir::parse(od::ir::print(unknown)) == unknown);
  CHECK_THROWS_WITH(od::executable(unknown), Contains("unknown_copy"));
  CHECK_THROWS_WITH(od::evaluate<double>(unknown, one), Contains("unknown_copy"));
  CHECK_THROWS_WITH(od::run(od::contexts::forward{}, unknown), Contains("unknown_copy"));
  od::ir::program const in_map = od::ir::parse(R"(
entry @f
func @f(%n: i64, %x: f64[][]) -> f64[] {
  %y = map %n (%i: i64) -> f64 {
    %row = at %x, %i : f64[]
    %copy = unknown_copy %row : f64[]
    %z = at %copy, 0 : f64
    yield %z
  }
  return %y
})");
  CHECK_THROWS_WITH(od::executable(in_map), Contains("unknown_copy"));
  CHECK(od::check(unknown).count(od::finding_kind::index) == 1);

  od::ir::program changed = unknown;
  CHECK_THROWS_WITH(od::differentiate_entry(changed, {true}, true), Contains("unknown_copy"));
  od::ir::program branches = branching();
  CHECK_THROWS_WITH(od::differentiate_entry(branches, {true}, true), Contains("unless"));
}

TEST_CASE("passes keep an operation that they do not know") {
  for (od::pass::named_pass const& pass : od::pass::passes) {
    INFO(pass.name);
    od::ir::program changed = copying();
    (void)pass.run(changed);
    CHECK(od::ir::print(changed).find("unknown_copy") != std::string::npos);
  }
}

TEST_CASE("a pass is in the table, and runs in the default pipeline") {
  od::ir::program p = od::stage(wave, od::signature<double>);
  od::ir::program const before = p;
  std::size_t const operations = od::pass::find_pass("count_operations")->run(p);
  CHECK(operations == od::pass::operation_count(p));
  CHECK(p == before);
  int runs = 0;
  od::pass::default_pipeline(
      p, [&](od::pass::pass_report const& r) { runs += r.name == "count_operations"; });
  CHECK(runs == 1);
}

TEST_CASE("an analysis answers from the columns of the table") {
  od::ir::program const loop = od::ir::parse(R"(
func @f(%n: i64, %x: f64) -> f64 {
  %y = halved %x : f64
  %s = loop %n (%i: i64, %a: f64 = %y) -> f64 {
    %b = halved %a : f64
    yield %b
  }
  return %s
})");
  od::ir::function const& f = loop.functions[0];
  od::ir::single_runs const once(f);
  int count = 0;
  od::ir::walk(f, f.body, [&](od::ir::node_id n) { count += once.has(n); });
  CHECK(count == 3); // halved, loop and return
  CHECK(od::executable(loop, od::ir::function_id{0}).call<double>(od::i64{2}, 8.0) == 1.0);
}
