// One estimate of costs: passes, reverse mode and the work counter of incremental computation agree on each operation with regions.
#include "catch.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/implementation/incremental/work_counter.hpp>
#include <overdub/implementation/pass/cost.hpp>
#include <overdub/implementation/reverse/callee_properties.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/verify.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace {

namespace od = overdub;
namespace ir = od::ir;
using ir::op;

struct example {
  op code;
  char const* text; // `#` is in each of its regions
};

constexpr example examples[] = {
    {op::if_, "if %c { # yield } else { # yield }"},
    {op::loop, "%r, %q = loop %n (%i: i64, %s: f64 = %x) -> f64 stack f64 { # yield %s, %s }"},
    {op::while_, "%r = while (%s: f64 = %x) -> f64 { # yield %c } do (%t: f64) { # yield %t }"},
    {op::map, "%r = map %n (%i: i64) -> f64 { # yield %x }"},
    {op::reduce, "%r = reduce %a from 0.0 (%l: f64, %m: f64) -> f64 { # yield %l }"},
    {op::accumulate, "%r = accumulate (%s: acc f64[] = %a) -> f64[] { # yield }"},
    {op::protect, "protect { # yield } failed { # yield }"},
};

// The text of an example in a `protect`, whose regions the work counter estimates, with more code in region `region`.
std::string text_of(example const& e, std::size_t region, std::string const& more) {
  std::string inner;
  std::size_t next = 0;
  for (char const* c = e.text; *c != 0; ++c) {
    if (*c != '#')
      inner += *c;
    else if (next++ == region)
      inner += more;
  }
  return "entry @f\nfunc @f(%n: i64, %c: bool, %x: f64, %a: f64[]) -> f64 {\n  protect { " + inner +
         " yield } failed { yield }\n  return %x\n}\n";
}

double by_passes(std::string const& text) { return od::pass::cost(ir::parse(text)); }
double by_reverse_mode(std::string const& text) {
  ir::program const p = ir::parse(text);
  od::adjoint::callee_properties const known(p);
  return known.costs().of(p[p.entry], ir::function::body);
}
double by_work_counter(std::string const& text) {
  ir::program const counts = od::increments::work_counter_of(ir::parse(text));
  ir::verify(counts);
  std::vector<od::datum> const inputs{
      od::datum(od::i64{3}), od::datum(true), od::datum(0.5), od::datum::of({0}, od::array<double>())};
  return static_cast<double>(od::executable(counts).run(inputs)[0].as<od::i64>());
}

} // namespace

TEST_CASE("every operation with regions has an example") {
  for (std::size_t i = 0; i < ir::op_count; ++i) {
    auto const code = static_cast<op>(i);
    if (ir::row_of(code).regions == 0) continue;
    INFO(ir::name_of(code));
    bool has_example = false;
    for (example const& e : examples) has_example = has_example || e.code == code;
    CHECK(has_example);
  }
}

TEST_CASE("passes, reverse mode and the work counter agree on the cost of each operation with regions") {
  for (example const& e : examples) {
    INFO(ir::name_of(e.code));
    double const exp = ir::row_of(op::exp).cost, times = ir::repeats_regions(e.code) ? 10 : 1;
    std::size_t const regions = std::string(e.text).find('#') == std::string(e.text).rfind('#') ? 1 : 2;
    for (std::size_t k = 0; k < regions; ++k) {
      INFO("region " << k);
      std::string const without = text_of(e, k, ""), with = text_of(e, k, "%more = exp %x : f64");
      for (auto const& cost : {by_passes, by_reverse_mode, by_work_counter})
        CHECK(cost(with) - cost(without) == exp * times);
      CHECK(by_reverse_mode(with) == by_passes(with));
      CHECK(by_work_counter(with) == by_passes(with));
    }
  }
}

TEST_CASE("the costs of functions that call each other do not depend on their order") {
  auto const calls = [](std::string const& name, std::string const& other) {
    return "func @" + name + "(%x: f64) -> f64 {\n  %y = exp %x : f64\n  %z = call @" + other +
           "(%y) : f64\n  return %z\n}\n";
  };
  for (std::string const& text : {calls("f", "g") + calls("g", "f"), calls("g", "f") + calls("f", "g")}) {
    ir::program const p = ir::parse(text);
    od::pass::costs const known(p);
    CHECK(known.of(*p.find("f")) == known.of(*p.find("g")));
  }
}

TEST_CASE("the three agree on calls, also of recursive functions, and on divisions by a literal") {
  std::string const rest = R"(
func @g(%x: f64) -> f64 {
  %y = exp %x : f64
  return %y
}
func @h(%x: f64, %c: bool) -> f64 {
  %y = if %c -> f64 {
    %z = call @h(%x, %c) : f64
    yield %z
  } else {
    yield %x
  }
  return %y
}
)";
  for (char const* call : {"%r = call @g(%x) : f64", "%r = call @h(%x, %c) : f64", "%r = div %n, 3 : i64"}) {
    INFO(call);
    example const inside{op::protect, "protect { # yield } failed { yield }"};
    std::string const without = text_of(inside, 0, "") + rest, with = text_of(inside, 0, call) + rest;
    double const cost = by_passes(with) - by_passes(without);
    CHECK(cost > 0);
    CHECK(by_reverse_mode(with) - by_reverse_mode(without) == cost);
    CHECK(by_work_counter(with) - by_work_counter(without) == cost);
  }
}
