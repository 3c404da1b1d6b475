#include "numerics.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
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
int is_large(unsigned const* x, int n) {
  int k = 0;
  for (int i = 0; i < n; ++i) k += x[i] == 4'000'000'000U;
  return k;
}
void complement(unsigned* x, int n) {
  for (int i = 0; i < n; ++i) x[i] = ~x[i];
}
unsigned long same(unsigned long x) { return x; }
int low(int x) { return x + 1; }
double constant() { return 4.5; }
double zeros_by_bytes(int n) {
  auto* const x = static_cast<double*>(std::calloc(8 * static_cast<std::size_t>(n), 1));
  x[n - 1] = 2;
  double const sum = x[0] + x[n - 1];
  std::free(x);
  return sum;
}
[[gnu::noinline]] static double sum(double const* x, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += x[i];
  return s;
}
double sum_of_maybe_none(int n) {
  double* x = nullptr;
  if (n > 0) x = new double[4]{1, 2, 3, 4};
  double const s = sum(x, n);
  delete[] x;
  return s;
}
double read_alone(double* x, int n) { return sum(x, n); }
double first_of(double const* x, int n) {
  std::printf("%s", "");
  return n > 0 ? x[n - 1] : 0;
}
double replaceable(double x) { return x; }
double calls_native(double const* x, int n) {
  double s = 0;
  for (int i = 0; i < n; ++i) s += native_scaled(x[i], i) + static_cast<double>(std::lround(x[i]));
  return s;
}
bool calls_each_type(int k, unsigned char byte, short s, float f) {
  native_note(s);
  native_note(static_cast<short>(s + 1));
  return native_is_odd(k + native_next(byte)) == (native_half(f) > 1);
}
double complex_functions(double x, double y) {
  std::complex<double> const z(x, y);
  std::complex<float> const w(static_cast<float>(x), static_cast<float>(y));
  std::complex<double> const s = std::exp(z) * std::sqrt(z) + std::pow(z, z);
  std::complex<float> const t = std::sin(w) / std::log(w);
  return s.real() - 2 * s.imag() + t.real() + 3 * t.imag();
}
double calls_with_structs(double x, int k) {
  native_point const p = native_turned({static_cast<float>(x), static_cast<float>(k), 2}, 0.5f);
  native_count const c = native_counted({std::lround(x), k});
  return p.x + 2 * p.y + 3 * p.z + static_cast<double>(c.sum * c.count);
}
double calls_absent(double x) { return x > 0 ? x : native_absent(x); }

} // namespace numerics
