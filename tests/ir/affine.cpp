// Numbers as affine functions of a counter: which operations keep them so, what their scales and offsets are, and that the equation holds
// modulo 2^64.
#include "catch.hpp"
#include "property.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/implementation/ir/affine.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/parse.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace overdub::ir;

// Numbers of a function of the counter %i and of the invariant %n and %m; %x is neither.
program of(std::string const& operations) {
  return parse("func @f(%i: i64, %n: i64, %m: i64, %x: i64) -> i64 {\n" + operations + "  return %at\n}\n");
}
std::optional<affine> form_of(function const& f, value_id v) {
  return affine_of(f, v, [&](value_id x) -> std::optional<affine> {
    if (x == f.parameters()[0]) return affine::counter();
    bool const is_invariant = x == f.parameters()[1] || x == f.parameters()[2];
    return is_invariant ? std::optional(affine::invariant(x)) : std::nullopt;
  });
}
// The form of the number that the function returns.
std::string form(std::string const& operations) {
  program const p = of(operations);
  function const& f = p[function_id{0}];
  auto const found = form_of(f, f.operand(f.yield_of(function::body), 0));
  return found ? text_of(*found, p, f) : "none";
}
// The same of one operation.
std::string form_of_operation(std::string const& text) { return form("  %at = " + text + " : i64\n"); }

// The value plus a literal that the function returns.
std::string sum(std::string const& operations) {
  program const p = of(operations);
  function const& f = p[function_id{0}];
  return text_of(affine{{}, plus_literal(f, f.operand(f.yield_of(function::body), 0))}, p, f);
}

// A chain of so many sums of the counter and ones.
std::string chain(int length) {
  std::string text = "  %t0 = add %i, 1 : i64\n";
  for (int t = 1; t < length; ++t)
    text += "  %t" + std::to_string(t) + " = add %t" + std::to_string(t - 1) + ", 1 : i64\n";
  return text + "  %at = add %t" + std::to_string(length - 1) + ", 0 : i64\n";
}

} // namespace

TEST_CASE("sums and differences add and subtract scales and offsets") {
  CHECK(form_of_operation("add %i, 1") == "counter + 1");
  CHECK(form_of_operation("add 1, %i") == "counter + 1");
  CHECK(form_of_operation("sub %i, 1") == "counter - 1");
  CHECK(form_of_operation("sub 1, %i") == "-1 * counter + 1");
  CHECK(form_of_operation("add %n, %i") == "counter + %n");
  CHECK(form_of_operation("sub %n, %i") == "-1 * counter + %n");
  CHECK(form_of_operation("add %i, %i") == "2 * counter");
  CHECK(form_of_operation("sub %i, %i") == "0");
  CHECK(form_of_operation("add %n, 2") == "%n + 2");
  CHECK(form_of_operation("sub 2, 5") == "-3");
  CHECK(form("  %a = add %i, %n : i64\n  %at = sub %a, 1 : i64\n") == "counter + %n - 1");
  CHECK(form("  %a = add %i, %i : i64\n  %at = sub %a, %i : i64\n") == "counter");
}

TEST_CASE("products with an invariant factor multiply scales and offsets") {
  CHECK(form_of_operation("mul %i, 3") == "3 * counter");
  CHECK(form_of_operation("mul 3, %i") == "3 * counter");
  CHECK(form_of_operation("mul %i, 0") == "0");
  CHECK(form_of_operation("mul %n, 0") == "0");
  CHECK(form_of_operation("mul %n, 1") == "%n");
  CHECK(form_of_operation("mul %i, %n") == "%n * counter");
  CHECK(form_of_operation("mul %i, %i") == "none");
  CHECK(form("  %a = add %i, 2 : i64\n  %at = mul %a, 5 : i64\n") == "5 * counter + 10");
  CHECK(form("  %a = add %i, 1 : i64\n  %at = mul %n, %a : i64\n") == "%n * counter + %n");
  CHECK(
      form("  %a = add %n, 2 : i64\n  %b = mul %i, %a : i64\n  %at = add %b, %i : i64\n") ==
      "(%n + 3) * counter");
}

TEST_CASE("a number that no value and no literal is by itself is computed") {
  CHECK(form_of_operation("add %n, %m") == "...");
  CHECK(form_of_operation("sub %i, %n") == "counter + ...");
  CHECK(form_of_operation("mul %n, 2") == "...");
  CHECK(form("  %a = add %i, %n : i64\n  %at = add %a, %m : i64\n") == "counter + ...");
  CHECK(form("  %a = mul %i, %n : i64\n  %at = mul %a, %m : i64\n") == "... * counter");
  CHECK(form("  %a = mul %n, %m : i64\n  %at = mul %a, 0 : i64\n") == "0");
}

TEST_CASE("quotients are invariant alone, by literals that are not zero") {
  CHECK(form_of_operation("div %n, 2") == "...");
  CHECK(form_of_operation("div %n, -1") == "...");
  CHECK(form_of_operation("div %n, 0") == "none");
  CHECK(form_of_operation("div %n, %m") == "none");
  CHECK(form_of_operation("div %i, 2") == "none");
}

TEST_CASE("other numbers and other operations have no form") {
  CHECK(form_of_operation("add %x, 0") == "none");
  CHECK(form_of_operation("add %i, %x") == "none");
  CHECK(form_of_operation("mul %x, 0") == "none");
  CHECK(form_of_operation("rem %i, 2") == "none");
  CHECK(form_of_operation("neg %n") == "none");
}

TEST_CASE("more than 64 operations have no form") {
  CHECK(form(chain(63)) == "counter + 63");
  CHECK(form(chain(64)) == "none");
}

TEST_CASE("literals are summed modulo 2^64") {
  std::string const far = "  %a = add %i, 9223372036854775807 : i64\n  %at = ";
  CHECK(form(far + "add %a, 1 : i64\n") == "counter - 9223372036854775808");
  CHECK(form(far + "mul %a, 2 : i64\n") == "2 * counter - 2");
}

TEST_CASE("a value plus literals is one plus their sum, and other values are themselves") {
  CHECK(sum("  %at = add %x, 3 : i64\n") == "%x + 3");
  CHECK(sum("  %at = add 3, %x : i64\n") == "%x + 3");
  CHECK(sum("  %a = sub %x, 3 : i64\n  %at = add %a, 1 : i64\n") == "%x - 2");
  CHECK(sum("  %a = add %x, %n : i64\n  %at = sub %a, 1 : i64\n") == "%a - 1");
  CHECK(sum("  %at = sub 1, %x : i64\n") == "%at");
  CHECK(sum("  %at = mul %x, 3 : i64\n") == "%at");
  CHECK(sum("  %at = add 2, 3 : i64\n") == "5");
  CHECK(sum(chain(64)) == "%at");
}

TEST_CASE("the equation holds modulo 2^64 in random functions") {
  property([] {
    program p;
    function_id const id = p.add("f", std::vector{i64, i64});
    p[id].results = {i64};
    p.entry = id;
    cursor c(p, id, function::body);
    std::vector<value_id> all{
        c->parameters()[0], c->parameters()[1], c.literal(any<std::int64_t>()), c.literal(std::int64_t{2})};
    for (int k = 0; k < 6; ++k) {
      op const code = *rc::gen::element(op::add, op::sub, op::mul);
      value_id const a = *rc::gen::elementOf(all), b = *rc::gen::elementOf(all);
      all.push_back(c.add(code, a, b));
    }
    c.yield(std::vector{all.back()});
    function const& f = p[id];
    auto const found = affine_of(f, all.back(), [&](value_id v) -> std::optional<affine> {
      if (v == f.parameters()[0]) return affine::counter();
      return v == f.parameters()[1] ? std::optional(affine::invariant(v)) : std::nullopt;
    });
    RC_PRE(found.has_value());
    overdub::executable const run(p);
    auto const at = [&](std::uint64_t i, std::int64_t n) {
      return static_cast<std::uint64_t>(run.call<std::int64_t>(static_cast<std::int64_t>(i), n));
    };
    std::uint64_t const i = static_cast<std::uint64_t>(any<std::int64_t>());
    std::int64_t const n = any<std::int64_t>();
    std::uint64_t const offset = at(0, n), scale = at(1, n) - offset;
    RC_ASSERT(at(i, n) == scale * i + offset);
    auto const is = [&](invariant_number const& number, std::uint64_t x) {
      std::uint64_t const value = number.value == nothing ? 0 : static_cast<std::uint64_t>(n);
      return number.is_computed || static_cast<std::uint64_t>(number.literal) + value == x;
    };
    RC_ASSERT(is(found->scale, scale));
    RC_ASSERT(is(found->offset, offset));
  });
}
