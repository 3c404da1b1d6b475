// Functions that are not lifted.
#include <cstddef>

struct point {
  double x;
  int y;
};
struct shape {
  virtual double area() const;
};
extern double changes;
extern double unknown(double const* x);
double const* middle(double const* x, long n) { return x + n / 2; }

double calls_unknown(double x) { return unknown(&x) + 1; }
double calls_refused(double x) { return calls_unknown(x); }
double calls_pointer(double (*f)(double), double x) { return f(x); }
double calls_virtual(shape const& s) { return s.area(); }
double reads_global(double x) { return x + changes; }
double reads_fields(point const* p) { return p->x + p->y; }
double two_arrays(double const* a, double const* b, bool first) {
  double const* p = first ? a : b;
  double s = 0;
  for (int i = 0; i < 3; ++i) s += p[i];
  return s;
}
double compares_pointers(double const* begin, double const* end) {
  double s = 0;
  for (; begin != end; ++begin) s += *begin;
  return s;
}
double pointers_in_memory(double const* const* rows) { return rows[1][2]; }
double tests_null(double const* x) { return x == nullptr ? 0 : x[0]; }
double variable_size(int n) {
  double t[n];
  for (int i = 0; i < n; ++i) t[i] = i;
  return t[n / 2];
}
void endless(int* x) {
  while (true) *x = *x + 1;
}
long double wide(double x) { return x; }
void both_written(double* a, double* b) {
  a[0] += 1;
  b[0] += 2;
}
void one_array_twice(double* a) { both_written(a, a); }
double reads_volatile(double volatile* x) { return *x; }
double* allocates(std::size_t n) { return new double[n]; }
long address(double const* x) { return reinterpret_cast<long>(x); }
int varied(int n, ...) { return n; }
double two_types(double* x) { return *x + *reinterpret_cast<long*>(x); }
union number {
  double real;
  long bits;
};
long bits_of(number* n, double x) {
  n->real = x;
  return n->bits;
}
double catches(double x) {
  try {
    return unknown(&x);
  } catch (int) {
    return 0;
  }
}
struct packed {
  char first;
  double second;
} __attribute__((packed));
double reads_packed(packed const* p) { return p->second + p->first; }
int adds_one(int x) { return x + 1; }
int (*function_of(int k))(int) { return k > 0 ? adds_one : nullptr; }
union address_or_number {
  double* address;
  long number;
};
long address_of_union(address_or_number* u, double* x) {
  u->address = x;
  return u->number;
}
static double const steps[] = {1, 2};
void stores_address(long* x) { x[0] = reinterpret_cast<long>(&steps); }
long returns_address() { return reinterpret_cast<long>(&steps); }
long selects_address(int k) { return k > 0 ? reinterpret_cast<long>(&steps) : k; }
static long twice(long x) { return 2 * x; }
long passes_address() { return twice(reinterpret_cast<long>(&steps)); }
int depth(int k) {
  if (k > 10) throw k;
  return k == 0 ? 0 : 1 + depth(k - 1);
}
int catches_of_recursion(int k) {
  try {
    return depth(k);
  } catch (int) {
    return -5;
  }
}
double throws_again(double x) {
  try {
    try {
      if (x < 0) throw 1;
    } catch (int) {
      throw;
    }
  } catch (int) {
    return -5;
  }
  return x;
}
double catches_pointer(double x) {
  try {
    if (x < 0) throw "negative";
  } catch (char const*) {
    return -5;
  }
  return x;
}
struct counted {
  double* count;
  ~counted() { *count = 0; }
};
double destroys(double x) {
  double count = 1;
  try {
    if (x < 0) throw counted{&count};
  } catch (counted const&) {
    count += 1;
  }
  return count;
}
struct round : shape {
  double r = 1;
};
double casts(shape* s) {
  round* const r = dynamic_cast<round*>(s);
  return r ? r->r : 0;
}
double by_member(shape const* s, bool first) {
  double (shape::*f)() const = first ? &shape::area : nullptr;
  return f ? (s->*f)() : 0;
}
