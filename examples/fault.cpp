// fault: the behaviour of a program if a call fails. Each run makes another call fail. Here: a transfer of money between two accounts,
// which no failure may lose.
#include <overdub/contexts/fault.hpp>
#include <overdub/overdub.hpp>

#include <cstdio>

namespace od = overdub;
namespace contexts = overdub::contexts;

double here, there;
inline constexpr auto withdraw = od::leaf<"withdraw">([](double amount) { here -= amount; });
inline constexpr auto deposit = od::leaf<"deposit">([](double amount) { there += amount; });
inline constexpr auto give_back = od::leaf<"give_back">([](double amount) { here += amount; });

inline constexpr auto careless = od::fn<"careless">([](auto amount) {
  withdraw(amount);
  deposit(amount);
  return amount;
});
inline constexpr auto careful = od::fn<"careful">([](auto amount) {
  withdraw(amount);
  try {
    deposit(amount);
  } catch (...) {
    give_back(amount);
    throw;
  }
  return amount;
});

// Makes each call of a transfer fail, one in each run. Returns the number of runs in which money was lost.
int failures_that_lose(auto const& transfer) {
  int losses = 0;
  for (long n = 1;; ++n) {
    here = 100, there = 0;
    contexts::fault<> faults(contexts::nth_call(n));
    try {
      od::run(faults, transfer, 30.0);
      return losses; // there is no nth call
    } catch (contexts::injected_fault const& e) {
      bool const lost = here + there != 100;
      losses += lost;
      std::printf("  %s: %s\n", e.what(), lost ? "money is lost" : "all is well");
    }
  }
}

int main() {
  std::printf("careless:\n");
  int const by_careless = failures_that_lose(careless);
  std::printf("careful:\n");
  int const by_careful = failures_that_lose(careful);
  return by_careless == 1 && by_careful == 0 ? 0 : 1;
}
