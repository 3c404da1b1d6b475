#include "pointers.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

// ---- pointers to functions

static double square(double x) { return x * x; }
static double half(double x) { return x / 2; }
static double plus_one(double x) { return x + 1; }

double by_table(int k, double x) {
  static double (*const table[])(double) = {square, half, plus_one};
  return table[k](x);
}
static double apply(double (*f)(double), double x) { return f(x); }
double by_parameter(int k, double x) {
  double (*f)(double) = k > 0 ? square : half;
  return apply(f, x) + apply(k > 1 ? half : plus_one, x);
}
double of_the_library(int k, double x) {
  double (*f)(double) = k == 0 ? static_cast<double (*)(double)>(std::sin)
                               : k == 1 ? static_cast<double (*)(double)>(std::exp) : square;
  return f(x);
}
static bool less(double a, double b) { return a < b; }
static bool greater(double a, double b) { return a > b; }
void sorted_by(double* x, int n, bool descending) { std::sort(x, x + n, descending ? greater : less); }

using step = double (*)(double, int);
static double next(step f, double x, int n) { return f(x, n); }
static double halve(double x, int n) { return n <= 0 ? x : next(halve, x / 2, n - 1); }
double recursive_by_pointer(double x, int n) { return next(halve, x, n); }

struct two {
  double a, b;
};
static two exchange(two p) { return {p.b, p.a}; }
static two doubled(two p) { return {2 * p.a, 2 * p.b}; }
double of_pairs(int k, double a, double b) {
  two (*f)(two) = k > 0 ? exchange : doubled;
  two const r = f({a, b});
  return r.a - 3 * r.b;
}
struct five {
  double v[5];
};
static five shifted(five x) {
  for (int i = 0; i < 4; ++i) x.v[i] = x.v[i + 1];
  return x;
}
static five same(five x) { return x; }
double of_large_structs(int k, double a) {
  five (*f)(five) = k > 0 ? shifted : same;
  five const b{{a, 2, 3, 4, 5}};
  five const r = f(b);
  return r.v[0] + 10 * r.v[4] + 100 * b.v[0];
}
int compared(int k) {
  double (*f)(double) = k > 0 ? square : k < 0 ? half : nullptr;
  return (f ? 1 : 0) + (f == half ? 2 : 0) + (f != square ? 4 : 0);
}
double of_none(int k, double x) {
  double (*f)(double) = k > 0 ? square : nullptr;
  return f(x); // undefined for k <= 0
}

// ---- virtual functions

namespace {

struct shape {
  virtual ~shape() = default;
  virtual double area() const = 0;
  virtual double scaled(double by) const { return by * area(); }
};
struct circle : shape {
  explicit circle(double r) : r(r) {}
  double area() const override { return 3 * r * r; }
  double r;
};
struct box : shape {
  explicit box(double a) : a(a) {}
  double area() const override { return a * a; }
  double scaled(double by) const override { return by * by * area(); }
  double a;
};
struct cube final : box {
  using box::box;
  double area() const override { return 6 * box::area(); }
};

struct left {
  virtual double first(double x) const { return x; }
  double p = 1;
};
struct right {
  virtual double second(double x) const { return 2 * x; }
  double q = 2;
};
struct both : left, right {
  double first(double x) const override { return x * q; }
  double second(double x) const override { return x * p + 1; }
};

struct base {
  virtual double value() const { return z; }
  double z = 3;
};
struct one : virtual base {
  double value() const override { return 2 * z; }
};
struct other : virtual base {
  double w = 5;
};
struct diamond : one, other {};

struct counted {
  counted() { n += number(); }
  virtual double number() const { return 1; }
  double n = 0;
};
struct counted_more : counted {
  counted_more() { n += 10 * number(); }
  double number() const override { return 2; }
};

struct visitor {
  virtual void visit(struct leaf const& l) = 0;
  virtual void visit(struct branch const& b) = 0;
};
struct tree {
  virtual ~tree() = default;
  virtual void accept(visitor& v) const = 0;
};
struct leaf : tree {
  explicit leaf(double x) : x(x) {}
  void accept(visitor& v) const override { v.visit(*this); }
  double x;
};
struct branch : tree {
  branch(std::unique_ptr<tree> l, std::unique_ptr<tree> r) : l(std::move(l)), r(std::move(r)) {}
  void accept(visitor& v) const override { v.visit(*this); }
  std::unique_ptr<tree> l, r;
};
struct summing final : visitor {
  void visit(leaf const& l) override { sum += ++depth * l.x, --depth; }
  void visit(branch const& b) override {
    ++depth;
    b.l->accept(*this);
    b.r->accept(*this);
    --depth;
  }
  double sum = 0;
  int depth = 0;
};
std::unique_ptr<tree> tree_of(int n, double x) {
  if (n <= 1) return std::make_unique<leaf>(x);
  return std::make_unique<branch>(tree_of(n / 2, x + 1), tree_of(n - n / 2, x - 1));
}

} // namespace

double areas(int n, double x) {
  std::vector<std::unique_ptr<shape>> all;
  for (int i = 0; i < n; ++i) {
    if (i % 3 == 0)
      all.push_back(std::make_unique<circle>(x + i));
    else if (i % 3 == 1)
      all.push_back(std::make_unique<box>(x - i));
    else
      all.push_back(std::make_unique<cube>(x));
  }
  double s = 0;
  for (auto const& p : all) s += p->scaled(0.5);
  return s;
}
double on_the_stack(double x) {
  circle const c(x);
  cube const q(x + 1);
  shape const* const all[] = {&c, &q};
  double s = 0;
  for (shape const* p : all) s += p->area();
  return s;
}
double of_both_bases(double x) {
  both b;
  b.q = x;
  left const& l = b;
  right const& r = b;
  return l.first(x) + r.second(x);
}
double of_virtual_bases(double x) {
  diamond d;
  d.z = x;
  one const& a = d;
  other const& b = d;
  base const& c = d;
  return a.value() + b.value() + 10 * c.value() + b.w;
}
double in_constructors(double x) {
  counted_more const c;
  counted const& b = c;
  return b.n + b.number() * x;
}
double overridden_twice(int k, double x) {
  box const b(x);
  cube const c(x);
  box const& chosen = k > 0 ? c : b;
  return chosen.scaled(3) + chosen.area();
}
double visited(int n, double x) {
  summing v;
  tree_of(n, x)->accept(v);
  return v.sum;
}

// ---- std::function

double by_function_object(int k, double x) {
  std::function<double(double)> f = [x](double y) { return x + y; };
  if (k > 0) f = [k](double y) { return k * y; };
  if (k > 3) f = square;
  return f(2) + f(x);
}
static double integrated(std::function<double(double)> const& f, double a, double b, int n) {
  double const h = (b - a) / n;
  double s = 0;
  for (int i = 0; i < n; ++i) s += f(a + (i + 0.5) * h) * h;
  return s;
}
double integral(double w, int n) {
  return integrated([w](double x) { return std::exp(-w * x); }, 0, 1, n);
}
double captured_by_reference(int n, double x) {
  double sum = 0;
  std::function<void(double)> const add = [&sum](double y) { sum += y; };
  for (int i = 0; i < n; ++i) add(x * i);
  return sum;
}
double large_capture(double x) {
  five const all{{x, 1, 2, 3, 4}};
  std::function<double(int)> const f = [all](int k) { return all.v[k]; };
  std::function<double(int)> const g = f;
  return g(0) + 10 * f(4);
}
double functions_in_vector(int n, double x) {
  std::vector<std::function<double(double)>> all;
  for (int i = 0; i < n; ++i) all.emplace_back([i](double y) { return y / 2 + i; });
  for (auto const& f : all) x = f(x);
  return x;
}
double empty_function(int k, double x) {
  std::function<double(double)> f;
  if (k > 0) f = half;
  return f(x); // throws std::bad_function_call for k <= 0
}

// ---- functions that are not lifted

double changes = 3;
struct odd : shape {
  double area() const override { return changes; }
};
double calls_refused(int k, double x) {
  odd const o;
  box const b(x);
  shape const& chosen = k > 0 ? static_cast<shape const&>(o) : b;
  return chosen.area();
}
struct unfinished {
  unfinished() { call(); }
  void call() { step(); }
  virtual void step() = 0;
};
struct finished : unfinished {
  void step() override {}
};
double calls_pure(double x) {
  finished const f; // undefined: its constructor calls a pure virtual function
  return x;
}
