// A function of ordinary C++ in contexts: log shows what it does, and reverse mode differentiates it.
#include <overdub/contexts/log.hpp>
#include <overdub/incremental.hpp>
#include <overdub/lifted.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>

#include <iostream>

namespace od = overdub;

double norm(double const* x, long n); // in norm.cpp

namespace lifted {
inline constexpr auto norm = od::lifted<&::norm>(od::extent<0>(od::arg<1>));
}

int main() {
  double const x[] = {3, 4};
  od::contexts::log log(std::cout);
  od::run(log, lifted::norm, x, 2);

  od::array<double> const numbers{3.0, 4.0};
  auto const slopes = od::gradient<0>(lifted::norm)(numbers, od::i64{2});
  auto session = od::incremental(lifted::norm, numbers, od::i64{2});
  session.set_at<0>(1, 0.0);
  std::cout << slopes[0] << ' ' << session.propose() << '\n';
  return lifted::norm.why_native().empty() ? 0 : 1;
}
