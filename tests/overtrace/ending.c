/* A thread that ends within a call, and threads that begin after it. */
#include <pthread.h>

__attribute__((noinline)) void leave(void) { pthread_exit(0); }
void* first(void* p) {
  leave();
  return p;
}
void* second(void* p) { return p; }

int main(void) {
  for (int i = 0; i < 3; ++i) {
    pthread_t t;
    pthread_create(&t, 0, i == 0 ? first : second, 0);
    pthread_join(t, 0);
  }
}
