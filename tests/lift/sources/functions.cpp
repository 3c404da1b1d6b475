#include "functions.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

double norm(double const* x, long n) {
  double s = 0;
  for (long i = 0; i < n; ++i) s += x[i] * x[i];
  return std::sqrt(s);
}
double dot(double const* x, double const* y, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += x[i] * y[i];
  return s;
}
double pendulum(double angle, double speed, double h, int steps) {
  for (int i = 0; i < steps; ++i) {
    speed -= h * 9.81 * std::sin(angle);
    angle += h * speed;
    if (std::abs(angle) > 100.0) break;
  }
  return angle;
}
int first_above(double const* x, int n, double y) {
  for (int i = 0; i < n; ++i)
    if (x[i] > y) return i;
  return -1;
}
int count_until_zero(int const* x, int n) {
  int count = 0;
  for (int i = 0; i < n; ++i) {
    if (x[i] == 0) break;
    if (x[i] < 0) continue;
    count += x[i] % 3;
  }
  return count;
}
double skips_odd(double const* x, int n) {
  double s = 1;
  for (int i = 0; i < n; ++i) {
    if (i % 2) continue;
    s = s * 0.5 + x[i];
  }
  return s;
}
double clamped(double x) {
  if (x < 0) return 0;
  if (x > 1) return 1;
  return x;
}
int sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double of_callees(double const* x, long n) { return n < 1 ? 0 : clamped(norm(x, n)) + norm(x + 1, n - 1); }
void scale(double* x, int n, double a) {
  for (int i = 0; i < n; ++i) x[i] *= a;
}
double scale_and_sum(double* x, int n) {
  scale(x, n, 2.0);
  if (n > 2) scale(x + 2, n - 2, 0.25);
  return norm(x, n);
}
long fibonacci(long n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
static int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }
int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}
double polynomial(double x) {
  double const c[4] = {1, 2, 3, 4};
  double r = 0;
  for (int k = 3; k >= 0; --k) r = r * x + c[k];
  return r;
}
double horner(double const* c, int n, double x) {
  double r = 0;
  while (n-- > 0) r = r * x + c[n];
  return r;
}
double by_case(int k, double x) {
  switch (k) {
  case 0:
    return x;
  case 1:
    x *= x;
    [[fallthrough]];
  case 2:
    return x + 1;
  case 7:
    return std::sin(x);
  default:
    return k < 0 ? -x : 0;
  }
}
int weekday(int year, int month, int day) {
  static int const offset[] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
  if (month < 3) --year;
  return (year + year / 4 - year / 100 + year / 400 + offset[month - 1] + day) % 7;
}
void insertion_sort(double* x, int n) {
  for (int i = 1; i < n; ++i) {
    double const key = x[i];
    int j = i - 1;
    while (j >= 0 && x[j] > key) {
      x[j + 1] = x[j];
      --j;
    }
    x[j + 1] = key;
  }
}
void bubble_sort(int* x, int n) {
  bool swapped = true;
  while (swapped) {
    swapped = false;
    for (int i = 0; i + 1 < n; ++i)
      if (x[i] > x[i + 1]) {
        int const t = x[i];
        x[i] = x[i + 1];
        x[i + 1] = t;
        swapped = true;
      }
  }
}
void prefix_sums(double* x, int n) {
  for (int i = 1; i < n; ++i) x[i] += x[i - 1];
}
void multiply(double const* a, double const* b, double* c, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double s = 0;
      for (int k = 0; k < n; ++k) s += a[i * n + k] * b[k * n + j];
      c[i * n + j] = s;
    }
}
double trace_of_square(double const* a) {
  double m[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      m[i][j] = 0;
      for (int k = 0; k < 3; ++k) m[i][j] += a[3 * i + k] * a[3 * k + j];
    }
  return m[0][0] + m[1][1] + m[2][2];
}
long gcd(long a, long b) {
  while (b != 0) {
    long const t = a % b;
    a = b;
    b = t;
  }
  return a < 0 ? -a : a;
}
unsigned gcd_unsigned(unsigned a, unsigned b) { return b == 0 ? a : gcd_unsigned(b, a % b); }
int population(unsigned x) {
  int n = 0;
  for (; x != 0; x &= x - 1) ++n;
  return n;
}
int popcount_builtin(unsigned long x) {
  return __builtin_popcountl(x) + 100 * (x ? __builtin_ctzl(x) : 64) + 10000 * (x ? __builtin_clzl(x) : 64);
}
int collatz(long n) {
  int k = 0;
  while (n != 1) {
    n = n % 2 ? 3 * n + 1 : n / 2;
    ++k;
  }
  return k;
}
double bisect(double a, double b) {
  double low = a, high = b;
  for (int i = 0; i < 60 && high - low > 1e-12; ++i) {
    double const middle = 0.5 * (low + high);
    if (std::cos(middle) - middle > 0)
      low = middle;
    else
      high = middle;
  }
  return low;
}
double newton(double x) {
  double y = x;
  for (int i = 0; i < 20; ++i) {
    double const next = 0.5 * (y + x / y);
    if (next == y) return y;
    y = next;
  }
  return y;
}
int wraps(int a, int b) {
  unsigned const x = static_cast<unsigned>(a) * 2654435761u + static_cast<unsigned>(b);
  return static_cast<int>(x ^ (x >> 15)) - static_cast<int>(static_cast<signed char>(x));
}
unsigned hash(unsigned char const* text, int n) {
  unsigned h = 2166136261u;
  for (int i = 0; i < n; ++i) {
    h ^= text[i];
    h *= 16777619u;
  }
  return h;
}
std::uint64_t random_bits(std::uint64_t x) {
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return x * 0x2545f4914f6cdd1dull;
}
unsigned long divide_unsigned(unsigned long a, unsigned long b) { return a / b; }
unsigned long remainder_unsigned(unsigned long a, unsigned long b) { return a % b; }
unsigned short narrow(short a, unsigned char b) {
  return static_cast<unsigned short>(a * b + static_cast<short>(a << 3) - static_cast<signed char>(b));
}
int shifts(int a, unsigned b, int by) {
  by &= 31;
  return (a >> by) + static_cast<int>(b >> by) + static_cast<int>(b << by);
}
double from_unsigned(unsigned long a, unsigned b) {
  return static_cast<double>(a) + static_cast<float>(a) - b;
}
unsigned long to_unsigned(double x) {
  return static_cast<unsigned long>(x) + static_cast<unsigned char>(x > 200 ? 7 : x);
}
float single(float a, float b) {
  return a * b + std::sqrt(std::fabs(a)) - static_cast<float>(static_cast<int>(b));
}
double functions(double x, double y) {
  double s = std::exp(-x * x) + std::log1p(std::fabs(y)) + std::pow(std::fabs(x), y) + std::atan2(x, y);
  s += std::floor(x) + std::ceil(y) + std::trunc(x) + std::round(y) + std::fma(x, y, 1.0) +
       std::copysign(x, y);
  s += std::tanh(x) + std::cbrt(y) + std::hypot(x, y) + std::fmod(x, 1.5) + std::fmin(x, y) +
       std::fmax(x, 0.5);
  return s;
}
double largest(double const* x, std::size_t n) {
  double best = -INFINITY;
  for (std::size_t i = 0; i < n; ++i) best = x[i] > best ? x[i] : best;
  return best;
}
int largest_index(float const* x, int n) {
  int best = 0;
  for (int i = 1; i < n; ++i)
    if (x[i] > x[best]) best = i;
  return best;
}
int binary_search(int const* x, int n, int y) {
  int low = 0, high = n;
  while (low < high) {
    int const middle = low + (high - low) / 2;
    if (x[middle] == y) return middle;
    if (x[middle] < y)
      low = middle + 1;
    else
      high = middle;
  }
  return -low - 1;
}
int primes(int n) {
  bool composite[100] = {};
  int count = 0;
  if (n > 100) n = 100;
  for (int i = 2; i < n; ++i) {
    if (composite[i]) continue;
    ++count;
    for (int k = i * i; k < n; k += i) composite[k] = true;
  }
  return count;
}
double table(int i) {
  static double const values[3][2] = {{1.5, 2.5}, {-1, 1e300}, {0.0, -0.0}};
  return values[i % 3][i % 2] + values[2][1];
}
int days(int month) {
  static signed char const all[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return all[month];
}
double second_order(double const* x, int n) {
  double a = 0, b = 1;
  for (int i = 0; i < n; ++i) {
    double const t = a;
    a = b;
    b = t * 0.25 + x[i];
  }
  return a - b;
}
double moving(double const* x, int n, int width) {
  double best = 0;
  for (int i = 0; i + width <= n; i += 2) {
    double s = 0;
    for (int k = i; k < i + width; ++k) s += x[k];
    if (s > best) best = s;
  }
  return best;
}
double walk(double const* x, int n) {
  double s = 0;
  for (double const *p = x, *end = x + n; p != end; ++p) s = s * 0.5 + *p;
  return s;
}
void reverse(double* x, int n) {
  for (double *a = x, *b = x + n - 1; a < b; ++a, --b) {
    double const t = *a;
    *a = *b;
    *b = t;
  }
}
void rotate3(double* v, double angle) {
  double const c = std::cos(angle), s = std::sin(angle), x = v[0];
  v[0] = c * x - s * v[1];
  v[1] = s * x + c * v[1];
}
double local_array(double const* x, int n) {
  double last[4] = {1, 1, 1, 1};
  for (int i = 0; i < n; ++i) last[i & 3] = last[(i + 1) & 3] * 0.5 + x[i];
  return last[0] + last[1] * 2 + last[2] * 3 + last[3] * 4;
}
double zeroed(int k) {
  double t[16] = {};
  t[k & 15] = 2;
  double u[16];
  for (int i = 0; i < 16; ++i) u[i] = t[15 - i];
  return u[3] + u[15 - (k & 15)];
}
double two_exits(double const* x, int n, double limit) {
  double s = 0;
  int i = 0;
  while (true) {
    if (i >= n) break;
    s += x[i];
    if (s > limit) {
      s = limit;
      break;
    }
    ++i;
  }
  return s + i;
}
double goes(int n) {
  double s = 0;
  int i = 0;
again:
  s += i;
  if (++i < n) goto again;
  if (s > 10) goto large;
  s = -s;
  goto end;
large:
  s /= 2;
end:
  return s;
}
int crosses(int n) { // two loops that enter one another
  int s = 0, i = 0;
  if (n & 1) goto second;
first:
  s += 3;
  if (++i > n) return s;
second:
  s ^= i;
  if (++i > n + 2) return s + 1000;
  if (s & 4) goto second;
  goto first;
}
bool is_sorted(double const* x, int n) {
  for (int i = 1; i < n; ++i)
    if (x[i - 1] > x[i]) return false;
  return true;
}
bool all_or_any(bool a, bool b, bool c) { return (a && b) || (b && c) || (!a && c); }
double compares(double x, double y) {
  double s = 0;
  if (x < y) s += 1;
  if (!(x < y)) s += 2;
  if (x == y) s += 4;
  if (x != y) s += 8;
  if (!(x >= y)) s += 16;
  if (std::isnan(x)) s += 32;
  return s;
}
void divide(int a, int b, int* quotient, int* rest) {
  *quotient = a / b;
  *rest = a % b;
}
int divides_and_adds(int a, int b) {
  int q, r;
  divide(a, b, &q, &r);
  return q + r;
}
double do_while(double x) {
  int n = 0;
  do {
    x *= 0.5;
    ++n;
  } while (x > 1);
  return x + n;
}
int steps_down(int n) {
  int s = 0;
  for (int i = n; i > 0; i -= 3) s += i;
  for (unsigned i = 0; i < static_cast<unsigned>(n); ++i) s ^= static_cast<int>(i);
  for (int i = 0; i <= n; ++i) s += i & 1;
  for (int i = 7; i != n + 7; ++i) s -= i;
  return s;
}
long strided(long const* x, long n) {
  long s = 0;
  for (long i = n - 1; i >= 0; i -= 2) s = s * 3 + x[i];
  return s;
}
double logistic(double x, int n) {
  for (; n; --n) x = 3.7 * x * (1 - x);
  return x;
}
double mandelbrot(double cr, double ci) {
  double x = 0, y = 0;
  int i;
  for (i = 0; i < 50; ++i) {
    double const t = x * x - y * y + cr;
    y = 2 * x * y + ci;
    x = t;
    if (x * x + y * y > 4) break;
  }
  return i + x * 0.001;
}
double simpson(double a, double b, int n) {
  double const h = (b - a) / (2 * n);
  double s = std::exp(-a * a) + std::exp(-b * b);
  for (int i = 1; i < 2 * n; ++i) {
    double const x = a + i * h;
    s += (i % 2 ? 4 : 2) * std::exp(-x * x);
  }
  return s * h / 3;
}
double levels(int n, double x) {
  double s = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) {
      if (j == 3) break;
      for (int k = j; k < n; ++k) {
        if (k > 5) goto out;
        if (s > 100) return s;
        s += x * (i - j) + k;
      }
    }
  out:
    s *= 0.5;
  }
  return s;
}
double extremes(double const* x, int n) {
  double low = 1e9, high = -1e9;
  for (int i = 0; i < n; ++i) {
    low = std::min(low, x[i]);
    high = std::max(high, x[i]);
  }
  return std::clamp(high - low, 0.5, 3.0);
}
template <class F>
static double integral(F f, double a, double b, int n) {
  double s = 0;
  double const h = (b - a) / n;
  for (int i = 0; i < n; ++i) s += f(a + (i + 0.5) * h);
  return s * h;
}
double closure(double a, int n) {
  return integral([a](double x) { return std::exp(-x * x / a); }, -1, 1, n);
}

// Copies, of which some do not say what they copy.
static void clear(int* x) { std::memset(x, 0, 4 * sizeof *x); }
int clears_by_callee(int* x) {
  clear(x);
  return x[0] + x[3] + 1;
}
struct pair_of_numbers {
  double x, y;
};
void copies_pair(double* a, double const* b) {
  *reinterpret_cast<pair_of_numbers*>(a) = *reinterpret_cast<pair_of_numbers const*>(b);
}
struct vector_of_numbers {
  float v[3];
};
static void assign(vector_of_numbers* a, vector_of_numbers const* b) { a[0] = b[1]; }
void copies_vectors(float* a, float const* b) {
  assign(reinterpret_cast<vector_of_numbers*>(a), reinterpret_cast<vector_of_numbers const*>(b));
}
static double count_of(double const* x, int n) { return n; }
double passes_what_is_not_used(double const* x, int n) { return count_of(x + 20, n) + x[0]; }
static void copy_all(double* a, double const* b) { std::memcpy(a, b, 4 * sizeof *a); }
double copies_of_copies(double const* x, int k) {
  double t[4], u[4];
  copy_all(t, x);
  copy_all(u, t);
  return u[k & 3];
}

double backwards(double const* x, int n) {
  double s = 0;
  for (double const* p = x + n - 1; p >= x; --p) s = s * 0.5 + *p;
  return s;
}
int saturates(double x) {
  int const i = static_cast<int>(x);
  auto const u = static_cast<unsigned char>(x);
  auto const s = static_cast<signed char>(x);
  return (i > 2147483646) + 2 * (i < -2147483647) + 4 * (u == 255) + 8 * (u == 0) + 16 * (s == 127) +
         32 * (s == -128);
}
double exponents(double x, int k) {
  return std::ldexp(x, k) + std::scalbn(x, 2 * k) * std::scalbln(x, static_cast<long>(k)) +
         std::ldexp(static_cast<float>(x), k);
}
bool is_negative(double const* x, float y) { return std::signbit(x[0]) != std::signbit(y); }

// Calls that receive parts of arrays, one array twice, and local arrays.
static void decay(double* x, double const* by, int n) {
  for (int i = 0; i < n; ++i) x[i] = x[i] * by[i] + 1;
}
double parts_of_one_array(double* x, int n) {
  for (int k = 1; k <= n; ++k) decay(x + n, x, k);
  return x[2 * n - 1];
}
static void cross(double const* a, double const* b, double* c) {
  for (int k = 0; k < 3; ++k) c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}
double moments(double const* x, double const* f, int n) {
  double sum[3] = {0, 0, 0};
  for (int i = 0; i < n; ++i) {
    double one[3];
    cross(x + 3 * i, f + 3 * i, one);
    for (int k = 0; k < 3; ++k) sum[k] += one[k];
  }
  return sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2];
}
double differences(double const* x, int n) {
  double s = 0;
  for (int i = 0; i + 1 < n; ++i) s += std::fabs(x[i + 1] - x[i]);
  return s;
}
long wraps_around(unsigned char n) {
  long s = 0;
  for (unsigned char i = 250; static_cast<unsigned char>(i + 9) < n; ++i) s = 2 * s + i;
  return s;
}
unsigned long last_of(unsigned long n) {
  unsigned long s = 0;
  for (unsigned long i = 2; i - 1 < n; ++i) s += i;
  return s;
}
