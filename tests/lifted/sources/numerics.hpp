// Functions that know nothing of overdub.
#pragma once

double norm(double const* x, long n);
extern "C" long gcd(long a, long b);

namespace numerics {
void scale(double* x, int n, double a); // x *= NUMERICS_SCALE * a
void add_to(double* y, double const* x, int n);
unsigned sum_of(unsigned const* x, int n);
unsigned char brighter(unsigned char x, unsigned char by);
int count_if(float const* x, int n, float low, bool strict) noexcept;
bool is_sorted(short const* x, int n);
double median(double* x, int n);
double printed(double x);
int sort(int* x, int n);
double dot(double const* a, double const* b, int rows, int columns);
double horner(double const* c, int n, double x); // in another source, which calls no function of this one
double at_two(double const* c, int n);           // calls horner
void split(double x, double* whole, double* rest);
double unused(int* scratch, double x);
double clampf(double x);
int is_large(unsigned const* x, int n);
void complement(unsigned* x, int n);
unsigned long same(unsigned long x);
int low(int x);
double constant();
double zeros_by_bytes(int n);
double sum_of_maybe_none(int n);
double read_alone(double* x, int n);
double first_of(double const* x, int n); // not lifted, and reads n elements
[[gnu::weak]] double replaceable(double x);
double calls_native(double const* x, int n);
bool calls_each_type(int k, unsigned char byte, short s, float f);
double calls_absent(double x);
double complex_functions(double x, double y); // call those of the C library
double calls_with_structs(double x, int k);

// In a source that is not lifted.
double native_scaled(double x, int k);
void native_note(short k) noexcept;
unsigned char native_next(unsigned char byte) noexcept;
bool native_is_odd(long k) noexcept;
float native_half(float x) noexcept;
struct native_point {
  float x, y, z;
};
struct native_count {
  long sum, count;
};
native_point native_turned(native_point p, float by) noexcept;
native_count native_counted(native_count c) noexcept;
[[gnu::weak]] double native_absent(double x); // nowhere
template <class T>
T half(T x) {
  return x / 2;
}
} // namespace numerics
