// Data: conversion to and from C++, bitwise equality, and text.
#include "property.hpp"

#include <overdub/execute/datum.hpp>
#include <overdub/execute/datum_text.hpp>

#include <limits>
#include <string>

namespace {

using namespace overdub;
using rows = array<array<double>>;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
array<T> random_array() {
  array<T> a;
  auto const n = *rc::gen::inRange<i64>(0, 6);
  detail::array_builder<T> out(n);
  for (i64 i = 0; i < n; ++i) out.put(i, any<T>());
  return out.finish(n);
}
template <class T>
void reads_back() {
  property([] {
    datum const x = any<T>();
    RC_ASSERT(parse_datum(text_of(x)) == x);
    datum const a = random_array<T>();
    RC_ASSERT(parse_datum(text_of(a)) == a);
  });
}

std::string failure_of(std::string_view text) {
  try {
    return "read as " + text_of(parse_datum(text));
  } catch (ir::parse_error const& e) {
    return e.what();
  }
}

} // namespace

TEST_CASE("a value of C++ that becomes a datum can be read again") {
  CHECK(datum(1.5).as<double>() == 1.5);
  CHECK(datum(1.5f).as<float>() == 1.5f);
  CHECK(datum(-3).as<i64>() == -3);
  CHECK(datum(true).as<bool>());
  CHECK(datum(array<i64>{1, 2}).as<array<i64>>() == array<i64>{1, 2});
  rows const m{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}};
  CHECK(datum(m).as<rows>() == m);
  CHECK(datum(m).shape() == datum::extents{2, 3});
  CHECK(datum(m).elements<double>().size() == 6);
  array<rows> const deep{m, m};
  CHECK(datum(deep).as<array<rows>>() == deep);
}

TEST_CASE("a datum has the type of the value in programs") {
  CHECK(datum().type() == ir::type{});
  CHECK(datum(1).type() == ir::i64);
  CHECK(datum(true).type() == ir::boolean);
  CHECK(datum(rows{}).type() == ir::f64.array_of().array_of());
  CHECK_THROWS_AS(datum(1.0).as<float>(), type_error);
  CHECK_THROWS_AS(datum(rows{}).as<array<double>>(), type_error);
  CHECK_THROWS_AS(datum(array<double>{1.0}).elements<i64>(), type_error);
}

TEST_CASE("a datum copies borrowed memory") {
  double memory[] = {1.0, 2.0};
  datum const d = array<double>::borrow(memory);
  memory[0] = 3.0;
  CHECK(d.as<array<double>>()[0] == 1.0);
}

TEST_CASE("arrays whose rows differ in size, and shapes with another number of elements, are rejected") {
  CHECK_THROWS_AS(datum(rows{{1.0}, {2.0, 3.0}}), size_error);
  CHECK_THROWS_AS(datum(array<rows>{{{1.0}}, {}}), size_error);
  CHECK_THROWS_AS(datum::of({2, 2}, array<double>{1.0}), size_error);
}

TEST_CASE("data are compared by bits, but all NaNs are equal") {
  CHECK(datum(not_a_number) == datum(-not_a_number));
  CHECK_FALSE(datum(0.0) == datum(-0.0));
  CHECK_FALSE(datum(1.0) == datum(1));
  CHECK(datum(array<double>{not_a_number, 0.0}) == datum(array<double>{not_a_number, 0.0}));
  CHECK_FALSE(datum(array<double>{0.0}) == datum(array<double>{-0.0}));
  CHECK_FALSE(datum(array<double>{}) == datum(array<float>{}));
  CHECK_FALSE(datum(rows{{}}) == datum(rows{}));
  CHECK(datum::of({0, 3}, array<double>{}) == datum(rows{}));
}

TEST_CASE("the text of a datum is that of literals in programs") {
  CHECK(text_of(datum(1.5)) == "1.5");
  CHECK(text_of(datum(2.0)) == "2.0");
  CHECK(text_of(datum(-0.0)) == "-0.0");
  CHECK(text_of(datum(1e300)) == "1e+300");
  CHECK(text_of(datum(-infinity)) == "-inf");
  CHECK(text_of(datum(not_a_number)) == "nan");
  CHECK(text_of(datum(1.5f)) == "1.5f32");
  CHECK(text_of(datum(2)) == "2");
  CHECK(text_of(datum(false)) == "false");
  CHECK(text_of(datum(rows{{1.0, 2.0}, {3.0, 4.0}})) == "[[1.0, 2.0], [3.0, 4.0]]");
  CHECK(text_of(datum(rows{})) == "[] : f64[][]");
  CHECK(text_of(datum(rows{{}, {}})) == "[[], []] : f64[][]");
}

TEST_CASE("parsing the text of a datum returns the same datum") {
  reads_back<double>();
  reads_back<float>();
  reads_back<i64>();
  reads_back<bool>();
  for (auto const* const text :
       {"[[1.0, 2.0], [3.0, nan]]", "[] : f64[][]", "[[], []] : f64[][]", "[[[]]] : bool[][][]",
        "[1.0f32, inff32]", "[[], []] : i64[][][]"})
    CHECK(parse_datum(text) == parse_datum(text_of(parse_datum(text))));
}

TEST_CASE("invalid shapes are rejected") {
  i64 const half = i64{1} << 32;
  CHECK_THROWS_AS(datum::of<double>({half, half}, array<double>{}), size_error);
  CHECK_THROWS_AS(datum::of<double>({-1, -2}, array<double>{1.0, 2.0}), size_error);
  CHECK_THROWS_AS(datum::of<double>({}, array<double>{1.0}), size_error);
  CHECK_THROWS_AS(datum::of<double>(datum::extents(128, 1), array<double>{1.0}), size_error);
  CHECK(datum::of<double>({1, 2}, array<double>{1.0, 2.0}).size() == 2);
}

TEST_CASE("spaces are ignored, and a datum can be parsed from the beginning of a text") {
  CHECK(parse_datum(" [ 1 ,2 ] ") == datum(array<i64>{1, 2}));
  std::string_view text = "[1.5] : f64[], true) == 3";
  CHECK(take_datum(text) == datum(array<double>{1.5}));
  CHECK(text == ", true) == 3");
}

TEST_CASE("an invalid text is rejected with the location") {
  CHECK(failure_of("[1, 2.0]") == "overdub: 1:5: a datum: the elements have different types, i64 and f64");
  CHECK(failure_of("[[1],\n [2, 3]]") == "overdub: 2:2: a datum: the rows have different sizes");
  CHECK(failure_of("[1 2]") == "overdub: 1:4: a datum: ',' or ']' was expected");
  CHECK(failure_of("[[1], 2]") == "overdub: 1:7: a datum: a number and an array are elements of one array");
  CHECK(failure_of("[1, [2]]") == "overdub: 1:5: a datum: a number and an array are elements of one array");
  CHECK(failure_of("[]").ends_with("an array without elements needs its type, as in [] : f64[]"));
  CHECK(failure_of("1.5 2").ends_with("something follows it"));
  CHECK(failure_of("9223372036854775808").ends_with("is out of its type's range"));
  CHECK(failure_of("x1").ends_with("a number, true or false was expected, and not 'x1'"));
  CHECK(failure_of("").ends_with("a number, true or false was expected, and not ''"));
  CHECK(failure_of("[1] : f64[]").ends_with("the type does not fit the elements before it"));
  CHECK(failure_of("[1] : i64[][]").ends_with("another number of axes than the array before it"));
}
