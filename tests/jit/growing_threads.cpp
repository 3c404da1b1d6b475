// Arrays that grow, by one executable in several threads.
#include "execute/texts.hpp"

#include <thread>
#include <vector>

using namespace overdub;

TEST_CASE("threads run loops of different lengths concurrently") {
  executable const compiled = jit::compile(texts::program(R"(func @f(%n: i64) -> i64[] {
    %last, %all = while (%k: i64 = 0) -> i64 stack i64 {
      %c = lt %k, %n : bool
      yield %c
    } do (%j: i64) {
      %next = add %j, 1 : i64
      yield %next, %j
    }
    return %all
  })"));
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (i64 round = 0; round < 200; ++round) {
        i64 const n = (round * 37 + static_cast<i64>(t) * 211) % 500;
        auto const all = compiled.call<array<i64>>(n);
        wrong[t] += all.size() != n || (n > 0 && all[n - 1] != n - 1);
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == std::vector<int>(4));
}
