// The growth law for functions of programs in contexts: the work of a call does not depend on the number of functions or
// programs, up to a hundred times as many.
#include "growth/check_each.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/memoize.hpp>
#include <overdub/contexts/profile.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/stage/evaluate.hpp>

#include <string>
#include <vector>

namespace {

namespace od = overdub;
namespace oc = overdub::contexts;
using growth::check_each;
using growth::work_of;
using od::i64;

// A function that calls n others.
od::ir::program calls_of(i64 n) {
  std::string text = "entry @main\n", body = "func @main(%0: f64) -> f64 {\n";
  for (i64 i = 0; i < n; ++i) {
    std::string const name = "@f" + std::to_string(100'000 + i);
    text += "func " + name + "(%0: f64) -> f64 {\n  %1 = mul %0, 0.5 : f64\n  return %1\n}\n";
    body += "  %" + std::to_string(i + 1) + " = call " + name + "(%" + std::to_string(i) + ") : f64\n";
  }
  return od::ir::parse(text + body + "  return %" + std::to_string(n) + "\n}\n");
}
double run_in(auto& context, od::ir::program const& p) {
  return od::run(
      context, [&](auto x) { return od::evaluate<double>(p, x); }, 2.0);
}

} // namespace

TEST_CASE("the work of a call in profile does not depend on the number of callees", "[functions]") {
  auto const profiling = [](i64 n) {
    od::ir::program const p = calls_of(n);
    oc::profile times;
    (void)run_in(times, p); // the later run adds no paths
    return work_of([&] { (void)run_in(times, p); });
  };
  check_each("a call in profile", profiling);
}

TEST_CASE("the work of an evaluation in memoize does not depend on the number of programs", "[functions]") {
  auto const remembering = [](i64 n) {
    std::vector<od::ir::program> programs;
    for (i64 i = 0; i < n; ++i)
      programs.push_back(od::ir::parse(
          "entry @main\nfunc @main(%0: f64) -> f64 {\n  %1 = mul %0, " + std::to_string(100'000 + i) +
          ".0 : f64\n  return %1\n}\n"));
    oc::memoize memo;
    for (auto const& p : programs) (void)run_in(memo, p);
    CHECK(memo.entries == static_cast<std::size_t>(n));
    return work_of([&] {
      for (auto const& p : programs) (void)run_in(memo, p);
    });
  };
  check_each("an evaluation in memoize", remembering);
}

TEST_CASE(
    "the work of rewriting a function in a context does not depend on the number of functions",
    "[functions]") {
  auto const rewriting = [](i64 n) {
    od::ir::program const p = calls_of(n);
    oc::count_each calls;
    return work_of([&] { (void)od::overdub(calls, p); });
  };
  check_each("a function in a program that is rewritten", rewriting, 1.2);
}
