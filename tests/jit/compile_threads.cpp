// Threads compile programs at once, and call one executable at once.
#include "execute/texts.hpp"

#include <thread>

using namespace overdub;

TEST_CASE("threads compile, call and drop programs at once") {
  ir::program const p = texts::program(R"(func @f(%n: i64, %x: f64) -> f64 {
    %a = map %n (%i: i64) -> f64 { %c = convert %i : f64 %d = mul %c, %x : f64 yield %d }
    %s = reduce max %a from -1.0 : f64
    return %s
  })");
  executable const shared = jit::compile(p);
  std::vector<double> found(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < found.size(); ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 5; ++round) {
        executable const own = jit::compile(p);
        jit::function<double(i64, double)> const f(own);
        double const x = static_cast<double>(t) + 0.5;
        found[t] += own.call<double>(100, x) + shared.call<double>(100, x) + f(100, x);
      }
    });
  for (std::thread& t : threads) t.join();
  for (std::size_t t = 0; t < found.size(); ++t) CHECK(found[t] == 15 * 99 * (static_cast<double>(t) + 0.5));
}
