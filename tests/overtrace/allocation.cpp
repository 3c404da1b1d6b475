// The program defines operator new. A function is called once, and then another one more often than a thread has records.
#include <cstdlib>
#include <new>
#include <unistd.h>

void* operator new(std::size_t size) {
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

static int volatile count = 0;
__attribute__((noinline)) void once() { count = count + 1; }
__attribute__((noinline)) void often() { count = count + 1; }

int main() {
  once();
  for (int i = 0; i < 100'000; ++i) often();
  usleep(100'000);
}
