// An instrumented handler of fork, which is called the first time during a fork.
#include <cstdio>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

void prepare() { std::puts("prepare"); }
void work() {}

[[gnu::no_instrument_function]] int main() {
  pthread_atfork(prepare, nullptr, nullptr);
  work();
  std::fflush(stdout);
  if (fork() == 0) _exit(0);
  wait(nullptr);
}
