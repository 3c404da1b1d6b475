// Operations that cannot fail, by the definitions of sizes and indices.
#include "catch.hpp"
#include "ir/samples.hpp"

#include <overdub/ir/bounds.hpp>
#include <overdub/ir/effects.hpp>

#include <cstdint>

namespace {

using namespace samples;

// Whether the operation that `build` returns is pure, in a function of an i64, an f64[] and an f64[][].
template <class Build>
bool is_pure(Build build) {
  program p;
  node_id n = nothing;
  function_id const f = define(p, "f", {i64, f64s, f64s.array_of()}, {}, [&](cursor& c, values x) {
    n = build(c, x);
    return values{};
  });
  return effects(p).of(p[f], n).is_pure();
}
// The same, in a map over n elements: build(c, x, i).
template <class Size, class Build>
bool is_pure_in_map(Size size, Build build) {
  return is_pure([&](cursor& c, values x) {
    node_id const map = with_regions(c, op::map, {size(c, x)}, {}, {{i64}});
    node_id found = nothing;
    fill(c, c->region_at(map, 0), [&](cursor& in, values i) {
      found = build(in, x, i[0]);
      return values{};
    });
    return found;
  });
}
value_id length(cursor& c, values x) { return c.add(op::length, x[1]); }
value_id given(cursor&, values x) { return x[0]; }
node_id at(cursor& c, value_id a, value_id i) { return c.insert(op::at, {a, i}); }

} // namespace

TEST_CASE("an index of a map over an array's length is in its range, and other indices are unknown") {
  CHECK(is_pure_in_map(length, [](cursor& c, values x, value_id i) { return at(c, x[1], i); }));
  CHECK_FALSE(is_pure_in_map(given, [](cursor& c, values x, value_id i) { return at(c, x[1], i); }));
  CHECK_FALSE(is_pure_in_map(length, [](cursor& c, values x, value_id i) { return at(c, x[2], i); }));
  CHECK_FALSE(is_pure_in_map(length, [](cursor& c, values x, value_id i) {
    return at(c, x[1], c.add(op::add, i, c.literal(std::int64_t{1})));
  }));
  CHECK_FALSE(is_pure_in_map(length, [](cursor& c, values x, value_id) { return at(c, x[1], x[0]); }));
}

TEST_CASE("an array with as many elements as a map has iterations is read in range, also after updates") {
  CHECK(
      is_pure_in_map(given, [](cursor& c, values x, value_id i) { return at(c, c.add(op::iota, x[0]), i); }));
  CHECK(is_pure_in_map(length, [](cursor& c, values x, value_id i) {
    return at(c, c.add(op::update, x[1], x[0], c.literal(1.0)), i);
  }));
  CHECK(is_pure_in_map(given, [](cursor& c, values x, value_id i) {
    value_id const filled = c.add(op::fill, x[0], c.literal(1.0));
    return at(c, c.add(op::update, filled, i, c.literal(2.0)), i);
  }));
}

TEST_CASE(
    "lengths of arrays are known by the operation that makes the array, and by length, also after updates") {
  program p;
  define(p, "f", {i64, f64s, f64s, i64s}, {}, [](cursor& c, values x) {
    value_id const one = c.literal(1.0), measured = c.add(op::length, x[1]);
    value_id const both = c->result(c.insert(op::length, {x[1], x[2]}));
    value_id const updated = c.add(op::update, x[1], x[0], one);
    value_id const filled = c.add(op::fill, x[0], one);
    value_id const picked = c.add(op::gather, x[1], c.add(op::update, x[3], x[0], x[0]));
    CHECK(is_length_of(*c, measured, x[1]));
    CHECK(is_length_of(*c, measured, updated));
    CHECK(is_length_of(*c, both, x[1]));
    CHECK(is_length_of(*c, both, x[2]));
    CHECK(is_length_of(*c, c.add(op::length, updated), x[1]));
    CHECK(is_length_of(*c, x[0], filled));
    CHECK(is_length_of(*c, x[0], c.add(op::update, filled, x[0], one)));
    CHECK_FALSE(is_length_of(*c, measured, x[2]));
    CHECK_FALSE(is_length_of(*c, measured, filled));
    CHECK_FALSE(is_length_of(*c, x[0], x[1]));
    CHECK_FALSE(is_length_of(*c, measured, picked));
    CHECK_FALSE(is_length_of(*c, c.literal(std::int64_t{3}), x[1]));
    return values{};
  });
}

TEST_CASE("literal indices below a literal size are in range") {
  auto read = [](std::int64_t size, std::int64_t i) {
    return is_pure([&](cursor& c, values) {
      return at(c, c.add(op::fill, c.literal(size), c.literal(1.0)), c.literal(i));
    });
  };
  CHECK(read(3, 2));
  CHECK_FALSE(read(3, 3));
  CHECK_FALSE(read(3, -1));
  CHECK_FALSE(read(-1, 0));
}

TEST_CASE("lengths, indices and small literals are sizes") {
  auto iota = [](auto size) {
    return is_pure([&](cursor& c, values x) { return c.insert(op::iota, {size(c, x)}); });
  };
  CHECK(iota(length));
  CHECK_FALSE(iota(given));
  CHECK(iota([](cursor& c, values) { return c.literal(std::int64_t{5}); }));
  CHECK_FALSE(iota([](cursor& c, values) { return c.literal(std::int64_t{-5}); }));
  CHECK_FALSE(iota([](cursor& c, values) { return c.literal(std::int64_t{1} << 60); }));
}

TEST_CASE("divisions of integers by literals do not fail, except by 0") {
  auto divide = [](std::int64_t by) {
    return is_pure([&](cursor& c, values x) { return c.insert(op::rem, {x[0], c.literal(by)}); });
  };
  CHECK(divide(3));
  CHECK(divide(-1));
  CHECK_FALSE(divide(0));
}

TEST_CASE("a map over a length is pure, unless its rows may have different shapes") {
  auto map = [](type row) {
    return is_pure([&](cursor& c, values x) {
      node_id const n = with_regions(c, op::map, {length(c, x)}, {row.array_of()}, {{i64}});
      fill(c, c->region_at(n, 0), [&](cursor& in, values) {
        return values{row == f64s ? x[1] : in.literal(1.0)};
      });
      return n;
    });
  };
  CHECK(map(f64));
  CHECK_FALSE(map(f64s));
}
