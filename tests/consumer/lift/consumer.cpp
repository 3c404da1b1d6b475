#include <overdub/contexts/count.hpp>
#include <overdub/lifted.hpp>
#include <overdub/overdub.hpp>

#include <cstdio>

double norm(double const* x, long n);

int main() {
  constexpr auto lifted = overdub::lifted<&norm>(overdub::extent<0>(overdub::arg<1>));
  double const x[] = {3, 4};
  overdub::contexts::count count;
  double const y = overdub::run(count, lifted, x, 2);
  std::printf(
      "%g, %zu operations; %s\n", y, static_cast<std::size_t>(count.primitives), lifted.why_native().c_str());
  return y == 5 && count.primitives > 4 && lifted.why_native().empty() ? 0 : 1;
}
