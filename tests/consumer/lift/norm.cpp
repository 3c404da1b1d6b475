#include <cmath>

extern "C" double add_square(double sum, double x);

double norm(double const* x, long n) {
  double s = 0;
  for (long i = 0; i < n; ++i) s = add_square(s, x[i]);
  return std::sqrt(s);
}
