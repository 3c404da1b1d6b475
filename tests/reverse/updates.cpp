// Gradients of loops that update loop-carried arrays: values, and costs.
#include "catch.hpp"
#include "contexts/executors.hpp"
#include "pass/laws.hpp"
#include "pass/random_program.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/overdub.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse.hpp>
#if OVERDUB_TESTS_JIT
#include <overdub/jit/jit.hpp>
#endif

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace overdub;
using strategy = checkpointing::strategy;

ir::program gradient_of(std::string const& text, checkpointing const& loops = {}) {
  ir::program p = ir::parse(text);
  ir::verify(p);
  std::vector<bool> asked;
  for (ir::value_id const v : p[p.entry].parameters())
    asked.push_back(p[p.entry].type_of(v).element == ir::scalar::f64);
  differentiate_entry(p, asked, true, {.calls = recursion::saved, .loops = loops});
  ir::verify(p);
  return p;
}

// Random loops over a row, a matrix and integers, whose iterations read and update them in loops, branches and whiles.
class random_updates {
public:
  explicit random_updates(std::uint64_t seed) : random_(seed) {}

  std::string make() {
    text_ = "entry @f\nfunc @f(%x: f64[], %c: f64[][], %b: i64[], %y: f64, %n: i64) -> f64 {\n";
    scope outer{.numbers = {"%y"}, .integers = {"%n"}, .arrays = {"%x", "%c", "%b"}};
    structure(outer, 0);
    statements(outer, 0, 2);
    std::string const all = sum_of(outer);
    line("return " + all);
    return text_ + "}\n";
  }

private:
  enum kind : std::size_t { row, matrix, whole };
  struct scope {
    std::vector<std::string> numbers, integers;
    std::string arrays[3]; // the newest versions
    std::vector<std::string> older = {};
  };
  static constexpr char const* types[] = {"f64[]", "f64[][]", "i64[]"};

  std::string name() { return "%v" + std::to_string(next_++); }
  void line(std::string const& what) { text_ += "  " + what + "\n"; }
  std::string add(std::string const& what) {
    std::string const made = name();
    line(made + " = " + what);
    return made;
  }
  std::string any(std::vector<std::string> const& of) {
    return random_.chance(50) ? of.back() : of[random_.below(of.size())];
  }
  std::string index(scope& s) {
    std::string const i = add("add " + any(s.integers) + ", " + std::to_string(random_.below(4)) + " : i64");
    return add("rem " + i + ", 4 : i64");
  }
  std::string number(scope& s) {
    std::string const a = any(s.numbers), b = any(s.numbers);
    std::string made;
    switch (random_.below(5)) {
    case 0:
      made = add("sin " + a + " : f64");
      break;
    case 1:
      made = add("mul " + add("sin " + a + " : f64") + ", " + b + " : f64");
      break;
    case 2:
      made = add("sub " + add("cos " + a + " : f64") + ", " + b + " : f64");
      break;
    default:
      made = read(s);
    }
    s.numbers.push_back(made);
    return made;
  }
  std::string read(scope& s) {
    if (random_.chance(40))
      return add("at " + s.arrays[matrix] + ", " + index(s) + ", " + index(s) + " : f64");
    bool const is_old = !s.older.empty() && random_.chance(10);
    std::string const from = is_old ? any(s.older) : s.arrays[row];
    return add("at " + from + ", " + index(s) + " : f64");
  }
  void update(scope& s) {
    switch (random_.below(5)) {
    case 0: {
      std::string const i = index(s);
      std::string const old = add("at " + s.arrays[whole] + ", " + i + " : i64");
      std::string const more = add("add " + old + ", " + any(s.integers) + " : i64");
      s.integers.push_back(old);
      s.arrays[whole] = add("update " + s.arrays[whole] + ", " + i + ", " + more + " : i64[]");
      return;
    }
    case 1: {
      std::string const x = number(s), i = index(s), j = index(s);
      s.arrays[matrix] = add("update " + s.arrays[matrix] + ", " + i + ", " + j + ", " + x + " : f64[][]");
      return;
    }
    case 2:
      s.arrays[matrix] =
          add("update " + s.arrays[matrix] + ", " + index(s) + ", " + s.arrays[row] + " : f64[][]");
      return;
    default: {
      std::string const x = number(s), i = index(s);
      s.older.push_back(s.arrays[row]);
      s.arrays[row] = add("update " + s.arrays[row] + ", " + i + ", " + x + " : f64[]");
    }
    }
  }
  std::string list(std::string const (&values)[4], std::vector<std::size_t> const& which) {
    std::string all;
    for (std::size_t const i : which) all += (all.empty() ? "" : ", ") + values[i];
    return all;
  }
  // A loop or branch that carries or yields some of the arrays, and a number.
  void structure(scope& s, int depth) {
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < 3; ++i)
      if (random_.chance(65)) which.push_back(i);
    which.push_back(3);
    std::string const type[] = {types[0], types[1], types[2], "f64"};
    std::string const before[] = {s.arrays[0], s.arrays[1], s.arrays[2], any(s.numbers)};
    std::string results, all_types, carried, again;
    std::string const made[] = {name(), name(), name(), name()};
    std::string inside[] = {name(), name(), name(), name()};
    std::string const asked[] = {name(), name(), name(), name()};
    for (std::size_t const i : which) {
      char const* const comma = results.empty() ? "" : ", ";
      results += comma + made[i];
      all_types += comma + type[i];
      carried += ", " + inside[i] + ": " + type[i] + " = " + before[i];
      again += ", " + asked[i] + ": " + type[i];
    }
    if (which.size() > 1) all_types = "(" + all_types + ")";
    scope inner = s;
    auto const body = [&](bool carries) {
      inner = s;
      if (carries) {
        for (std::size_t const i : which)
          if (i < 3) inner.arrays[i] = inside[i];
        inner.numbers.push_back(inside[3]);
        inner.older.clear();
      }
    };
    auto const yield = [&] {
      std::string const last[] = {inner.arrays[0], inner.arrays[1], inner.arrays[2], any(inner.numbers)};
      line("yield " + list(last, which));
    };
    switch (random_.below(5)) {
    case 0: { // a branch
      std::string const limit = add("sin " + any(s.numbers) + " : f64");
      std::string const condition = add("lt " + limit + ", 0.2 : bool");
      line(results + " = if " + condition + " -> " + all_types + " {");
      body(false);
      statements(inner, depth + 1, 2);
      yield();
      line("} else {");
      body(false);
      if (random_.chance(60)) statements(inner, depth + 1, 2);
      yield();
      line("}");
      break;
    }
    case 1: { // a while
      std::string const last = name(), i = name(), k = name();
      line(
          last + ", " + results + " = while (" + i + ": i64 = 0" + carried + ") -> (i64, " +
          (which.size() > 1 ? all_types.substr(1) : all_types + ")") + " {");
      line("yield " + add("lt " + i + ", " + std::to_string(random_.below(4)) + " : bool"));
      line("} do (" + k + ": i64" + again + ") {");
      std::copy(std::begin(asked), std::end(asked), std::begin(inside));
      body(true);
      inner.integers.push_back(k);
      statements(inner, depth + 1, 3);
      std::string const following = add("add " + k + ", 1 : i64");
      std::string const last_of[] = {inner.arrays[0], inner.arrays[1], inner.arrays[2], any(inner.numbers)};
      line("yield " + following + ", " + list(last_of, which));
      line("}");
      break;
    }
    default: {
      std::string const count = random_.chance(50) ? std::to_string(random_.below(5)) : index(s), i = name();
      line(
          results + " = loop " + (random_.chance(30) ? "reversed " : "") + count + " (" + i + ": i64" +
          carried + ") -> " + all_types + " {");
      body(true);
      inner.integers.push_back(i);
      statements(inner, depth + 1, 3);
      yield();
      line("}");
    }
    }
    for (std::size_t const i : which)
      if (i < 3)
        s.arrays[i] = made[i];
      else
        s.numbers.push_back(made[i]);
  }
  // Reads in a loop, or in a map.
  void reads(scope& s) {
    std::string const count = random_.chance(50) ? "3" : index(s), i = name(), sum = name(), made = name();
    if (random_.chance(30)) {
      line(made + " = map " + count + " (" + i + ": i64) -> f64 {");
      scope inner = s;
      inner.integers.push_back(i);
      line("yield " + add("sin " + read(inner) + " : f64"));
      line("}");
      s.numbers.push_back(add("reduce add " + made + " from 0.0 : f64"));
      return;
    }
    line(made + " = loop " + count + " (" + i + ": i64, " + sum + ": f64 = 0.0) -> f64 {");
    scope inner = s;
    inner.integers.push_back(i);
    auto const factor = [&] {
      return random_.chance(70) ? add("at " + s.arrays[row] + ", " + i + " : f64") : read(inner);
    };
    std::string const product = add("mul " + factor() + ", " + factor() + " : f64");
    line("yield " + add("add " + sum + ", " + product + " : f64"));
    line("}");
    s.numbers.push_back(made);
  }
  void statements(scope& s, int depth, std::uint32_t most) {
    if (random_.chance(60)) {
      reads(s);
      std::string const x = add("sin " + s.numbers.back() + " : f64"), i = index(s);
      s.arrays[row] = add("update " + s.arrays[row] + ", " + i + ", " + x + " : f64[]");
    }
    for (std::uint32_t i = random_.below(most) + 1; i > 0; --i) {
      std::uint32_t const what = random_.below(10);
      if (what < 3 && depth < 3)
        structure(s, depth);
      else if (what < 5)
        reads(s);
      else
        update(s);
    }
  }
  std::string sum_of(scope& s) {
    std::string sum = any(s.numbers);
    for (int i = 0; i < 4; ++i) {
      std::string const at = std::to_string(i), other = std::to_string((i + 1) % 4);
      std::string const x = add("at " + s.arrays[row] + ", " + at + " : f64");
      std::string const y = add("at " + s.arrays[matrix] + ", " + at + ", " + other + " : f64");
      sum = add(
          "add " + sum + ", " + add("mul " + add("sin " + x + " : f64") + ", " + y + " : f64") + " : f64");
    }
    return sum;
  }

  random_program::random_numbers random_;
  std::string text_;
  std::size_t next_ = 0;
};

// Random arguments of such programs, or random directions.
std::vector<datum> arguments_of(std::uint64_t seed) {
  random_program::random_numbers random(seed);
  auto const number = [&] { return random.below(1000) / 500.0 - 1; };
  auto const numbers = [&] { return array<double>{number(), number(), number(), number()}; };
  array<array<double>> const matrix{numbers(), numbers(), numbers(), numbers()};
  return {numbers(), matrix, array<i64>{i64{random.below(4)}, 1, 0, 3}, number(), i64{random.below(4)}};
}
double dot(datum const& a, datum const& b) {
  if (a.type() == ir::f64) return a.as<double>() * b.as<double>();
  double sum = 0;
  auto const x = a.elements<double>(), y = b.elements<double>();
  for (i64 i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}
// Compares up to the sign of zero.
bool are_equal(std::vector<datum> const& a, std::vector<datum> const& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (a[i].type() == ir::f64 && a[i].as<double>() == b[i].as<double>()) continue;
    if (a[i].type().rank == 0) return false;
    auto const x = a[i].elements<double>(), y = b[i].elements<double>();
    if (!std::equal(x.begin(), x.end(), y.begin(), y.end())) return false;
  }
  return true;
}
bool is_real(datum const& d) { return d.type().element == ir::scalar::f64; }

std::vector<checkpointing> storages() {
  return {
      {.kind = strategy::none, .bytes = 0},
      {.kind = strategy::logarithmic, .bytes = 0},
      {.kind = strategy::memory_limit, .bytes = 1},
      {.kind = strategy::memory_limit, .bytes = 2000}};
}

void check(std::uint64_t seed, std::uint64_t& restored) {
  std::string const text = random_updates(seed).make();
  INFO("seed " << seed << "\n" << text);
  std::vector<datum> const arguments = arguments_of(seed), directions = arguments_of(seed + 1);
  std::vector<datum> forwards;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    forwards.push_back(arguments[i]);
    if (is_real(arguments[i])) forwards.push_back(directions[i]);
  }
  ir::program const p = ir::parse(text);
  std::vector<datum> const along = executable(forward_of(p)).run(forwards);
  std::vector<datum> first;
  for (checkpointing const& loops : storages()) {
    ir::program g = gradient_of(text, loops);
    if (loops.kind == strategy::none)
      for (auto const& note : g.notes) restored += note.text.find("restores") != std::string::npos;
    std::vector<datum> const back = executable(g).run(arguments);
    REQUIRE(text_of(back[0]) == text_of(along[0]));
    double sum = 0, size = 1;
    std::size_t next = 1;
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (is_real(arguments[i])) {
        sum += dot(back[next++], directions[i]);
        size = std::max(size, std::abs(sum));
      }
    if (!std::isfinite(sum)) return;
    REQUIRE(sum == Approx(along[1].as<double>()).epsilon(1e-6).margin(1e-7 * size));
    pass::default_pipeline(g);
    REQUIRE(executable(g).run(arguments) == back);
    if (first.empty()) first = back;
    REQUIRE(are_equal(back, first));
#if OVERDUB_TESTS_JIT
    if (seed % 50 == 0) REQUIRE(jit::compile(g).run(arguments) == back);
#endif
  }
}

// Sanitizers take forty times as long.
constexpr std::uint64_t few_if_sanitized(std::uint64_t count) {
  return laws::seeds(count) < count ? count / 12 : count;
}

TEST_CASE("random loops that update arrays have the same derivative in forward and reverse mode") {
  char const* const asked = std::getenv("OVERDUB_PROGRAMS");
  std::uint64_t const count = asked == nullptr ? few_if_sanitized(300) : std::strtoull(asked, nullptr, 10);
  std::uint64_t restored = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) check(seed, restored);
  CHECK(restored > count / 4);
}

// The gradient is a program that updates arrays, too.
TEST_CASE("the gradients of random loops that update arrays can be differentiated") {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 1; seed <= few_if_sanitized(60); ++seed) {
    std::string const text = random_updates(seed).make();
    INFO("seed " << seed << "\n" << text);
    ir::program const g = gradient_of(text);
    std::vector<datum> const arguments = arguments_of(seed), directions = arguments_of(seed + 1);
    std::vector<datum> forwards, backwards = arguments;
    gradient_request wanted;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      wanted.inputs.push_back(is_real(arguments[i]));
      forwards.push_back(arguments[i]);
      if (is_real(arguments[i])) forwards.push_back(directions[i]);
    }
    std::vector<datum> const once = executable(g).run(arguments);
    for (std::size_t i = 0; i < once.size(); ++i) { // cotangents: the results themselves
      wanted.results.push_back(true);
      backwards.push_back(once[i]);
    }
    std::vector<datum> along;
    try {
      along = executable(forward_of(g)).run(forwards);
    } catch (evaluation_error const&) {
      continue; // its residuals are arrays of matrices
    }
    ++compared;
    ir::program again = g;
    again.entry = add_gradient(again, g.entry, wanted, {.calls = recursion::recomputed});
    ir::verify(again);
    std::vector<datum> const back = executable(again).run(backwards);
    double forward = 0, backward = 0, size = 1;
    for (std::size_t i = 0; i < once.size(); ++i) {
      forward += dot(along[2 * i + 1], once[i]);
      size = std::max(size, std::abs(forward));
    }
    std::size_t next = once.size();
    for (std::size_t i = 0; i < arguments.size(); ++i)
      if (is_real(arguments[i])) backward += dot(back[next++], directions[i]);
    if (std::isfinite(forward)) CHECK(backward == Approx(forward).epsilon(1e-6).margin(1e-7 * size));
  }
  CHECK(compared > few_if_sanitized(60) / 6);
}

// ---- costs

inline constexpr auto cholesky = fn<"cholesky">([](scope auto& cx, auto const& a, auto n) {
  auto const factor = cx(loop, n, a, [&](auto j, auto const& rows) {
    auto const s = cx(
        loop, j, rows[j * n + j], [&](auto k, auto sum) { return sum - rows[j * n + k] * rows[j * n + k]; });
    auto const d = overdub::sqrt(s);
    return cx(loop, n - j - 1, update(rows, j * n + j, d), [&](auto t, auto const& m) {
      auto const i = j + 1 + t;
      auto const v =
          cx(loop, j, m[i * n + j], [&](auto k, auto sum) { return sum - m[i * n + k] * m[j * n + k]; });
      return update(m, i * n + j, v / d);
    });
  });
  return cx(loop, n, cx.lift(0.0), [&](auto j, auto sum) { return sum + overdub::log(factor[j * n + j]); });
});
inline constexpr auto in_branches = fn<"in_branches">([](scope auto& cx, auto const& a, auto n) {
  auto const made = cx(loop, n, a, [&](auto i, auto const& rows) {
    return cx(loop, n, rows, [&](auto j, auto const& m) {
      auto const s = 0.5 - 0.1 * m[i * n] * m[j * n];
      auto const x = if_(
          j == i, [&] { return overdub::sqrt(s * s + 1.0); },
          [&] { return s / (1.0 + m[j * n + j] * m[j * n + j]); });
      return update(m, i * n + j, x);
    });
  });
  return made[n * n - 1];
});
inline constexpr auto updated_in_a_branch =
    fn<"updated_in_a_branch">([](scope auto& cx, auto const& a, auto n) {
      auto const made = cx(loop, n * n - 2, a, [&](auto t, auto const& m) {
        auto const s =
            cx(loop, i64{3}, cx.lift(0.0), [&](auto k, auto sum) { return sum + m[t + k] * m[t + k]; });
        return if_(
            s > 0.5,
            [&] { return update(update(m, t, 0.5 * overdub::sin(s)), t + 1, 0.5 * overdub::sin(s * m[t])); },
            [&] { return m; });
      });
      return sum(made);
    });

array<double> matrix_of(i64 n) {
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (i64 i = 0; i < n; ++i)
    for (i64 j = 0; j < n; ++j)
      a[static_cast<std::size_t>(i * n + j)] =
          std::exp(-0.01 * static_cast<double>((i - j) * (i - j))) + (i == j ? 0.5 : 0);
  return array<double>::copy_of(a);
}

// The residuals in numbers for each element of the array; and operations, relative to those of the function.
template <class F>
void check_growth(F const& f, double numbers, double operations) {
  for (i64 const n : {4, 8, 16, 32}) {
    array<double> const a = matrix_of(n);
    auto const pulled = pullback(f)(a, n);
    CHECK(static_cast<double>(pulled.second.bytes()) < numbers * sizeof(double) * static_cast<double>(n * n));
    contexts::count once, back;
    double const value = run(once, f, a, n);
    CHECK(value == pulled.first);
    (void)run(back, fn<"slopes">([](auto const& x, auto k) { return gradient<0>(F{})(x, k)[0]; }), a, n);
    CHECK(static_cast<double>(back.primitives) < operations * static_cast<double>(once.primitives));
  }
}
TEST_CASE("the memory and work of gradients of loops that update arrays grow with the work of the function") {
  check_growth(cholesky, 6, 8);
  check_growth(in_branches, 8, 8);
  check_growth(updated_in_a_branch, 8, 8);
}

template <class F>
void check_gradients(F const& f) {
  for (i64 const n : {2, 3, 7}) {
    array<double> const a = matrix_of(n);
    array<double> const expected = gradient<0>(f)(a, n);
    std::vector<double> x(static_cast<std::size_t>(n * n));
    for (std::size_t i = 0; i < x.size(); ++i) {
      auto const moved = [&](double by) {
        for (std::size_t k = 0; k < x.size(); ++k) x[k] = a[static_cast<i64>(k)] + (k == i ? by : 0.0);
        return f(array<double>::copy_of(x), n);
      };
      double const h = 1e-5;
      CHECK(expected[static_cast<i64>(i)] == Approx((moved(h) - moved(-h)) / (2 * h)).margin(1e-6));
    }
    for (compile_options const& o : executors()) {
      auto const check = [&](auto const& made) {
        CHECK(compile(compose(), made, signature<array<double>, i64>, o)(a, n) == expected);
      };
      check(gradient<0>(f));
      check(gradient<0>(f, save_logarithmic));
      check(gradient<0>(f, memory_limit<1>));
      check(gradient<0>(f, memory_limit<2'000>));
    }
  }
}
TEST_CASE("gradients of loops that update arrays agree with differences, and are the same with every "
          "executor and limit") {
  check_gradients(cholesky);
  check_gradients(in_branches);
  check_gradients(updated_in_a_branch);
}

TEST_CASE("explain says which arrays the reverse pass restores") {
  auto const made = compile(gradient<0>(cholesky), signature<array<double>, i64>);
  CHECK(explain(made).find("restores f64[] (loop-carried)") != std::string::npos);
}

// Rows whose length differs between iterations.
TEST_CASE("inner loops may save different numbers of residuals in each iteration") {
  ir::program const g = gradient_of(R"(entry @f
func @f(%x: f64[], %n: i64) -> f64 {
  %r = loop %n (%i: i64, %s: f64 = 0.5) -> f64 {
    %m = map %i (%j: i64) -> f64 {
      %a = at %x, %j : f64
      %b = mul %a, %s : f64
      %c = sin %b : f64
      yield %c
    }
    %t = loop %i (%k: i64, %u: f64 = %s) -> f64 {
      %d = at %m, %k : f64
      %e = mul %d, %u : f64
      %h = cos %e : f64
      yield %h
    }
    yield %t
  }
  return %r
}
)");
  std::vector<datum> const back =
      executable(g).run(std::vector<datum>{array<double>{0.3, 1.1, -0.4, 0.9}, i64{4}});
  auto const f = [](array<double> const& x) {
    double s = 0.5;
    for (i64 i = 0; i < 4; ++i) {
      double u = s;
      for (i64 k = 0; k < i; ++k) u = std::cos(std::sin(x[k] * s) * u);
      s = u;
    }
    return s;
  };
  CHECK(back[0].as<double>() == Approx(f({0.3, 1.1, -0.4, 0.9})));
  double const h = 1e-6;
  CHECK(
      back[1].elements<double>()[1] ==
      Approx((f({0.3, 1.1 + h, -0.4, 0.9}) - f({0.3, 1.1 - h, -0.4, 0.9})) / (2 * h)));
}

} // namespace
