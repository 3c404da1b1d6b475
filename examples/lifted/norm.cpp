// This file knows nothing of overdub.
#include <cmath>

double norm(double const* x, long n) {
  double s = 0;
  for (long i = 0; i < n; ++i) s += x[i] * x[i];
  return std::sqrt(s);
}
