// Type inference: operands and results of every operation.
#include "catch.hpp"
#include "ir/samples.hpp"

#include <overdub/ir/infer.hpp>
#include <overdub/ir/type_text.hpp>

#include <string>

namespace {

using namespace samples;

constexpr type f32s = f32.array_of(), bools = boolean.array_of(), f64ss = f64s.array_of();
constexpr type acc = f64ss.accumulator();

// The types of the results as text, or the error.
struct asked {
  program p;
  std::string operator()(op code, types const& operands, attributes const& a = {}, types results = {}) const {
    std::string why;
    if (!infer(p, code, operands, a, results, why)) return why;
    std::string text;
    for (type const t : results) text.append(text.empty() ? "" : ", ").append(text_of(p, t));
    return text;
  }
};
asked const ask;

} // namespace

TEST_CASE(
    "every elementwise operation infers a type for fitting operands, and rejects a wrong number of them") {
  for (std::size_t i = 0; i < op_count; ++i) {
    op const code = static_cast<op>(i);
    if (!is_elementwise(code)) continue;
    INFO(name_of(code));
    std::uint32_t const n = row_of(code).least;
    types operands(n, f64);
    switch (row_of(code).types) {
    case type_rule::integer:
      operands.assign(n, i64);
      break;
    case type_rule::logical:
      operands.assign(n, boolean);
      break;
    case type_rule::select:
      operands[0] = boolean;
      break;
    case type_rule::integer_floating:
      operands[0] = i64;
      break;
    case type_rule::floating_integer:
      operands[1] = i64;
      break;
    default:
      break;
    }
    std::string const found = ask(code, operands);
    CHECK((found == "f64" || found == "i64" || found == "bool"));
    types more = operands;
    more.push_back(f64);
    CHECK_THAT(ask(code, more), Catch::Matchers::Contains(", and is given " + std::to_string(n + 1)));
    CHECK_THAT(ask(code, types(n, f64s)), Catch::Matchers::Contains("operand 1 is f64[], and must be"));
  }
}

TEST_CASE("operands of one numeric type have a result of that type; others are rejected with their types") {
  CHECK(ask(op::add, {f32, f32}) == "f32");
  CHECK(ask(op::add, {i64, i64}) == "i64");
  CHECK(ask(op::add, {f32, f64}) == "add: operand 2 is f64, and must be f32 like operand 1");
  CHECK(ask(op::add, {boolean, boolean}) == "add: operand 1 is bool, and must be a number");
  CHECK(ask(op::sin, {i64}) == "sin: operand 1 is i64, and must be f32 or f64");
  CHECK(ask(op::lt, {boolean, boolean}) == "bool");
  CHECK(ask(op::lt, {key, key}) == "lt: operand 1 is key, and must be a number or bool");
  CHECK(ask(op::rem, {f64, f64}) == "rem: operand 1 is f64, and must be i64");
  CHECK(ask(op::ldexp, {f32, i64}) == "f32");
  CHECK(ask(op::polygamma, {i64, f32}) == "f32");
  CHECK(ask(op::ldexp, {f32, f32}) == "ldexp: operand 2 is f32, and must be i64");
}

TEST_CASE("select accepts any two values of one type, except accumulators") {
  CHECK(ask(op::select, {boolean, f64s, f64s}) == "f64[]");
  CHECK(ask(op::select, {boolean, key, key}) == "key");
  CHECK(
      ask(op::select, {boolean, f64s, f32s}) ==
      "select: operand 3 is f32[], and must be f64[] like operand 2");
  CHECK(ask(op::select, {i64, f64, f64}) == "select: operand 1 is i64, and must be bool");
  CHECK(
      ask(op::select, {boolean, acc, acc}) == "select: operand 2 is acc f64[][], and must be no accumulator");
}

TEST_CASE("conversions are between numbers and bool") {
  CHECK(ask(op::convert, {f64}, {}, {i64}) == "i64");
  CHECK(ask(op::convert, {boolean}, {}, {f32}) == "f32");
  CHECK(ask(op::convert, {f64s}, {}, {f64}) == "convert: operand 1 is f64[], and must be a number or bool");
  CHECK(ask(op::convert, {f64}, {}, {f64s}) == "convert: returns one number or bool");
  CHECK(ask(op::convert, {f64}) == "convert: returns one number or bool");
}

TEST_CASE("arrays are made from values of one type, and an empty array has an explicit type") {
  CHECK(ask(op::array, {f64, f64}) == "f64[]");
  CHECK(ask(op::array, {f64s}) == "f64[][]");
  CHECK(ask(op::array, {f64, f32}) == "array: operand 2 is f32, and must be f64 like operand 1");
  CHECK(ask(op::array, {}, {}, {f64ss}) == "f64[][]");
  CHECK(ask(op::array, {}) == "array: without elements, its type must be an array");
  CHECK(ask(op::array, {}, {}, {f64}) == "array: without elements, its type must be an array");
  CHECK(ask(op::array, {acc}) == "array: operand 1 is acc f64[][], and must be no accumulator");
}

TEST_CASE("an array has at most 127 axes") {
  type deep = f64;
  deep.rank = max_rank;
  CHECK(ask(op::array, {deep}) == "array: an array of more than 127 axes");
  CHECK(ask(op::fill, {i64, deep}) == "fill: an array of more than 127 axes");
  deep.rank = max_rank - 1;
  CHECK_THAT(ask(op::array, {deep}), Catch::Matchers::EndsWith("[][]"));
  CHECK(deep.array_of().rank == max_rank);
  CHECK_THROWS_WITH(deep.array_of().array_of(), "overdub: an array has at most 127 axes");
}

TEST_CASE("indices select parts, starting with the leading axis") {
  CHECK(ask(op::at, {f64ss, i64}) == "f64[]");
  CHECK(ask(op::at, {f64ss, i64, i64}) == "f64");
  CHECK(ask(op::at, {f64s, i64, i64}) == "at: 2 indices into an array of rank 1");
  CHECK(ask(op::at, {f64s, f64}) == "at: operand 2 is f64, and must be i64");
  CHECK(ask(op::at, {f64, i64}) == "at: operand 1 is f64, and must be an array");
  CHECK(ask(op::at, {acc, i64}) == "at: operand 1 is acc f64[][], and must be an array");
  CHECK(ask(op::at, {f64s}) == "at: takes at least 2 operands, and is given 1");
  CHECK(ask(op::slice, {f64ss, i64, i64}) == "f64[][]");
  CHECK(ask(op::slice, {f64s, i64, f64}) == "slice: operand 3 is f64, and must be i64");
  CHECK(ask(op::update, {f64ss, i64, f64s}) == "f64[][]");
  CHECK(ask(op::update, {f64ss, i64, i64, f64}) == "f64[][]");
  CHECK(ask(op::update, {f64ss, i64, f64}) == "update: operand 3 is f64, and must be f64[]");
  CHECK(ask(op::update, {f64s, boolean, f64}) == "update: operand 2 is bool, and must be i64");
  CHECK(ask(op::update, {f64s, i64, i64, f64}) == "update: 2 indices into an array of rank 1");
  CHECK(ask(op::gather, {f64ss, i64s}) == "f64[][]");
  CHECK(ask(op::gather, {f64s, f64s}) == "gather: operand 2 is f64[], and must be i64[]");
}

TEST_CASE("arrays are made from sizes and values, and can be concatenated and copied") {
  CHECK(ask(op::fill, {i64, f64s}) == "f64[][]");
  CHECK(ask(op::fill, {f64, f64}) == "fill: operand 1 is f64, and must be i64");
  CHECK(ask(op::iota, {i64}) == "i64[]");
  CHECK(ask(op::iota, {f64}) == "iota: operand 1 is f64, and must be i64");
  CHECK(ask(op::concat, {bools, bools, bools}) == "bool[]");
  CHECK(ask(op::concat, {f64s, f32s}) == "concat: operand 2 is f32[], and must be f64[] like operand 1");
  CHECK(ask(op::copy, {f64s}) == "f64[]");
  CHECK(ask(op::copy, {f64}) == "copy: operand 1 is f64, and must be an array");
  CHECK(ask(op::length, {f64s, i64s}) == "i64");
  CHECK(ask(op::length, {f64}) == "length: operand 1 is f64, and must be an array");
}

TEST_CASE("reductions return an element of each array, and combine by an operation on one array only") {
  std::uint8_t const started = attributes::started;
  CHECK(ask(op::reduce, {f64s}, attributes::of(op::add)) == "f64");
  CHECK(ask(op::reduce, {f64s, f64}, {.operation = op::add, .flags = started}) == "f64");
  CHECK(ask(op::reduce, {f64s, i64s}) == "f64, i64");
  CHECK(ask(op::reduce, {f64ss}) == "f64[]");
  CHECK(ask(op::reduce, {bools}, attributes::of(op::logical_or)) == "bool");
  CHECK(ask(op::reduce, {f64}) == "reduce: operand 1 is f64, and must be an array");
  CHECK(ask(op::reduce, {f64s, i64}, {.flags = started}) == "reduce: operand 2 is i64, and must be f64");
  CHECK(ask(op::reduce, {f64s}, {.flags = started}) == "reduce: as many initial values are needed as arrays");
  CHECK(
      ask(op::reduce, {f64s, f64s}, attributes::of(op::add)) ==
      "reduce: an operation combines the elements of one array; several need a region");
  CHECK(ask(op::reduce, {f64s}, attributes::of(op::lt)) == "reduce: lt does not combine two f64");
  CHECK(ask(op::reduce, {f64s}, attributes::of(op::sin)) == "reduce: sin does not combine two f64");
  CHECK(ask(op::reduce, {f64s}, attributes::of(op::at)) == "reduce: at does not combine two f64");
  CHECK(ask(op::reduce, {f64ss}, attributes::of(op::add)) == "reduce: add does not combine two f64[]");
}

TEST_CASE("control primitives take conditions and trip counts") {
  CHECK(ask(op::if_, {f64}) == "if: operand 1 is f64, and must be bool");
  CHECK(ask(op::loop, {f64, f64}) == "loop: operand 1 is f64, and must be i64");
  CHECK(ask(op::map, {boolean}) == "map: operand 1 is bool, and must be i64");
  CHECK(ask(op::map, {}) == "map: takes 1 operand, and is given 0");
  CHECK(ask(op::protect, {f64}) == "protect: takes 0 operands, and is given 1");
  CHECK(ask(op::assert_, {f64}) == "assert: operand 1 is f64, and must be bool");
}

TEST_CASE("accumulators are made from arrays of numbers, and additions need an index for each axis") {
  CHECK(ask(op::accumulate, {f64s, i64s.array_of()}) == "f64[], i64[][]");
  CHECK(ask(op::accumulate, {bools}) == "accumulate: operand 1 is bool[], and must be an array of numbers");
  CHECK(ask(op::accumulate, {f64}) == "accumulate: operand 1 is f64, and must be an array");
  CHECK(ask(op::add_to, {acc, i64, i64, f64}) == "");
  CHECK(ask(op::add_to, {acc, i64, f64s}) == "");
  CHECK(ask(op::add_to, {acc, i64, f64}) == "add_to: operand 3 is f64, and must be f64[]");
  CHECK(ask(op::add_to, {f64s, i64, f64}) == "add_to: operand 1 is f64[], and must be an accumulator");
  CHECK(ask(op::add_to, {acc, f64, f64s}) == "add_to: operand 2 is f64, and must be i64");
  CHECK(ask(op::add_to, {acc, i64, i64, i64, f64}) == "add_to: more indices than the accumulator has axes");
}

TEST_CASE("calls take the parameters of their function, closures the first ones, applications the rest") {
  asked local;
  program& p = local.p;
  attributes const f = attributes::of(define(p, "f", {f64, i64}, {f64, boolean}, [](cursor& c, values x) {
    return values{x[0], c.literal(true)};
  }));
  type const rest = p.function_type({.parameters = {i64}, .results = {f64, boolean}});
  type const other = p.function_type({.parameters = {f64}, .results = {f64}});
  CHECK(local(op::call, {f64, i64}, f) == "f64, bool");
  CHECK(local(op::call, {f64}, f) == "call: @f takes 2 arguments, and is given 1");
  CHECK(local(op::call, {i64, i64}, f) == "call: operand 1 is i64, and must be f64");
  CHECK(local(op::call, {}, attributes::of(function_id{7})) == "call: there is no such function");
  CHECK(local(op::closure, {f64}, f, {rest}) == "fn(i64) -> (f64, bool)");
  CHECK(local(op::closure, {i64}, f, {rest}) == "closure: operand 1 is i64, and must be f64");
  CHECK(local(op::closure, {f64, i64, i64}, f, {rest}) == "closure: captures more than @f has parameters");
  CHECK(local(op::closure, {f64}, f) == "closure: returns one function value");
  CHECK(
      local(op::closure, {f64}, f, {other}) ==
      "closure: fn(f64) -> f64 is not the type of what is left of @f");
  CHECK(
      local(op::closure, {}, f, {rest}) ==
      "closure: fn(i64) -> (f64, bool) is not the type of what is left of @f");
  CHECK(
      local(op::closure, {}, attributes::of(function_id{7}), {rest}) == "closure: there is no such function");
  type const boxed =
      p.function_type({.calls = convention::boxed, .parameters = {i64}, .results = {f64, boolean}});
  CHECK(local(op::reabstract, {rest}, {}, {boxed}) == "boxed fn(i64) -> (f64, bool)");
  CHECK(
      local(op::reabstract, {f64}, {}, {boxed}) ==
      "reabstract: operand 1 is f64, and must be a function value");
  CHECK(local(op::reabstract, {rest}, {}, {f64}) == "reabstract: returns one function value");
  CHECK(
      local(op::reabstract, {other}, {}, {boxed}) ==
      "reabstract: " + text_of(p, other) +
          " and boxed fn(i64) -> (f64, bool) differ in more than their conventions");
  CHECK(local(op::apply, {rest, i64}) == "f64, bool");
  CHECK(local(op::apply, {rest}) == "apply: the function value takes 1 argument, and is given 0");
  CHECK(local(op::apply, {rest, f64}) == "apply: operand 2 is f64, and must be i64");
  CHECK(local(op::apply, {f64}) == "apply: operand 1 is f64, and must be a function value");
}

TEST_CASE(
    "host calls and random choices accept anything except accumulators, and return the declared types") {
  CHECK(ask(op::host, {f64, key}, {}, {f64, i64}) == "f64, i64");
  CHECK(ask(op::host, {acc}) == "host: operand 1 is acc f64[][], and must be no accumulator");
  CHECK(ask(op::sample, {i64, f64}, {.count = 1}, {f64}) == "f64");
  CHECK(ask(op::sample, {f64, f64}, {.count = 1}, {f64}) == "sample: operand 1 is f64, and must be i64");
  CHECK(ask(op::sample, {i64}, {.count = 2}, {f64}) == "sample: fewer operands than indices of its address");
  CHECK(ask(op::sample, {f64}, {}, {f64, f64}) == "sample: returns one value");
  CHECK(ask(op::sample, {acc}, {}, {f64}) == "sample: operand 1 is acc f64[][], and must be no accumulator");
}

TEST_CASE("types are printed as in programs") {
  program p;
  type const unary = p.function_type({.parameters = {f64}, .results = {f64}});
  type const nested =
      p.function_type({.calls = convention::boxed, .parameters = {unary, i64}, .results = {unary}});
  CHECK(text_of(p, f64ss) == "f64[][]");
  CHECK(text_of(p, acc) == "acc f64[][]");
  CHECK(text_of(p, unary) == "fn(f64) -> f64");
  CHECK(text_of(p, unary.array_of()) == "(fn(f64) -> f64)[]");
  CHECK(text_of(p, nested) == "boxed fn(fn(f64) -> f64, i64) -> (fn(f64) -> f64)");
  CHECK(text_of(p, p.opaque_type("file").array_of()) == "opaque \"file\"[]");
  CHECK(text_of(p, type{}) == "?");
}
