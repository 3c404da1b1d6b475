#include "complex.hpp"

#include <complex>

namespace {

using complex = std::complex<double>;
using complex_float = std::complex<float>;

struct pair {
  float x, y;
};
struct triple {
  float x, y, z;
};
struct quadruple {
  float x, y, z, w;
};
[[gnu::noinline]] pair swapped(pair p) { return {p.y, p.x}; }
[[gnu::noinline]] pair scaled(pair p, float by) { return {p.x * by, p.y * by}; }
[[gnu::noinline]] triple cross(triple a, triple b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
[[gnu::noinline]] quadruple extended(triple a, float w) { return {a.x, a.y, a.z, w}; }
[[gnu::noinline]] float sum(quadruple a) { return ((a.x + a.y) + a.z) + a.w; }
float length(pair p) { return std::hypot(p.x, p.y); }
float total(pair p) { return p.x + p.y; }

} // namespace

void products(double const* z, int n, double* out) {
  for (int i = 0; i < n; ++i) {
    complex const x = complex(z[4 * i], z[4 * i + 1]) * complex(z[4 * i + 2], z[4 * i + 3]);
    out[2 * i] = x.real();
    out[2 * i + 1] = x.imag();
  }
}
void quotients(double const* z, int n, double* out) {
  for (int i = 0; i < n; ++i) {
    complex const x = complex(z[4 * i], z[4 * i + 1]) / complex(z[4 * i + 2], z[4 * i + 3]);
    out[2 * i] = x.real();
    out[2 * i + 1] = x.imag();
  }
}
void float_products(float const* z, int n, float* out) {
  for (int i = 0; i < n; ++i) {
    complex_float const x = complex_float(z[4 * i], z[4 * i + 1]) * complex_float(z[4 * i + 2], z[4 * i + 3]);
    out[2 * i] = x.real();
    out[2 * i + 1] = x.imag();
  }
}
void float_quotients(float const* z, int n, float* out) {
  for (int i = 0; i < n; ++i) {
    complex_float const x = complex_float(z[4 * i], z[4 * i + 1]) / complex_float(z[4 * i + 2], z[4 * i + 3]);
    out[2 * i] = x.real();
    out[2 * i + 1] = x.imag();
  }
}
void sizes(double const* z, int n, double* out) {
  for (int i = 0; i < n; ++i) {
    complex const x = std::conj(complex(z[2 * i], z[2 * i + 1]));
    out[3 * i] = std::abs(x);
    out[3 * i + 1] = std::arg(x);
    out[3 * i + 2] = std::norm(x);
  }
}
void float_sizes(float const* z, int n, float* out) {
  for (int i = 0; i < n; ++i) {
    complex_float const x = std::conj(complex_float(z[2 * i], z[2 * i + 1]));
    out[3 * i] = std::abs(x);
    out[3 * i + 1] = std::arg(x);
    out[3 * i + 2] = std::norm(x);
  }
}
void complex_polynomial(double const* c, int n, double const* z, double* out) {
  complex const x(z[0], z[1]);
  complex s = 0;
  for (int i = n; i-- > 0;) s = s * x + complex(c[2 * i], c[2 * i + 1]);
  s /= 2.0;
  out[0] = s.real();
  out[1] = s.imag();
}
int escape_time(double x, double y) {
  complex const c(x, y);
  complex z;
  int n = 0;
  while (n < 60 && std::norm(z) < 4) {
    z = z * z + c;
    ++n;
  }
  return n;
}
void fourier(double* z) {
  constexpr int n = 16;
  complex x[n];
  for (int i = 0; i < n; ++i) x[i] = complex(z[2 * i], z[2 * i + 1]);
  for (int i = 1, j = 0; i < n; ++i) {
    int bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  for (int length = 2; length <= n; length *= 2) {
    complex const step = std::polar(1.0, -6.283185307179586 / length);
    for (int i = 0; i < n; i += length) {
      complex w = 1;
      for (int k = 0; k < length / 2; ++k) {
        complex const u = x[i + k], v = x[i + k + length / 2] * w;
        x[i + k] = u + v;
        x[i + k + length / 2] = u - v;
        w *= step;
      }
    }
  }
  for (int i = 0; i < n; ++i) {
    z[2 * i] = x[i].real();
    z[2 * i + 1] = x[i].imag();
  }
}
void of_c(double const* z, double* out) {
  double _Complex x, y;
  __real__ x = z[0];
  __imag__ x = z[1];
  __real__ y = z[2];
  __imag__ y = z[3];
  double _Complex const s = x * y / (x + 2.0) - ~y;
  out[0] = __real__ s;
  out[1] = __imag__ s;
}
double size_of_quotient(double a, double b, double c, double d) {
  return std::norm(complex(a, b) / complex(c, d));
}
void cross_products(float const* x, int n, float* out) {
  for (int i = 0; i < n; ++i) {
    triple const a{x[6 * i], x[6 * i + 1], x[6 * i + 2]}, b{x[6 * i + 3], x[6 * i + 4], x[6 * i + 5]};
    triple const c = cross(a, cross(b, a));
    pair const p = swapped(scaled({c.x, c.y}, c.z));
    out[i] = sum(extended(c, p.x)) - p.y;
  }
}
float selected_pairs(float const* x, int n) {
  pair last{0, 0};
  float s = 0;
  for (int i = 0; i + 1 < n; ++i) {
    last = x[i] < 0 ? swapped(last) : scaled(last.x > 10 ? pair{1, 2} : swapped({x[i], x[i + 1]}), 1.5f);
    s += last.x - 2 * last.y;
  }
  return s;
}
float called_with_pair(float const* x, int k) {
  float (*const f)(pair) = k % 2 == 0 ? length : total;
  return f({x[0], x[1]});
}
