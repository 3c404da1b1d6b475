// Deep or long programs: each context returns a result or a diagnostic.
#include "catch.hpp"

#include <overdub/check.hpp>
#include <overdub/incremental.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/reverse/gradient_program.hpp>

#include <memory>
#include <string>
#include <vector>

namespace {

namespace od = overdub;

od::ir::program parsed(std::string const& text) {
  od::ir::program p = od::ir::parse(text);
  p.entry = *p.find("f");
  return p;
}
// @f calls @f0, which calls @f1, and so on; each adds 1.
od::ir::program chain_of_calls(int n) {
  std::string text = "func @f(%x: f64) -> f64 { %y = call @f0(%x) : f64 return %y }\n";
  for (int i = 0; i < n; ++i)
    text += "func @f" + std::to_string(i) + "(%x: f64) -> f64 { %y = call @f" + std::to_string(i + 1) +
            "(%x) : f64 return %y }\n";
  return parsed(text + "func @f" + std::to_string(n) + "(%x: f64) -> f64 { %y = sin %x : f64 return %y }\n");
}

} // namespace

TEST_CASE(
    "derivatives of calls nested a hundred deep succeed; 20,000 deep ones are rejected with a diagnostic") {
  od::gradient_request const wanted{.inputs = {true}, .results = {true}};
  od::ir::program few = chain_of_calls(100);
  od::add_gradient(few, few.entry, wanted);
  CHECK(od::ir::faults_of(few).empty());
  od::ir::program many = chain_of_calls(20'000);
  CHECK_THROWS_WITH(
      od::add_gradient(many, many.entry, wanted),
      Catch::Matchers::Contains("calls are nested too deep to be differentiated"));
}

TEST_CASE("function values with 20,000 nested captures are checked") {
  std::string text = "func @f(%x: f64) -> f64 {\n  %c0 = closure @g() : fn(f64) -> f64\n";
  for (int i = 1; i < 20'000; ++i)
    text += "  %c" + std::to_string(i) + " = closure @h(%c" + std::to_string(i - 1) + ") : fn(f64) -> f64\n";
  text += "  %y = apply %c19999(%x) : f64\n  return %y\n}\nfunc @g(%x: f64) -> f64 { return %x }\n"
          "func @h(%c: fn(f64) -> f64, %x: f64) -> f64 { %y = apply %c(%x) : f64 return %y }\n";
  CHECK_NOTHROW(od::check(parsed(text)));
}

TEST_CASE("a loop that updates an array in 40 consecutive branches is updated incrementally") {
  // Both sides of each branch have the shape of the array before it: 2^40 paths.
  std::string text = "func @f(%a: f64[]) -> f64[] {\n  %r = loop 3 (%i: i64, %s0: f64[] = %a) -> f64[] {\n"
                     "    %c = lt %i, 2 : bool\n";
  for (int i = 1; i <= 40; ++i) {
    std::string const k = std::to_string(i), last = std::to_string(i - 1);
    text += "    %s" + k + " = if %c -> f64[] { yield %s" + last + " } else { %u" + k + " = update %s" +
            last + ", 0, 1.5 : f64[] yield %u" + k + " }\n";
  }
  text += "    yield %s40\n  }\n  return %r\n}\n";
  auto const programs = std::make_shared<od::update_program_cache>(parsed(text), od::compile_options{});
  od::incremental_program f(programs, {od::datum(std::vector<double>{1, 2, 3})});
  f.set(0, od::datum(std::vector<double>{1, 7, 3}));
  f.propose();
  f.commit();
  CHECK(f.result(0) == od::datum(std::vector<double>{1.5, 7, 3}));
}
