#include "numerics.hpp"

namespace numerics {
double horner(double const* c, int n, double x) {
  double y = 0;
  for (int i = n - 1; i >= 0; --i) y = y * x + c[i];
  return y;
}
} // namespace numerics
