// An ordinary program: virtual functions, static ones, lambdas, recursion, exceptions, threads, longjmp, fork. It writes the number of calls that it makes
// of some functions.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static int calls_of_scale = 0;
static double scale(double x) {
  ++calls_of_scale;
  return 2 * x;
}

namespace shapes {
class shape {
public:
  virtual ~shape() = default;
  virtual double area() const = 0;
};
class square : public shape {
public:
  explicit square(double side) : side_(side) {}
  double area() const override { return scale(side_) * side_ / 2; }

private:
  double side_;
};
template <class T>
T sum(std::vector<T> const& v) {
  T all{};
  for (T const& x : v) all += x;
  return all;
}
} // namespace shapes

int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

void refuse(int depth) {
  if (depth == 0) throw std::runtime_error("refused");
  refuse(depth - 1);
}
int caught(int depth) {
  try {
    refuse(depth);
  } catch (std::exception const&) {
    return 1;
  }
  return 0;
}

static std::jmp_buf target;
void jump() { std::longjmp(target, 1); }
int jumped() {
  if (setjmp(target) == 0) jump();
  return 2;
}

void work() { std::printf("%d\n", fib(5)); }

int main() {
  std::unique_ptr<shapes::shape> const s = std::make_unique<shapes::square>(3.0);
  std::printf("%g\n", s->area());
  std::function<double(double)> const twice = [](double x) { return scale(x); };
  std::printf("%g %g\n", twice(1), shapes::sum(std::vector<double>{1, 2, 3}));
  std::printf("%d %d\n", caught(3), jumped());
  std::thread(work).join();
  std::printf("%d\n", calls_of_scale);
  std::fflush(stdout);
  pid_t const child = fork();
  if (child == 0) std::exit(fib(3));
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("%d\n", WEXITSTATUS(status));
}
