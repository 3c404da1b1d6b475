// Threads share an executable.
#include "texts.hpp"

#include <thread>

namespace {

using namespace overdub;

constexpr auto text = R"(
func @f(%x: f64[], %n: i64) -> f64 {
  %a = map %n (%i: i64) -> f64 {
    %y = at %x, %i : f64
    %h = host pure "half"(%y) : f64
    %z = call @g(%y, %h) : f64
    yield %z
  }
  %b = update %a, 0, 1.0 : f64[]
  %s = reduce add %b : f64
  return %s
}
func @g(%x: f64, %y: f64) -> f64 { %z = mul %x, %y : f64 return %z })";

hosts halving() {
  hosts h;
  h.add("half", [](double x) { return 0.5 * x; });
  return h;
}

} // namespace

TEST_CASE("threads run one executable, each with its own instance, or without one") {
  executable const run(texts::program(text), halving());
  std::vector<double> const x(40, 2.0);
  double results[4]{};
  std::vector<std::thread> threads;
  for (double& result : results)
    threads.emplace_back([&run, &x, &result, uses_instance = &result < results + 2] {
      auto inst = run.instance();
      for (int i = 0; i < 200; ++i)
        result += uses_instance ? inst.call<double>(x, 40) : run.call<double>(x, 40);
    });
  for (std::thread& t : threads) t.join();
  for (double const result : results) CHECK(result == 200 * (39 * 2.0 + 1.0));
}
