// tiered_program and tiered_call: programs are interpreted until a better executable is made in the background.
#include "catch.hpp"

#include <overdub/compile/tiered_program.hpp>
#include <overdub/ir/parse.hpp>

#include <atomic>
#include <bit>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace overdub;

// Makes an executable as the interpreter does, or fails.
class counting_executor : public executor {
public:
  std::string const& name() const override { return name_; }
  std::shared_ptr<execute::code const> prepare(ir::program const& p) const override {
    ++count;
    if (fails) throw std::runtime_error("no");
    operations = p[p.entry].node_count();
    return executable(p).code();
  }
  std::atomic<int> mutable count = 0;
  std::atomic<std::size_t> mutable operations = 0; // of the last program
  bool fails = false;

private:
  std::string name_ = "counting";
};

ir::program dot() {
  return ir::parse(R"(entry @dot
func @dot(%x: f64[], %y: f64[], %s: f64) -> (f64, f64[]) {
  %n = length %x, %y : i64
  %p = map %n (%i: i64) -> f64 {
    %a = at %x, %i : f64
    %b = at %y, %i : f64
    %c = mul %a, %b : f64
    %d = mul %c, %s : f64
    yield %d
  }
  %t = reduce add %p from 0.0 : f64
  return %t, %p
})");
}

struct lent {
  std::vector<double> x{1, 2, 3}, y{4, 5, 6};
  i64 extent = 3;
  template <class Call>
  void to(Call& call) {
    call.lend(0, x.data(), &extent);
    call.lend(1, y.data(), &extent);
  }
};

double first(bound_call const& c) { return std::bit_cast<double>(c.word(0)); }

} // namespace

TEST_CASE(
    "a program is interpreted until it is hot, and arguments are preserved when machine code replaces it") {
  auto const by = std::make_shared<counting_executor>();
  auto const p = tiered_program::of(
      dot(), {.executor = by, .hot_calls = 10, .hot_nanoseconds = 1'000'000'000}, optimised::when_compiled);
  tiered_call call(p);
  lent of;
  of.to(call);
  for (int k = 0; k < 9; ++k) {
    call.set(2, std::bit_cast<std::uint64_t>(1.0 + k));
    call.run();
    CHECK(first(call) == 32.0 * (1 + k));
  }
  wait_for_compilations();
  CHECK(by->count == 0);
  CHECK(call.is_warming());
  call.run();
  wait_for_compilations();
  CHECK(by->count == 1);
  CHECK_FALSE(p->is_warming());
  CHECK(first(call) == 32.0 * 9); // results of the last call are valid until the next one
  execute::code const* const before = &call.code();
  call.run(); // with the arguments that were set and lent before
  CHECK(&call.code() != before);
  CHECK_FALSE(call.is_warming());
  CHECK(first(call) == 32.0 * 9);
  CHECK(reinterpret_cast<double const*>(call.elements(1))[2] == 3 * 6 * 9);
  for (int k = 0; k < 100; ++k) call.run();
  wait_for_compilations();
  CHECK(by->count == 1);
  tiered_call another(p); // of the present executable
  of.to(another);
  another.set(2, std::bit_cast<std::uint64_t>(2.0));
  CHECK_FALSE(another.is_warming());
  another.run();
  CHECK(first(another) == 64.0);
}

TEST_CASE("argument addresses are valid until improve replaces the executable") {
  auto const by = std::make_shared<counting_executor>();
  auto const p = tiered_program::of(dot(), {.executor = by, .hot_calls = 1}, optimised::when_compiled);
  tiered_call call(p);
  lent of;
  of.to(call);
  *call.argument_address(2) = std::bit_cast<std::uint64_t>(1.0);
  call.run_as_it_is();
  wait_for_compilations();
  *call.argument_address(2) = std::bit_cast<std::uint64_t>(3.0);
  call.run_as_it_is();
  CHECK(first(call) == 96.0);
  CHECK(call.is_warming());
  CHECK(call.improve());
  CHECK_FALSE(call.improve());
  call.run_as_it_is();
  CHECK(first(call) == 96.0);
}

TEST_CASE("the options choose the executor, and the interpreter runs programs that it cannot compile") {
  auto const by = std::make_shared<counting_executor>();
  lent of;
  auto const value = [&](std::shared_ptr<tiered_program const> const& p, int calls = 1) {
    tiered_call call(p);
    of.to(call);
    call.set(2, std::bit_cast<std::uint64_t>(1.0));
    for (int k = 0; k < calls; ++k) call.run();
    return first(call);
  };
  CHECK(value(tiered_program::of(dot(), {}, optimised::when_compiled)) == 32.0);
  CHECK(
      value(
          tiered_program::of(
              dot(), {.executor = by, .tiers = tiers::interpret_only, .hot_calls = 1},
              optimised::when_compiled),
          9) == 32.0);
  CHECK(by->count == 0);
  CHECK(
      value(tiered_program::of(
          dot(), {.executor = by, .tiers = tiers::compile_now}, optimised::when_compiled)) == 32.0);
  CHECK(by->count == 1);
  by->fails = true;
  CHECK_THROWS_WITH(
      tiered_program::of(dot(), {.executor = by, .tiers = tiers::compile_now}, optimised::when_compiled),
      "no");
  auto const p = tiered_program::of(dot(), {.executor = by, .hot_calls = 2}, optimised::when_compiled);
  CHECK(value(p, 5) == 32.0);
  wait_for_compilations();
  CHECK(by->count == 3);
  CHECK_FALSE(p->is_warming());
  CHECK(value(p, 5) == 32.0);
  CHECK(by->count == 3);
  std::vector<datum> const results =
      p->run(std::vector<datum>{datum(array<double>{1, 2}), datum(array<double>{3, 4}), datum(2.0)});
  CHECK(results[0].as<double>() == 22.0);
}

TEST_CASE("the maker decides whether machine code is made of optimised programs or of programs as they are") {
  auto const twice = ir::parse("entry @f\nfunc @f(%x: f64) -> f64 {\n  %y = mul %x, %x : f64\n  %z = mul %x, "
                               "%x : f64\n  %s = add %y, %z "
                               ": f64\n  return %s\n}");
  for (tiers const how : {tiers::compile_now, tiers::interpret_first}) {
    auto const operations = [&](optimised when) {
      auto const by = std::make_shared<counting_executor>();
      auto const p = tiered_program::of(twice, {.executor = by, .tiers = how, .hot_calls = 1}, when);
      for (int k = 0; k < 3; ++k) CHECK(p->run(std::vector<datum>{3.0})[0].as<double>() == 18.0);
      wait_for_compilations();
      CHECK(by->count == 1);
      return by->operations.load();
    };
    CHECK(operations(optimised::already) == 4);
    CHECK(operations(optimised::when_compiled) < 4);
  }
}
