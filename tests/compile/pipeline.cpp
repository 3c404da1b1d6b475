// A user's pipeline instead of the default one: the passes that run, the key of its artifacts, and its errors.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/compile/library_call.hpp>
#include <overdub/compile/transformed.hpp>
#include <overdub/incremental.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/reverse.hpp>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
namespace ir = overdub::ir;
using od::pass::pipeline_step;

inline constexpr auto polynomial = od::fn<"polynomial">([](auto x) { return x * x + 0.0 * x + 2.0 * 3.0; });
inline constexpr auto nested = od::fn<"nested">([](auto x) { return polynomial(x) + polynomial(x); });

std::vector<std::string> names_of(od::artifact const& a) {
  std::vector<std::string> all;
  for (od::compilation_step const& s : a.steps()) all.push_back(s.name);
  return all;
}
// Replaces each addition by a subtraction.
void subtract(ir::program& p) {
  for (std::uint32_t f = 0; f < p.functions.size(); ++f)
    for (ir::cursor c(p, ir::function_id{f}); c.next();)
      if (c.code() == ir::op::add) c.replace(c.add(ir::op::sub, c.operand(0), c.operand(1)));
}

class named_executor : public od::executor {
public:
  explicit named_executor(std::string name) : name_(std::move(name)) {}
  std::string const& name() const override { return name_; }
  std::shared_ptr<od::execute::code const> prepare(ir::program const& p) const override {
    return od::executable(p).code();
  }

private:
  std::string name_;
};

} // namespace

TEST_CASE("a user's pipeline replaces the default one, and runs its passes alone, in order") {
  od::compilation_cache cache;
  auto const made = [&](std::vector<pipeline_step> passes) {
    return od::compile(
        od::compose(), nested, od::signature<double>, {.cache = &cache, .passes = std::move(passes)});
  };
  using names = std::vector<std::string>;
  CHECK(names_of(made({"cse", "dce"}).made()) == names{"stage", "cse", "dce", "lower"});
  CHECK(names_of(made({}).made()) == names{"stage", "lower"});
  auto const own = made({"inline_calls", {"subtract", subtract}, "dce"});
  CHECK(names_of(own.made()) == names{"stage", "inline_calls", "subtract", "dce", "lower"});
  CHECK(made({})(3.0) == 30.0);
  CHECK(made({"cse", "dce"})(3.0) == 30.0);
  CHECK(own(3.0) == ((9.0 - 0.0) - 6.0) - ((9.0 - 0.0) - 6.0));
  auto const appended = made({"default_pipeline", {"nothing", [](ir::program&) {}}});
  CHECK(appended(3.0) == 30.0);
  CHECK(
      appended.made().program() ==
      od::compile(od::compose(), nested, od::signature<double>).made().program());
  CHECK_THAT(explain(own), Catch::Matchers::Contains("after subtract"));
}

TEST_CASE("the key of an artifact has the names, order, functions and fingerprints of its pipeline") {
  od::compilation_cache cache;
  auto const made = [&](std::vector<pipeline_step> passes) {
    return &od::compile(
                od::compose(), polynomial, od::signature<double>,
                {.cache = &cache, .passes = std::move(passes)})
                .made();
  };
  auto const nothing = [](ir::program&) {};
  auto const other = [](ir::program& p) { static_cast<void>(p); };
  int number = 1;
  auto const capturing = [number](ir::program&) { static_cast<void>(number); };
  std::vector<od::artifact const*> const all{
      made({"default_pipeline"}),
      made({}),
      made({"cse"}),
      made({"cse", "dce"}),
      made({"dce", "cse"}),
      made({{"cse", nothing}}),
      made({{"cse", other}}),
      made({{"cse", subtract}}),
      made({{"cse", capturing, "1"}}),
      made({{"cse", capturing, "2"}})};
  CHECK(cache.statistics().compilations == all.size());
  CHECK(made({"default_pipeline"}) == all[0]);
  CHECK(made({}) == all[1]);
  CHECK(made({"dce", "cse"}) == all[4]);
  CHECK(made({{"cse", nothing}}) == all[5]);
  CHECK(made({{"cse", subtract}}) == all[7]);
  CHECK(made({{"cse", capturing, "2"}}) == all[9]);
  CHECK(cache.statistics().compilations == all.size());
}

TEST_CASE("an executor whose name ends like the key of other options has a key of its own") {
  pipeline_step const step("own", subtract, " exact"); // its key ends like that of options without steps
  od::compile_options const with_step{.executor = std::make_shared<named_executor>("a"), .passes = {step}};
  std::string end = " exact by 1" + step.key();
  REQUIRE(end.ends_with(" exact"));
  end.resize(end.size() - 6);
  od::compile_options const without_step{.executor = std::make_shared<named_executor>("a" + end)};
  CHECK(with_step.key() != without_step.key());
}

TEST_CASE("the result of a pipeline is verified, and invalid results are rejected with a diagnostic") {
  auto const with = [](std::vector<pipeline_step> passes) {
    (void)od::compile(od::compose(), polynomial, od::signature<double>, {.passes = std::move(passes)});
  };
  CHECK_THROWS_WITH(
      with({"csee"}), "overdub: there is no pass called csee; give default_pipeline, the name of a pass of "
                      "overdub/pass/pipeline.hpp, or a name and a function");
  auto const breaks = [](ir::program& p) {
    ir::cursor c(p, p.entry);
    while (c.next())
      if (c.code() == ir::op::yield) break;
    c.set_operand(c.node(), 0, c.literal(true));
  };
  CHECK_THROWS_WITH(
      with({"dce", {"breaks", breaks}}),
      Catch::Matchers::StartsWith(
          "overdub: the pass breaks made a program of polynomial(double) that is not valid: "));
  auto const replaces = [](ir::program& p) {
    p = ir::parse("entry @polynomial func @polynomial(%x: i64) -> f64 { return 1.0 }");
  };
  CHECK_THROWS_WITH(
      with({{"replaces", replaces}}),
      "overdub: the pass replaces changed the types that the program of polynomial is called by; its entry "
      "takes and returns what the function does");
  auto const forgets = [](ir::program& p) { p.entry = ir::nothing; };
  CHECK_THROWS_AS(with({{"forgets", forgets}}), od::pass_error);
  CHECK_THROWS_AS(
      od::incremental(od::compile_options{.passes = {"cse"}}, polynomial, 1.0), od::incremental_error);
}

TEST_CASE("an error of a pass that throws names the function and its argument types") {
  auto const with = [](auto throwing) {
    (void)od::compile(
        od::compose(), polynomial, od::signature<double>, {.passes = {"cse", {"throws", throwing}}});
  };
  auto const throws_text = [](ir::program&) { throw std::runtime_error("not this one"); };
  try {
    with(throws_text);
    FAIL("nothing was thrown");
  } catch (od::pass_error const& e) {
    CHECK(
        e.what() ==
        std::string("overdub: the pass throws threw, as polynomial(double) was compiled: not this one"));
    CHECK_THROWS_WITH(std::rethrow_if_nested(e), "not this one");
  }
  CHECK_THROWS_WITH(
      with([](ir::program&) { throw 1; }), "overdub: the pass throws threw, as polynomial(double) was "
                                           "compiled: an exception that is no std::exception");
  CHECK_THROWS_WITH(
      with([](ir::program&) { throw od::refusal(od::message("overdub: refused")); }), "overdub: refused");
}

TEST_CASE("the pipeline applies to functions of libraries, gradients and calls in contexts") {
  od::compile_options const o{.passes = {{"subtract", subtract}, "dce"}};
  auto const slope = od::compile(od::gradient(polynomial), od::signature<double>, o);
  CHECK(names_of(slope.made()).at(1) == "subtract");
  od::library all;
  all.define("func @sum(%x: f64, %y: f64) -> f64 { %z = add %x, %y : f64 return %z }");
  auto const sum = all.function<double(double, double)>("sum");
  CHECK(od::compile(od::compose(), sum, od::signature<double, double>, o)(5.0, 2.0) == 3.0);
  CHECK(od::compile(od::compose(), sum, od::signature<double, double>)(5.0, 2.0) == 7.0);
}
