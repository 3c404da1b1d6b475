// A bound call, used by one thread after another.
#include "execute/texts.hpp"

#include <overdub/compile/tiered_program.hpp>
#include <overdub/jit/executor.hpp>

#include <atomic>
#include <memory>
#include <thread>

using namespace overdub;

TEST_CASE("after a failure in one thread, a bound call works in another, with that thread's stack limit") {
  ir::program const p = texts::program(R"(func @main(%n: i64) -> i64 {
    %r = call @down(%n) : i64
    return %r
  }
  func @down(%n: i64) -> i64 {
    %q = div 1000, %n : i64
    %more = lt 1, %n : bool
    %r = if %more -> i64 {
      %m = sub %n, 1 : i64
      %s = call @down(%m) : i64
      yield %s
    } else {
      yield 0
    }
    %t = add %r, %q : i64
    return %t
  })");
  compile_options o;
  o.executor = jit::compiled();
  o.tiers = tiers::compile_now;
  auto const program = tiered_program::of(p, o, optimised::when_compiled);
  tiered_call call(program);
  auto const run = [&](i64 n) {
    call.set(0, static_cast<std::uint64_t>(n));
    call.run();
    return static_cast<i64>(call.word(0));
  };
  i64 const wanted = run(20);
  std::atomic<int> turn{0}, right{0};
  std::thread other([&] {
    right += run(20) == wanted;
    turn = 1;
    while (turn != 2) std::this_thread::yield();
    right += run(20) == wanted;
  });
  while (turn != 1) std::this_thread::yield();
  CHECK_THROWS_AS(run(0), division_by_zero);
  turn = 2;
  other.join();
  CHECK(right == 2);
}
