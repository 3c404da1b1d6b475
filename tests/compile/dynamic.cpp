// Passes that depend on run-time data: they run once for each fingerprint, and read no other data.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/compile/scoped_global.hpp>
#include <overdub/ir/cursor.hpp>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

namespace od = overdub;
namespace ir = overdub::ir;
using od::i64;

int passes = 0; // how often the pass below ran

// Multiplies every literal by a number that is known at run time.
struct scaled : od::context {
  double by = 1;
  double unrelated = 0; // nothing depends on it
  double fingerprint() const { return by; }
  static void before_optimise(ir::program& p, double by) {
    ++passes;
    for (std::uint32_t f = 0; f < p.functions.size(); ++f)
      for (ir::cursor c(p, ir::function_id{f}); c.next();)
        for (std::uint32_t i = 0; i < c->operands_of(c.node()).size(); ++i)
          if (ir::value_id const v = c.operand(i); c->is_literal(v) && c->type_of(v) == ir::f64)
            c.set_operand(c.node(), i, c.literal(by * std::bit_cast<double>(c->bits_of(v))));
  }
};

inline constexpr auto shifted = od::fn<"shifted">([](auto x) { return x + 1.0; });

// Erases the yield of the function.
struct breaking : od::context {
  static void before_optimise(ir::program& p) {
    ir::cursor c(p, p.entry);
    c.erase(p[p.entry].yield_of(ir::function::body));
  }
};
struct throwing : od::context {
  static inline int tried = 0;
  int key = 0;
  int fingerprint() const { return key; }
  static void before_optimise(ir::program&, int) {
    ++tried;
    throw std::runtime_error("no");
  }
};

struct throws_number : od::context {
  static void after_optimise(ir::program&) { throw 42; }
};
struct refused_program : od::pass_error {
  using pass_error::pass_error;
};
struct refusing : od::context {
  static void after_inference(ir::program const&) { throw refused_program(od::message("not this one"), {}); }
};
struct starving : od::context {
  static void before_optimise(ir::program&) { throw std::bad_alloc(); }
};

// A rule that reads data: staging reconstructs the context from its fingerprint.
struct powers : od::context {
  int exponent = 1;
  int secret = 0;
  explicit powers(int e) : exponent(e) {}
  int fingerprint() const { return exponent; }
  auto overdub(od::add_t, auto x, auto y) {
    auto r = x + y + static_cast<double>(secret);
    auto p = r;
    for (int i = 1; i < exponent; ++i) p = p * r;
    return p;
  }
};

} // namespace

TEST_CASE("a pass runs once for each fingerprint, and later runs use the cached program") {
  scaled c;
  passes = 0;
  CHECK(od::run(c, shifted, 1.0) == 2.0);
  CHECK(passes == 1);
  c.unrelated = 5;
  CHECK(od::run(c, shifted, 2.0) == 3.0);
  scaled other;
  CHECK(od::run(other, shifted, 2.0) == 3.0);
  CHECK(passes == 1);
  c.by = 10;
  CHECK(od::run(c, shifted, 1.0) == 11.0);
  CHECK(passes == 2);
  for (int i = 0; i < 10; ++i) {
    c.by = i % 2 == 0 ? 1 : 10;
    CHECK(od::run(c, shifted, 1.0) == 1.0 + c.by);
  }
  CHECK(passes == 2);
  c.by = 0.0;
  CHECK(1 / od::run(c, shifted, -0.0) > 0);
  c.by = -0.0; // equal to 0.0, with other bits
  CHECK(1 / od::run(c, shifted, -0.0) < 0);
}

TEST_CASE("a compiled function keeps its program if the data of its context change") {
  scaled c;
  c.by = 3;
  auto const f = od::compile(c, shifted, od::signature<double>);
  c.by = 4;
  CHECK(f(1.0) == 4.0);
  CHECK(od::compile(c, shifted, od::signature<double>)(1.0) == 5.0);
}

TEST_CASE(
    "contexts of rules that read data are rebuilt from the fingerprint, so that programs use nothing else") {
  powers two(2), leaking(2);
  leaking.secret = 100;
  CHECK(od::run(leaking, shifted, 1.0) == 4.0);
  CHECK(od::run(two, shifted, 1.0) == 4.0);
  powers three(3);
  CHECK(od::run(three, shifted, 1.0) == 8.0);
  CHECK(od::run(two, shifted, 1.0) == 4.0);
}

TEST_CASE("an error of an invalid program names the pass, and has the program that it made") {
  breaking c;
  try {
    (void)od::run(c, shifted, 1.0);
    FAIL();
  } catch (od::pass_error const& e) {
    CHECK_THAT(e.what(), Catch::Contains("before_optimise of") && Catch::Contains("breaking"));
    CHECK_THAT(e.program, Catch::Contains("func @shifted"));
  }
}

TEST_CASE(
    "an error of a pass that throws names the function and its argument types, and no entry is stored") {
  throwing c;
  throwing::tried = 0;
  try {
    (void)od::run(c, shifted, 1.0);
    FAIL();
  } catch (od::pass_error const& e) {
    CHECK(
        std::string(e.what()) == "overdub: before_optimise of the context throwing threw, as shifted(double) "
                                 "was compiled: no");
    CHECK_THROWS_AS(std::rethrow_if_nested(e), std::runtime_error);
  }
  CHECK_THROWS_AS(od::run(c, shifted, 1.0), od::pass_error);
  CHECK(throwing::tried == 2);
}

TEST_CASE("exceptions of other types are named, too, for arrays and integers, and in a scoped_global") {
  throws_number c;
  auto const at = od::fn<"at">([](auto x, auto i) { return x[i]; });
  auto const compiled = [&] { (void)od::compile(c, at, od::signature<od::array<double>, od::i64>); };
  CHECK_THROWS_WITH(
      compiled(), "overdub: after_optimise of the context throws_number threw, as at(array<double>, i64) was "
                  "compiled: an exception that is no std::exception");
  auto const plain = od::compile(od::compose(), at, od::signature<od::array<double>, od::i64>);
  od::scoped_global const all(c);
  CHECK_THROWS_WITH(plain(od::array<double>{1.0}, 0), Catch::Contains("at(array<double>, i64)"));
}

TEST_CASE("a pass_error of a pass, and std::bad_alloc, reach the caller unchanged") {
  refusing c;
  CHECK_THROWS_AS(od::run(c, shifted, 1.0), refused_program);
  starving d;
  CHECK_THROWS_AS(od::run(d, shifted, 1.0), std::bad_alloc);
}

TEST_CASE("in a composition the passes of the outer context run first") {
  scaled c;
  c.by = 2;
  powers p(2);
  CHECK(od::run(od::compose(c, p), shifted, 1.0) == 9.0);
}

TEST_CASE("explain lists the steps, and the program before and after each pass") {
  scaled c;
  c.by = 7;
  std::string const text = explain(od::compile(c, shifted, od::signature<double>));
  CHECK_THAT(text, Catch::Contains("stage: 0 -> "));
  CHECK_THAT(text, Catch::Contains("after before_optimise of"));
  CHECK_THAT(text, Catch::Contains("add %0, 1.0") && Catch::Contains("add %0, 7.0"));
}

namespace {

double leaked = 2; // not in the fingerprint
struct lying : od::context {
  int shape = 0;
  int fingerprint() const { return shape; }
  static void before_optimise(ir::program& p, int) { scaled::before_optimise(p, leaked); }
  static void options(od::compile_options& o) { o.check_fingerprints = true; }
};

} // namespace

TEST_CASE("check_fingerprints detects data outside of the fingerprint, and shows the differing operations") {
  lying c;
  leaked = 2;
  CHECK(od::run(c, shifted, 1.0) == 3.0);
  CHECK(od::run(c, shifted, 2.0) == 4.0);
  leaked = 5;
  CHECK_THROWS_AS(od::run(c, shifted, 1.0), od::fingerprint_error);
  CHECK_THROWS_WITH(
      od::compile(c, shifted, od::signature<double>),
      Catch::Contains("add %0, 2.0 : f64") && Catch::Contains("add %0, 5.0 : f64"));
  leaked = 2;
  CHECK(od::run(c, shifted, 1.0) == 3.0);
}

namespace {

struct checked_scaled : scaled {
  static void options(od::compile_options& o) { o.check_fingerprints = true; }
};

} // namespace

TEST_CASE("a cached program equals a new one, for many fingerprints in any order") {
  checked_scaled c;
  for (int i = 0; i < 200; ++i) {
    c.by = static_cast<double>((i * 7) % 31);
    CHECK(od::run(c, shifted, 1.0) == 1.0 + c.by); // compares the programs
  }
}

TEST_CASE("a composition rejects the same context object twice") {
  scaled c;
  CHECK_THROWS_WITH(
      od::compile(od::compose(c, c), shifted, od::signature<double>),
      Catch::Contains("one context is given twice"));
}
