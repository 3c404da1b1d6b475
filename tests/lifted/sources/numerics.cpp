#include "numerics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

static double square(double x) { return x * x; }

double norm(double const* x, long n) {
  double s = 0;
  for (long i = 0; i < n; ++i) s += square(x[i]);
  return std::sqrt(s);
}
extern "C" long gcd(long a, long b) {
  while (b != 0) {
    long const rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

namespace numerics {

void scale(double* x, int n, double a) {
  for (int i = 0; i < n; ++i) x[i] *= NUMERICS_SCALE * a;
}
void add_to(double* y, double const* x, int n) {
  for (int i = 0; i < n; ++i) y[i] += x[n - 1 - i];
}
unsigned sum_of(unsigned const* x, int n) {
  unsigned s = 0;
  for (int i = 0; i < n; ++i) s += x[i];
  return s;
}
unsigned char brighter(unsigned char x, unsigned char by) {
  return static_cast<unsigned char>(x > 255 - by ? 255 : x + by);
}
int count_if(float const* x, int n, float low, bool strict) noexcept {
  int k = 0;
  for (int i = 0; i < n; ++i)
    if (strict ? x[i] > low : x[i] >= low) ++k;
  return k;
}
bool is_sorted(short const* x, int n) {
  for (int i = 1; i < n; ++i)
    if (x[i] < x[i - 1]) return false;
  return true;
}
double median(double* x, int n) {
  std::vector<double> v(x, x + n);
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}
double printed(double x) {
  std::printf("%g", x);
  return x + 1;
}
int sort(int* x, int n) {
  std::sort(x, x + n);
  return n;
}
double dot(double const* a, double const* b, int rows, int columns) {
  double s = 0;
  for (int i = 0; i < rows * columns; ++i) s += a[i] * b[i];
  return s;
}
double at_two(double const* c, int n) { return horner(c, n, 2); }
void split(double x, double* whole, double* rest) {
  *whole = std::floor(x);
  *rest = x - *whole;
}
double unused(int*, double x) { return x; }
double clampf(double x) { return x < 0 ? 0 : half(x); }
template double half(double);

} // namespace numerics
