// Programs that call C++: host functions by name, and bound native functions.
#include "texts.hpp"

#include <overdub/overdub.hpp>
#include <overdub/stage/stage.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>

namespace {

using namespace overdub;
using texts::program;

constexpr auto calls_scale = R"(func @f(%x: f64[], %n: i64) -> (f64[], f64) {
  %y, %z = host pure "scale"(%x, %n) : f64[], f64
  return %y, %z
})";

constexpr auto positive = leaf<"positive">([](double x) {
  if (x < 0) throw std::domain_error("negative");
  return x;
});
constexpr auto root = fn<"root">([](auto x) { return overdub::sqrt(positive(x)); });
constexpr auto reversed = leaf<"reversed">([](array<double> const& xs) {
  std::vector<double> all(xs.begin(), xs.end());
  return array<double>::copy_of(std::vector<double>(all.rbegin(), all.rend()));
});
constexpr auto last = fn<"last">([](auto xs) { return reversed(xs)[0]; });

} // namespace

TEST_CASE("host functions take and return numbers, arrays and tuples of them") {
  hosts h;
  h.add("scale", [](array<double> const& x, i64 n) {
    std::vector<double> y;
    for (double const each : x) y.push_back(each * static_cast<double>(n));
    return std::tuple{array<double>::copy_of(y), 0.5};
  });
  CHECK(texts::outcome_of(executable(program(calls_scale), h), "[1.0, 2.0], 3") == "[3.0, 6.0], 0.5");
}

TEST_CASE("host functions may take any data") {
  hosts h;
  h.add("scale", [](std::span<datum const> all) { return std::vector<datum>{all[0], 1.5}; });
  CHECK(texts::outcome_of(executable(program(calls_scale), h), "[1.0], 3") == "[1.0], 1.5");
  h.add("scale", [](std::span<datum const> all) { return std::vector<datum>{all[0]}; });
  CHECK(
      texts::outcome_of(executable(program(calls_scale), h), "[1.0], 3") ==
      "overdub: what the host answered to a host function has another number or type than the program's "
      "call");
}

TEST_CASE("a host function that is missing, or has other types, is an error before the program runs") {
  CHECK_THROWS_WITH(
      executable(program(calls_scale)),
      Catch::Contains("calls the host function \"scale\"") && Catch::Contains("which was not given"));
  hosts h;
  h.add("scale", [](double x) { return x; });
  CHECK_THROWS_AS(executable(program(calls_scale), h), host_error);
}

TEST_CASE("an exception of a host function reaches the caller, and the instance can be called again") {
  hosts h;
  h.add("root", [](double x) {
    if (x < 0) throw std::domain_error("negative");
    return std::sqrt(x);
  });
  auto inst =
      executable(program("func @f(%x: f64) -> f64 { %y = host may_fail \"root\"(%x) : f64 return %y }"), h)
          .instance();
  CHECK(inst.call<double>(9.0) == 3.0);
  CHECK_THROWS_AS(inst.call<double>(-9.0), std::domain_error);
  CHECK(inst.call<double>(16.0) == 4.0);
}

TEST_CASE("a host function may call the executable that calls it, and not its instance") {
  auto const text = R"(func @f(%n: i64) -> i64 {
    %small = lt %n, 1 : bool
    %r = if %small -> i64 { yield 0 } else {
      %m = sub %n, 1 : i64
      %s = host ordered "again"(%m) : i64
      %t = add %s, %n : i64
      yield %t
    }
    return %r
  })";
  auto run = std::make_shared<std::optional<executable>>();
  hosts h;
  h.add("again", [weak = std::weak_ptr(run)](i64 n) { return (*weak.lock())->call<i64>(n); });
  run->emplace(program(text), h);
  CHECK((*run)->call<i64>(10) == 55);
  CHECK_THROWS_AS((*run)->call<i64>(10'000), stack_overflow);
  CHECK((*run)->call<i64>(4) == 10);

  auto inst = std::make_shared<std::optional<instance>>();
  h.add("again", [weak = std::weak_ptr(inst)](i64 n) { return (*weak.lock())->call<i64>(n); });
  inst->emplace(executable(program(text), h).instance());
  CHECK_THROWS_AS((*inst)->call<i64>(3), not_executable);
  CHECK((*inst)->call<i64>(0) == 0);
}

TEST_CASE("the host makes the random choices") {
  auto const text = R"(func @f(%n: i64) -> f64[] {
    %a = map %n (%i: i64) -> f64 { %x = sample "x"[%i] "normal"(0.0, 1.0) : f64 yield %x }
    return %a
  })";
  hosts h;
  h.on_sample([](sample_request const& asked) {
    return datum(static_cast<double>(asked.indices[0]) + asked.parameters[1].as<double>());
  });
  CHECK(texts::outcome_of(executable(program(text), h), "3") == "[1.0, 2.0, 3.0]");
  CHECK_THROWS_AS(executable(program(text)), not_executable);
}

TEST_CASE("a staged program is bound to its leaves") {
  executable const run(stage(root, signature<double>));
  CHECK(run.call<double>(9.0) == 3.0);
  CHECK_THROWS_AS(run.call<double>(-9.0), std::domain_error);
  CHECK(executable(stage(last, signature<array<double>>)).call<double>(std::vector{1.0, 2.0, 3.0}) == 3.0);
}

TEST_CASE("a host function replaces the program's own leaf of the same name") {
  hosts h;
  h.add("positive", [](double) { return 16.0; });
  CHECK(executable(stage(root, signature<double>), h).call<double>(-9.0) == 4.0);
}

TEST_CASE("after a failure, the handler has the exception, in nested protect operations too") {
  std::string seen;
  auto const note = [&] {
    try {
      if (std::current_exception()) throw;
      seen += "none;";
    } catch (std::exception const& e) {
      seen += std::string(e.what()) + ';';
    }
  };
  hosts h;
  h.add("note", note);
  h.add("note_data", [&](std::span<datum const>) {
    note();
    return std::vector<datum>();
  });
  h.add("fail", [](double x) -> double { throw std::domain_error(x > 1 ? "large" : "small"); });
  ir::program const p = program(R"(func @f(%x: f64) -> f64 {
    host ordered "note"()
    %a = protect -> f64 {
      %b = protect -> f64 {
        %c = host may_fail "fail"(%x) : f64
        yield %c
      } failed {
        host ordered "note"()
        %p = protect -> f64 {
          %q = div %x, 2.0 : f64
          yield %q
        } failed { yield }
        host ordered "note_data"()
        yield
      }
      yield %b
    } failed {
      host ordered "note"()
      yield
    }
    return %a
  })");
  auto const check = [&](executable const& run) {
    seen.clear();
    CHECK_THROWS_WITH(run.call<double>(2.0), "large");
    CHECK(seen == "none;large;large;large;");
    seen.clear();
    CHECK_THROWS_WITH(run.call<double>(0.5), "small");
    CHECK(seen == "none;small;small;small;");
  };
  check(executable(p, h));
#if OVERDUB_TESTS_JIT
  check(jit::compile(p, h));
#endif
}
