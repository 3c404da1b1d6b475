#include "objects.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

double squares_of(int n) {
  std::vector<double> v;
  for (int i = 0; i < n; ++i) v.push_back(0.5 * i * i);
  double s = 0;
  for (double const x : v) s += x;
  return s;
}
double median(double* x, int n) {
  if (n == 0) return 0;
  std::vector<double> v(x, x + n);
  std::sort(v.begin(), v.end());
  for (int i = 0; i < n; ++i) x[i] = v[static_cast<std::size_t>(i)];
  return v[v.size() / 2];
}
double sum_of_range(double const* x, int n) { return std::accumulate(x, x + n, 0.0); }
long sieve(int n) {
  std::vector<char> composite(static_cast<std::size_t>(n + 1));
  std::vector<int> primes;
  for (int i = 2; i <= n; ++i) {
    if (composite[static_cast<std::size_t>(i)]) continue;
    primes.push_back(i);
    for (int k = 2 * i; k <= n; k += i) composite[static_cast<std::size_t>(k)] = 1;
  }
  return std::accumulate(primes.begin(), primes.end(), 0L);
}

namespace {

class matrix {
public:
  explicit matrix(int n) : n_(n), cells_(static_cast<std::size_t>(n * n)) {}
  matrix(double const* x, int n) : matrix(n) { std::copy(x, x + n * n, cells_.begin()); }
  double& operator()(int i, int j) { return cells_[static_cast<std::size_t>(i * n_ + j)]; }
  double operator()(int i, int j) const { return cells_[static_cast<std::size_t>(i * n_ + j)]; }
  int size() const { return n_; }

private:
  int n_;
  std::vector<double> cells_;
};
matrix operator*(matrix const& a, matrix const& b) {
  matrix c(a.size());
  for (int i = 0; i < a.size(); ++i)
    for (int j = 0; j < a.size(); ++j)
      for (int k = 0; k < a.size(); ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}

struct options {
  double rate;
  int steps;
};
double minimum_of(double x, options const& o) {
  for (int i = 0; i < o.steps; ++i) x -= o.rate * (2 * (x - 1) + std::cos(x));
  return x;
}

struct vector3 {
  double x, y, z;
};
vector3 cross(vector3 const& a, vector3 const& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
double dot(vector3 a, vector3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

struct branch {
  double value;
  std::unique_ptr<branch> left, right;
};
void insert(std::unique_ptr<branch>& at, double x) {
  if (!at) {
    at = std::make_unique<branch>();
    at->value = x;
  } else
    insert(x < at->value ? at->left : at->right, x);
}
double alternating(branch const* at, double sign) {
  if (!at) return 0;
  return alternating(at->left.get(), -sign) + sign * at->value + alternating(at->right.get(), -sign);
}

struct two {
  double first;
  int second;
};
two halves(double x, int n) { return n % 2 == 0 ? two{x / 2, n / 2} : two{x * 3, n - 1}; }

struct large {
  double cells[6];
  int count;
};
double change(large one, int k) {
  one.cells[k % 6] *= 2;
  one.count += k;
  return one.cells[k % 6] + one.count;
}

} // namespace

double product_of_matrices(double const* a, double const* b, int n) {
  matrix const c = matrix(a, n) * matrix(b, n) * matrix(a, n);
  double trace = 0;
  for (int i = 0; i < n; ++i) trace += c(i, n - 1 - i);
  return trace;
}
double determinant(double const* a, int n) {
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < n; ++i) {
    std::vector<double> row;
    for (int j = 0; j < n; ++j) row.push_back(a[i * n + j]);
    rows.push_back(row);
  }
  double result = 1;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < rows.size(); ++i)
      if (std::abs(rows[i][k]) > std::abs(rows[pivot][k])) pivot = i;
    if (pivot != k) {
      std::swap(rows[k], rows[pivot]);
      result = -result;
    }
    result *= rows[k][k];
    for (std::size_t i = k + 1; i < rows.size(); ++i) {
      double const factor = rows[i][k] / rows[k][k];
      for (std::size_t j = k; j < rows.size(); ++j) rows[i][j] -= factor * rows[k][j];
    }
  }
  return result;
}
double energy(body const* all, int n) {
  double e = 0;
  for (int i = 0; i < n; ++i) e += 0.5 * all[i].v * all[i].v + all[i].x * all[i].id;
  return e;
}
void advance(body* all, int n, double h) {
  for (body* b = all; b != all + n; ++b) {
    b->x += h * b->v;
    b->v -= h * b->x;
    b->id += b->x > 0;
  }
}
double simulate(double const* x, int n, int steps) {
  std::vector<body> all;
  for (int i = 0; i < n; ++i) all.push_back({x[i], 1 - x[i], i});
  for (int i = 0; i < steps; ++i) advance(all.data(), n, 0.1);
  body const copy = n > 0 ? all.back() : body{1, 2, 3};
  return energy(all.data(), n) + copy.x * copy.id;
}
double descend(double x, double rate, int steps) {
  options const o{rate, steps};
  return minimum_of(x, o);
}
double triple_product(double const* a) {
  vector3 const x{a[0], a[1], a[2]}, y{a[3], a[4], a[5]}, z{a[6], a[7], a[8]};
  return dot(cross(x, y), z) + dot(x, cross(y, cross(z, x)));
}
void push_front(node** list, double value) { *list = new node{value, *list}; }
double sum_of_list(node const* list) {
  double s = 0;
  for (; list; list = list->next) s = s / 2 + list->value;
  return s;
}
double list_sum(int n) {
  node* list = nullptr;
  for (int i = 0; i < n; ++i) push_front(&list, i * 0.25);
  double const s = sum_of_list(list);
  while (list) {
    node* const next = list->next;
    delete list;
    list = next;
  }
  return s;
}
double tree_sum(double const* x, int n) {
  std::unique_ptr<branch> root;
  for (int i = 0; i < n; ++i) insert(root, x[i]);
  return alternating(root.get(), 1);
}
double buffer(double const* x, int n) {
  double* const a = static_cast<double*>(std::malloc(static_cast<std::size_t>(n) * sizeof(double)));
  double* const b = static_cast<double*>(std::calloc(static_cast<std::size_t>(n) + 1, sizeof(double)));
  std::memcpy(a, x, static_cast<std::size_t>(n) * sizeof(double));
  for (int i = 0; i < n; ++i) b[i + 1] = b[i] + a[i];
  double const s = b[n];
  std::free(a);
  std::free(b);
  return s;
}
double of_array(double const* x) {
  std::array<double, 4> a{};
  std::copy(x, x + 4, a.begin());
  std::rotate(a.begin(), a.begin() + 1, a.end());
  return std::inner_product(a.begin(), a.end(), x, 0.0) + *std::max_element(a.begin(), a.end());
}
double pair_of_extremes(double const* x, int n) {
  std::pair<double, int> low{1e9, 0}, high{-1e9, 0};
  for (int i = 0; i < n; ++i) {
    low = std::min(low, std::pair(x[i], i));
    high = std::max(high, std::pair(x[i], i));
  }
  return high.first - low.first + high.second * 0.5 - low.second;
}
double complex_power(double a, double b, int n) {
  std::complex<double> z(1, 0);
  std::complex<double> const w(a, b);
  for (int i = 0; i < n; ++i)
    z = {z.real() * w.real() - z.imag() * w.imag(), z.real() * w.imag() + z.imag() * w.real()};
  return std::norm(z) + z.real();
}
double transformed(double const* x, int n, double a) {
  std::vector<double> y(static_cast<std::size_t>(n));
  int calls = 0;
  std::transform(x, x + n, y.begin(), [&calls, a](double v) { return a * v + ++calls; });
  return std::accumulate(y.begin(), y.end(), 0.0, [a](double s, double v) { return s * a + v; }) + calls;
}
long histogram(unsigned char const* text, int n) {
  std::array<int, 256> counts{};
  for (int i = 0; i < n; ++i) ++counts[text[i]];
  long h = 0;
  for (int const c : counts) h = h * 31 + c;
  return h;
}
double pascal(int n, int k) {
  std::vector<std::vector<double>> rows(static_cast<std::size_t>(n + 1));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].resize(i + 1, 1.0);
    for (std::size_t j = 1; j < i; ++j) rows[i][j] = rows[i - 1][j - 1] + rows[i - 1][j];
  }
  return rows.back().at(static_cast<std::size_t>(std::min(k, n)));
}
double unique_array(int n) {
  auto const p = std::make_unique<double[]>(static_cast<std::size_t>(n + 1));
  for (int i = 0; i <= n; ++i) p[static_cast<std::size_t>(i)] = std::sqrt(i);
  return p[static_cast<std::size_t>(n / 2)] + p[static_cast<std::size_t>(n)];
}
double tuple_of(double a, int n) {
  std::tuple<double, int, float> t{a, n, 2.5f};
  for (int i = 0; i < n; ++i) {
    std::get<0>(t) += static_cast<double>(std::get<2>(t));
    std::get<1>(t) -= 2;
  }
  auto const [x, y, z] = t;
  two const h = halves(x, y);
  return h.first * h.second + static_cast<double>(z);
}
float mixed(float x, short k, long n) {
  struct cell {
    float x;
    short k;
    bool is_odd;
    long n;
  };
  std::vector<cell> all(3, cell{x, k, k % 2 != 0, n});
  all[1].k = static_cast<short>(all[1].k * 7);
  all.insert(all.begin(), cell{2 * x, 3, true, n + 1});
  float s = 0;
  for (cell const& c : all) s += c.is_odd ? c.x : static_cast<float>(c.k) + static_cast<float>(c.n);
  return s;
}
double ring(int n, int steps) {
  std::vector<int> next(static_cast<std::size_t>(n + 1));
  std::iota(next.begin(), next.end(), 1);
  next.back() = 0;
  int at = 0;
  double s = 0;
  for (int i = 0; i < steps; ++i) {
    s += at;
    at = next[static_cast<std::size_t>(next[static_cast<std::size_t>(at)])];
  }
  return s;
}
double interpolated(double const* x, double const* y, int n, double at) {
  std::vector<std::pair<double, double>> points;
  points.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) points.emplace_back(x[i], y[i]);
  std::sort(points.begin(), points.end());
  auto const next =
      std::lower_bound(points.begin(), points.end(), at, [](std::pair<double, double> const& p, double v) {
        return p.first < v;
      });
  if (next == points.begin()) return n > 0 ? points.front().second : -1;
  if (next == points.end()) return points.back().second;
  auto const before = next - 1;
  return before->second +
         (next->second - before->second) * (at - before->first) / (next->first - before->first);
}
double checked(double x) {
  if (x < 0) throw std::runtime_error("it is negative");
  return std::sqrt(x);
}
double rows_of_pointers(double* x, int rows, int columns) {
  std::vector<double*> start;
  for (int i = 0; i < rows; ++i) start.push_back(x + i * columns);
  std::reverse(start.begin(), start.end());
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) start[static_cast<std::size_t>(i)][j] += i;
  return rows > 0 ? start[0][0] : 0;
}
double moved(int n) {
  std::vector<double> a(static_cast<std::size_t>(n), 1.5), b;
  b = std::move(a);
  a.assign(2, 0.25);
  b.insert(b.end(), a.begin(), a.end());
  b.erase(b.begin());
  b.resize(b.size() + 2, 7);
  b.pop_back();
  std::swap(a, b);
  double s = 0;
  for (std::size_t i = 0; i < a.size(); ++i) s += a[i] * static_cast<double>(i + 1);
  return s + static_cast<double>(b.size());
}
double reversed_words(int n) {
  struct word {
    char letters[5];
    unsigned char length;
  };
  std::vector<word> all;
  for (int i = 0; i < n; ++i) {
    word w{};
    w.length = static_cast<unsigned char>(1 + i % 5);
    for (int k = 0; k < w.length; ++k) w.letters[k] = static_cast<char>('a' + (i + k) % 26);
    all.push_back(w);
  }
  double h = 0;
  for (auto w = all.rbegin(); w != all.rend(); ++w)
    for (int k = 0; k < w->length; ++k) h = h * 1.01 + w->letters[k];
  return h;
}
void by_value(double* out, int n) {
  large one{{1, 2, 3, 4, 5, 6}, n};
  out[0] = change(one, n);
  out[1] = one.cells[n % 6] + one.count;
}
void sorted_by_key(double* x, int* key, int n) {
  std::vector<std::size_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(), [key](std::size_t a, std::size_t b) { return key[a] < key[b]; });
  std::vector<double> values;
  for (std::size_t const i : order) values.push_back(x[i]);
  std::copy(values.begin(), values.end(), x);
  std::sort(key, key + n);
}
double heap_order(double const* x, int n) {
  std::vector<double> heap;
  double s = 0;
  for (int i = 0; i < n; ++i) {
    heap.push_back(x[i]);
    std::push_heap(heap.begin(), heap.end());
    if (heap.size() > 3) {
      std::pop_heap(heap.begin(), heap.end());
      s = s * 0.5 + heap.back();
      heap.pop_back();
    }
  }
  return s;
}
double at_checked(int n, int k) {
  std::vector<double> v(static_cast<std::size_t>(n), 2.0);
  return v.at(static_cast<std::size_t>(k));
}
long strided_bytes(signed char* x, int n) {
  std::vector<signed char> copy(x, x + n);
  long s = 0;
  for (int i = 0; i < n; i += 2) {
    s += copy[static_cast<std::size_t>(i)];
    x[i] = static_cast<signed char>(x[i] * 3);
  }
  return s;
}
double zero_filled(int n) {
  body all[5];
  std::memset(all, 0, sizeof all);
  all[n % 5].id = n;
  all[(n + 1) % 5].x = 0.5;
  double s = 0;
  for (body const& b : all) s += b.x + b.v + b.id;
  return s;
}
double overlapping(int n, int k) {
  std::vector<int> v(static_cast<std::size_t>(n + k));
  std::iota(v.begin(), v.end(), 0);
  std::memmove(v.data() + k, v.data(), static_cast<std::size_t>(n) * sizeof(int));
  double s = 0;
  for (int const x : v) s = s * 1.5 + x;
  std::memmove(v.data(), v.data() + k, static_cast<std::size_t>(n) * sizeof(int));
  for (int const x : v) s = s * 1.5 + x;
  return s;
}
void fill_grid(grid* g, double x) {
  for (int i = 0; i < g->rows * g->columns; ++i) g->cells[i] = x + i;
}
grid* make_grid(int rows, int columns) {
  return new grid{rows, columns, new double[static_cast<std::size_t>(rows * columns)]};
}
void delete_grid(grid* g) {
  delete[] g->cells;
  delete g;
}

double bytes_to_number(unsigned char const* x, int n) {
  std::vector<unsigned char> bytes(x, x + n);
  std::vector<double> y(static_cast<std::size_t>(n / 8));
  std::memcpy(y.data(), bytes.data(), y.size() * sizeof(double));
  return y[0];
}
int bytes_of_number(double const* x, int n) {
  std::vector<double> y(x, x + n);
  unsigned char const* const bytes = reinterpret_cast<unsigned char const*>(y.data());
  int s = 0;
  for (int i = 0; i < n * 8; ++i) s = s * 3 + bytes[i];
  return s;
}
unsigned long number_as_integer(double const* x, int n) {
  std::vector<unsigned long> y(static_cast<std::size_t>(n));
  std::memcpy(y.data(), &x[0], y.size() * sizeof(double));
  return y[0];
}
int bytes_of_struct(double x, int k) {
  body b[2];
  std::memset(b, 0, sizeof b);
  b[k & 1].x = x;
  unsigned char const* const bytes = reinterpret_cast<unsigned char const*>(b);
  int s = 0;
  for (std::size_t i = 0; i < sizeof b; ++i) s = s * 3 + bytes[i];
  return s;
}
double written_bytewise(double x, int k) {
  std::vector<double> y(3, x);
  unsigned char* const bytes = reinterpret_cast<unsigned char*>(y.data());
  bytes[8 * (k & 1) + 7] = 1;
  return y[1];
}
double half_copied(double x, int k) {
  std::vector<double> y(3, x);
  std::vector<int> z(6, k);
  std::memcpy(reinterpret_cast<char*>(y.data()) + 4, z.data(), 4);
  return y[0] + y[1];
}
int bytes_of_integers(int* x, int n) {
  std::vector<unsigned char> bytes(static_cast<std::size_t>(n) * 4, 0);
  std::memcpy(bytes.data(), &x[0], bytes.size());
  int s = 0;
  for (unsigned char const b : bytes) s = s * 3 + b;
  return s;
}
double carried_as_bytes(double const* x, int n) {
  std::vector<char> bytes(static_cast<std::size_t>(n) * 8);
  std::memcpy(bytes.data(), &x[0], bytes.size());
  std::vector<double> y(static_cast<std::size_t>(n));
  std::memcpy(y.data(), bytes.data(), bytes.size());
  double s = 0;
  for (double const each : y) s = s * 0.5 + each;
  return s;
}
int filled(int n, int byte) {
  std::vector<int> v(static_cast<std::size_t>(n), 7);
  std::memset(v.data(), byte, static_cast<std::size_t>(n / 2) * sizeof(int));
  return std::accumulate(v.begin(), v.end(), 0, [](int s, int x) { return s / 2 ^ x; });
}

namespace {
struct place {
  int row, column;
};
struct step {
  short down, right;
  int is_last;
};
place moved_by(place p, step s) { return {p.row + s.down, p.column - s.right}; }
step next_of(step s) { return {static_cast<short>(s.right - 1), s.down, s.right < 0}; }
} // namespace

int walk_of_places(int n) {
  std::vector<place> all{{0, 0}};
  step s{2, -3, false};
  for (int i = 0; i < n; ++i) {
    all.push_back(moved_by(all.back(), s));
    s = next_of(s);
    if (s.is_last) all.front() = all.back();
  }
  int h = 0;
  for (place const p : all) h = h / 2 ^ (p.row * 8 + moved_by(p, s).column);
  return h;
}

namespace {
union number_or_integer {
  double number;
  long integer;
  short halves[4];
};
enum class color : int { red, green, blue };
struct tagged {
  color kind;
  number_or_integer value;
};
double value_of(tagged const& t) {
  return t.kind == color::red ? t.value.number : static_cast<double>(t.value.integer);
}
} // namespace

double tagged_values(double x, int n) {
  std::vector<tagged> all;
  for (int i = 0; i < n; ++i) {
    tagged t{};
    t.kind = i % 3 == 0 ? color::red : color::blue;
    if (i % 3 == 0)
      t.value.number = x * i;
    else
      t.value.integer = i * 7;
    all.push_back(t);
  }
  if (n > 2) {
    all[0].kind = color::green;
    all[0].value.integer = n;
    all[1] = all[2];
  }
  double s = 0;
  for (tagged const& t : all) s = s * 0.5 + value_of(t);
  return s;
}
double maybe(double x, int n) {
  std::vector<std::optional<double>> all(static_cast<std::size_t>(n));
  for (int i = 0; i < n; i += 2) all[static_cast<std::size_t>(i)] = x + i;
  double s = 0;
  for (std::optional<double> const& each : all) s = s * 0.5 + each.value_or(-1);
  return s;
}
long other_member(double x, int k) {
  std::vector<number_or_integer> all(2);
  all[0].number = x;
  all[1].integer = k;
  return all[static_cast<std::size_t>(k & 1)].integer;
}
double zero_by_other_member(int k) {
  number_or_integer all[2];
  all[k & 1].number = -0.0;
  all[k & 1].integer = 0;
  return 1 / all[k & 1].number;
}
void written_as_integers(double* x, int k) {
  std::vector<int> const parts(2, k);
  x[1] = 2;
  std::memcpy(x, parts.data(), sizeof *x);
}
int reused_block(int k) {
  void* const block = std::malloc(8);
  int* const to = static_cast<int*>(std::malloc(8));
  int* const parts = static_cast<int*>(block);
  parts[0] = 1;
  parts[1] = 2;
  int const first = parts[k & 1];
  *static_cast<long*>(block) = 0x500000006;
  std::memcpy(to, block, 8);
  int const r = to[0] * 10 + to[1] + 100 * first;
  std::free(to);
  std::free(block);
  return r;
}
int half_of_rewritten(int k) {
  std::vector<number_or_integer> all(2);
  all[0].halves[1] = 5;
  all[0].integer = k;
  all[0].halves[0] = 1;
  return all[0].halves[1];
}
int half_of_integer(int k, int n) {
  std::vector<number_or_integer> all(2);
  all[0].halves[1] = 5;
  if (n > 0) all[0].integer = k;
  return all[0].halves[1];
}

void copies_range(float* a, float const* b, int n) { std::copy(b, b + n, a); }
void copies_bytes(double* a, double const* b, int n) {
  std::memcpy(a, b, static_cast<std::size_t>(n) * sizeof(double));
}
void clears_bytes(double* x) { std::memset(x, 0, 2 * sizeof *x); }

struct with_constructor {
  explicit with_constructor(double x);
  double x;
  int k;
};
with_constructor::with_constructor(double v) : x(v), k(2) {} // one definition, and an alias
double made_by_constructor(double x) {
  with_constructor const made(x);
  return made.x * made.k;
}
// Heap memory whose pointers are followed to one block each.
double stages(double const* x, int n) {
  auto const size = static_cast<std::size_t>(n);
  std::vector<double> a(size), b(x, x + n);
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t i = 1; i < size; ++i) a[i] = 0.5 * b[i] + x[i - 1];
    for (std::size_t i = 0; i < size; ++i) b[i] += a[i];
  }
  return n > 0 ? b.back() : 0;
}
double rows_in_turn(double const* x, int rows, int columns) {
  double s = 0;
  for (int r = 0; r < rows; ++r) {
    double* const row = static_cast<double*>(std::malloc(static_cast<std::size_t>(columns) * sizeof(double)));
    for (int c = 0; c < columns; ++c) row[c] = x[r * columns + c] * (c + 1);
    for (int c = 0; c < columns; ++c) s = s * 0.5 + row[c];
    std::free(row);
  }
  return s;
}
// The block of an iteration is kept for the next one.
double kept_blocks(int n) {
  double* before = static_cast<double*>(std::calloc(1, sizeof(double)));
  for (int i = 0; i < n; ++i) {
    double* const now = static_cast<double*>(std::malloc(sizeof(double)));
    *now = *before + i;
    std::free(before);
    before = now;
  }
  double const s = *before;
  std::free(before);
  return s;
}
double maybe_null(double x, int n) {
  double* const p = n > 3 ? static_cast<double*>(std::malloc(sizeof(double))) : nullptr;
  if (p) *p = x;
  double const y = p != nullptr ? *p + 1 : -x;
  std::free(p);
  return y;
}

namespace {
struct padded {
  double a, b, c;
  int n;
};
double of_padded(padded p) {
  p.n++;
  return p.a * p.b * p.n;
}
struct mixed_array {
  double a[80];
  int n, m;
};
double of_large(mixed_array x) {
  x.n += x.m;
  return x.a[x.n] + x.a[79];
}
std::optional<double> some_of(int i) {
  if (i & 1) return i * 1.5;
  return {};
}
std::optional<int> some_integer(int i) {
  if (i & 1) return i;
  return {};
}
struct range {
  double const *begin, *end;
};
range range_of(double const* x, int n) { return {x, x + n}; }
double sum_of(range r) {
  double s = 0;
  for (double const* p = r.begin; p != r.end; ++p) s += *p;
  return s;
}
constexpr double thresholds[] = {0.5, 1, 2, 4};
} // namespace
double padded_by_value(double x, int k) {
  padded const p{x, 2, 3, k};
  return of_padded(p) + p.n;
}
double large_by_value(double x, int k) {
  mixed_array l{};
  l.a[79] = x;
  l.a[k & 7] = 2;
  l.n = k & 3;
  l.m = k & 4;
  return of_large(l) + l.n;
}
double empty_optional(int i) {
  auto const a = some_of(i);
  auto const b = some_integer(i / 2);
  return (a ? *a : -1) + 10 * b.value_or(7);
}
double range_by_value(double const* x, int n) { return sum_of(range_of(x, n)); }
int index_in_constant(double x) {
  double const* r = thresholds;
  while (r != thresholds + 4 && *r < x) ++r;
  return static_cast<int>(r - thresholds);
}
unsigned sum_or_zero(unsigned a, unsigned b) {
  unsigned sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? 0 : sum;
}
namespace {
struct counts_down {
  ~counts_down() { *left = *left - x; }
  double x = 1;
  double* left = nullptr;
};
struct has_virtual_destructor {
  virtual ~has_virtual_destructor() = default;
  virtual double value() const { return x; }
  double x = 2;
};
} // namespace
double array_of_destructed(int n) {
  double left = 100;
  counts_down* const all = new counts_down[static_cast<std::size_t>(n)];
  for (int i = 0; i < n; ++i) {
    all[i].x += i;
    all[i].left = &left;
  }
  delete[] all;
  return left;
}
double array_of_virtual(int n) {
  has_virtual_destructor* const all = new has_virtual_destructor[static_cast<std::size_t>(n)];
  double s = 0;
  for (int i = 0; i < n; ++i) {
    all[i].x *= i;
    s = 2 * s + all[i].value();
  }
  delete[] all;
  return s;
}
