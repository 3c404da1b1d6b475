// tiered_program: many threads call it while its executable is replaced.
#include "catch.hpp"

#include <overdub/compile/tiered_program.hpp>
#include <overdub/ir/parse.hpp>

#include <bit>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace overdub;

class interpreting : public executor {
public:
  std::string const& name() const override { return name_; }
  std::shared_ptr<execute::code const> prepare(ir::program const& p) const override {
    return executable(p).code();
  }

private:
  std::string name_ = "interpreting";
};

} // namespace

TEST_CASE("concurrent calls of one program have its results in every tier") {
  for (int round = 0; round < 20; ++round) {
    auto const p = tiered_program::of(
        ir::parse("entry @f\nfunc @f(%x: f64) -> f64 {\n  %y = mul %x, %x : f64\n  return %y\n}"),
        {.executor = std::make_shared<interpreting>(), .hot_calls = 100}, optimised::already);
    std::vector<int> wrong(4, 0);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t)
      threads.emplace_back([&, t] {
        tiered_call call(p);
        for (int k = 0; k < 500; ++k) {
          double const x = static_cast<double>(t) + k;
          call.set(0, std::bit_cast<std::uint64_t>(x));
          call.run();
          wrong[t] += std::bit_cast<double>(call.word(0)) != x * x;
          wrong[t] += p->run(std::vector<datum>{datum(x)})[0].as<double>() != x * x;
        }
      });
    for (std::thread& t : threads) t.join();
    for (int const w : wrong) CHECK(w == 0);
  }
  wait_for_compilations();
}
