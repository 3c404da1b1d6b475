// Jumps out of recursions, and of signal handlers that interrupt calls.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <sys/time.h>

static std::jmp_buf target;
static int volatile count = 0;

__attribute__((noinline)) int down(int depth) {
  if (depth == 0) std::longjmp(target, 1);
  return down(depth - 1) + 1;
}
__attribute__((noinline)) void from_the_deep() {
  if (setjmp(target) == 0) down(5000);
}
__attribute__((noinline)) void after() { count = count + 1; }

__attribute__((noinline)) int recursion(int depth) {
  if (depth == 0) std::longjmp(target, 1);
  if (depth == 2 && setjmp(target) != 0) return 7;
  return recursion(depth - 1) + 1;
}
__attribute__((noinline)) void after_recursion() { count = count + 1; }

static sigjmp_buf interrupted;
static int volatile jumps = 0;
__attribute__((noinline)) void tick() { count = count + 1; }
__attribute__((noinline)) void last() { count = count + 1; }
__attribute__((no_instrument_function)) static void handler(int) { siglongjmp(interrupted, 1); }
__attribute__((no_instrument_function, noinline)) static void jump_from_handlers() {
  std::signal(SIGALRM, handler);
  sigsetjmp(interrupted, 1);
  jumps = jumps + 1;
  if (jumps < 300) {
    itimerval const once{{0, 0}, {0, 500}};
    setitimer(ITIMER_REAL, &once, nullptr);
    for (;;) tick();
  }
  for (int i = 0; i < 5; ++i) last();
}

int main() {
  from_the_deep();
  for (int i = 0; i < 3; ++i) after();
  std::printf("%d\n", recursion(2));
  after_recursion();
  tick();
  jump_from_handlers();
}
