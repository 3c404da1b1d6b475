// Functions whose first calls are in a signal handler, which interrupts allocations.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/time.h>
#include <utility>

static int volatile called = 0, next = 0;
template <int K>
__attribute__((noinline)) void numbered() {
  called = called + 1;
}
template <int... K>
constexpr void (*all[])() = {numbered<K>...};
template <int... K>
__attribute__((no_instrument_function)) void call(int k, std::integer_sequence<int, K...>) {
  all<K...>[k]();
}
__attribute__((no_instrument_function)) static void handler(int) {
  if (next < 250) call(next, std::make_integer_sequence<int, 250>());
  next = next + 1;
}

int main() {
  std::signal(SIGALRM, handler);
  std::raise(SIGALRM);
  itimerval const often{{0, 300}, {0, 300}};
  setitimer(ITIMER_REAL, &often, nullptr);
  while (next < 250) {
    void* volatile memory = std::malloc(static_cast<unsigned>(100 + next * 1000));
    std::free(memory);
  }
  itimerval const never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  std::printf("%d\n", static_cast<int>(called));
}
