// LLVM modules in callbacks, cache keys of code that callbacks changed, and rejected cases.
#include "cache_folder.hpp"
#include "catch.hpp"
#include "execute/texts.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/jit/executor.hpp>

#include <atomic>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using namespace overdub;

inline constexpr auto tripled = fn<"tripled">([](auto x) { return x * 3.0; });

ir::program sum_of_three() {
  return texts::program(
      "func @f(%x: f64) -> f64 { %a = add %x, 1.0 : f64 %b = add %a, 2.0 : f64 return %b }");
}
std::size_t instructions_of(llvm::Module const& m) {
  std::size_t count = 0;
  for (llvm::Function const& f : m) count += f.getInstructionCount();
  return count;
}
double run(jit::options const& o) { return jit::compile(sum_of_three(), {}, o).call<double>(1.0); }

} // namespace

TEST_CASE(
    "callbacks receive a program's module before and after optimisation, once each, and may change it") {
  std::size_t before = 0, after = 0, calls = 0;
  jit::options const looking{
      .before_optimisation = {.run = [&](llvm::Module& m) { before = instructions_of(m), ++calls; }},
      .after_optimisation = {.run = [&](llvm::Module& m) { after = instructions_of(m), ++calls; }}};
  CHECK(run(looking) == 4.0);
  CHECK(calls == 2);
  CHECK(before > 0);
  CHECK(after > 0);
  CHECK(after < before);
  // Replaces each addition of doubles by a subtraction: the module runs as the callback leaves it.
  auto const subtract = [](llvm::Module& m) {
    for (llvm::Function& f : m)
      for (llvm::Instruction& each : llvm::instructions(f))
        if (each.getOpcode() == llvm::Instruction::FAdd) {
          auto* const made = llvm::BinaryOperator::CreateFSub(each.getOperand(0), each.getOperand(1));
          made->insertBefore(&each);
          each.replaceAllUsesWith(made);
          each.setOperand(0, llvm::UndefValue::get(each.getType()));
        }
  };
  CHECK(run({.before_optimisation = {"subtract 1", subtract}}) == -2.0);
  CHECK(run({.after_optimisation = {"subtract 1", subtract}}) == -2.0);
  CHECK(run({.optimisation = 0, .after_optimisation = {"subtract 1", subtract}}) == -2.0);
}

TEST_CASE("names of callbacks are in the keys of code on disk, and code of unnamed ones is not stored") {
  cache_folder const folder;
  auto const cache = folder.open();
  int calls = 0;
  auto const look = [&](llvm::Module&) { ++calls; };
  auto const with = [&](jit::module_callback const& before, jit::module_callback const& after) {
    CHECK(run({.cache = cache, .before_optimisation = before, .after_optimisation = after}) == 4.0);
  };
  with({}, {});
  with({"look 1", look}, {});
  with({"look 2", look}, {});
  with({}, {"look 1", look});
  CHECK(calls == 3);
  CHECK(cache->statistics().stores == 4);
  with({"look 1", look}, {});
  with({}, {"look 1", look});
  CHECK(calls == 3); // the code was cached
  CHECK(cache->statistics().hits == 2);
  with({"", look}, {});
  with({}, {"", look});
  with({}, {"", look});
  CHECK(calls == 6);
  CHECK(cache->statistics().stores == 4);
  CHECK(cache->statistics().hits == 2);
}

TEST_CASE("compiled functions are cached by the names of their executor's callbacks") {
  compilation_cache cache;
  int calls = 0;
  auto const look = [&](llvm::Module&) { ++calls; };
  auto const made = [&](std::shared_ptr<executor const> const& by) {
    return &compile(
                compose(), tripled, signature<double>,
                {.executor = by, .tiers = tiers::compile_now, .cache = &cache})
                .made();
  };
  auto const named = [&](char const* name) { return jit::compiled({.after_optimisation = {name, look}}); };
  auto const* const first = made(named("look 1"));
  CHECK(made(named("look 1")) == first);
  CHECK(calls == 1);
  CHECK(made(named("look 2")) != first);
  CHECK(made(jit::compiled()) != first);
  CHECK(calls == 2);
  auto const unnamed = named(""), another = named("");
  auto const* const own = made(unnamed);
  CHECK(made(unnamed) == own);
  CHECK(made(another) != own);
  CHECK(calls == 4);
}

TEST_CASE("invalid modules of callbacks are rejected, and their exceptions propagate") {
  auto const breaks = [](llvm::Module& m) {
    for (llvm::Function& f : m)
      if (!f.isDeclaration()) return f.front().getTerminator()->eraseFromParent(), void();
  };
  CHECK_THROWS_WITH(
      run({.before_optimisation = {"breaks", breaks}}),
      Catch::Matchers::StartsWith(
          "overdub: the callback breaks before optimisation left a module that LLVM refuses: "));
  CHECK_THROWS_WITH(
      run({.after_optimisation = {"", breaks}}),
      Catch::Matchers::StartsWith(
          "overdub: the callback without a name after optimisation left a module that LLVM refuses: "));
  auto const removes = [](llvm::Module& m) { m.getFunction("overdub:entry")->deleteBody(); };
  CHECK_THROWS_WITH(
      run({.after_optimisation = {"removes", removes}}),
      "overdub: the callback removes after optimisation removed a function that C++ calls, or changed its "
      "type");
  CHECK_THROWS_WITH(
      run({.before_optimisation = {"throws", [](llvm::Module&) { throw std::runtime_error("no"); }}}), "no");
  CHECK(run({}) == 4.0);
}
