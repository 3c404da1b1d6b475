// Vectorised maps return the results of elementwise execution: every case runs in both modes.
#include "texts.hpp"

using namespace overdub;
using texts::gives;

TEST_CASE("elements are read at an offset from the index") {
  auto const text = R"(func @f(%x: f64[], %k: i64) -> (f64[], f64[]) {
    %n = length %x : i64
    %m = sub %n, %k : i64
    %a, %b = map %m (%i: i64) -> (f64, f64) {
      %j = add %i, %k : i64
      %y = at %x, %j : f64
      %l = sub %j, %k : i64
      %z = at %x, %l : f64
      %d = sub %y, %z : f64
      yield %y, %d
    }
    return %a, %b
  })";
  gives(text, "[1.0, 2.0, 4.0, 8.0], 1", "[2.0, 4.0, 8.0], [1.0, 2.0, 4.0]");
  gives(text, "[1.0, 2.0, 4.0], 0", "[1.0, 2.0, 4.0], [0.0, 0.0, 0.0]");
  gives(text, "[1.0, 2.0], -1", "overdub: at: index -1 is out of range for an array of size 2");
}

TEST_CASE("elements are read with a stride, positive or negative") {
  auto const text = R"(func @f(%x: i64[], %n: i64, %step: i64, %first: i64) -> (i64[], i64[]) {
    %a, %b = map %n (%i: i64) -> (i64, i64) {
      %k = mul %i, %step : i64
      %j = add %first, %k : i64
      %y = at %x, %j : i64
      yield %y, %j
    }
    return %a, %b
  })";
  gives(text, "[10, 11, 12, 13, 14, 15], 3, 2, 1", "[11, 13, 15], [1, 3, 5]");
  gives(text, "[10, 11, 12, 13, 14, 15], 3, -2, 4", "[14, 12, 10], [4, 2, 0]");
  gives(text, "[10, 11], 3, 0, 1", "[11, 11, 11], [1, 1, 1]");
  gives(text, "[10, 11, 12], 2, 2, 1", "overdub: at: index 3 is out of range for an array of size 3");
  gives(text, "[10, 11, 12], 3, -1, 1", "overdub: at: index -1 is out of range for an array of size 3");
  // Two strides of 2^63 wrap to 0.
  gives(text, "[10, 11, 12], 1, -9223372036854775807, 2", "[12], [2]");
  gives(
      text, "[10, 11, 12], 3, -9223372036854775808, 2",
      "overdub: at: index -9223372036854775806 is out of range for an array of size 3");
}

TEST_CASE("elements are read at sums and differences of two strided indices") {
  auto const text = R"(func @f(%x: i64[], %n: i64, %k: i64) -> (i64[], i64[]) {
    %a, %b = map %n (%i: i64) -> (i64, i64) {
      %twice = add %i, %i : i64
      %y = at %x, %twice : i64
      %up = mul %i, %k : i64
      %j = sub %up, %twice : i64
      %z = at %x, %j : i64
      %d = sub %y, %z : i64
      yield %d, %j
    }
    return %a, %b
  })";
  gives(text, "[10, 21, 32, 43, 54, 65, 76], 3, 3", "[0, 11, 22], [0, 1, 2]");
  gives(text, "[10, 21, 32, 43, 54, 65, 76], 4, 2", "[0, 22, 44, 66], [0, 0, 0, 0]");
  gives(text, "[10, 21], 2, 3", "overdub: at: index 2 is out of range for an array of size 2");
  gives(text, "[10, 21, 32, 43], 2, 1", "overdub: at: index -1 is out of range for an array of size 4");
}

TEST_CASE("an array is read in reverse") {
  gives(
      R"(func @f(%x: bool[]) -> bool[] {
        %n = length %x : i64
        %last = sub %n, 1 : i64
        %a = map %n (%i: i64) -> bool {
          %j = sub %last, %i : i64
          %y = at %x, %j : bool
          yield %y
        }
        return %a
      })",
      "[true, false, false]", "[false, false, true]");
}

TEST_CASE("rows and columns of a matrix in one array are read in loops") {
  gives(
      R"(func @f(%a: f64[], %x: f64[], %n: i64) -> f64[] {
        %d = length %x : i64
        %y = map %n (%i: i64) -> f64 {
          %row = mul %i, %d : i64
          %products = map %d (%j: i64) -> f64 {
            %k = add %row, %j : i64
            %u = at %a, %k : f64
            %v = at %x, %j : f64
            %p = mul %u, %v : f64
            yield %p
          }
          %s = reduce add %products from 0.0 : f64
          yield %s
        }
        return %y
      })",
      "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 10.0], 3", "[21.0, 43.0, 65.0]");
}

TEST_CASE("a strided index is also a value, which passes through branches and loops") {
  gives(
      R"(func @f(%x: i64[], %n: i64) -> i64[] {
        %y = map %n (%i: i64) -> i64 {
          %k = mul %i, 2 : i64
          %s = loop %n (%t: i64, %c: i64 = %k) -> i64 {
            %j = add %k, %t : i64
            %e = at %x, %j : i64
            %small = lt %j, 3 : bool
            %w = if %small -> i64 { yield %j } else { %m = sub 0, %j : i64 yield %m }
            %v = add %e, %w : i64
            %u = add %c, %v : i64
            yield %u
          }
          yield %s
        }
        return %y
      })",
      "[100, 200, 300, 400], 2", "[301, 701]");
}

TEST_CASE("elements of matrices are read, and added to an accumulator") {
  gives(
      R"(func @f(%a: f64[][], %s: f64[][]) -> (f64[], f64[][]) {
        %n = length %a : i64
        %t, %d = accumulate (%acc: acc f64[][] = %s) -> (f64[][], f64[]) {
          %e = map %n (%i: i64) -> f64 {
            %j = sub 1, %i : i64
            %x = at %a, %i, %j : f64
            add_to %acc, %j, %i, %x
            yield %x
          }
          yield %e
        }
        return %d, %t
      })",
      "[[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]", "[2.0, 3.0], [[0.0, 3.0], [2.0, 0.0]]");
}

TEST_CASE("sums of products in a nested map are correct") {
  gives(
      R"(func @f(%a: f64[], %n: i64) -> f64 {
        %d = length %a : i64
        %y = map %n (%i: i64) -> f64 {
          %q = map %d (%r: i64) -> f64 {
            %c = map %r (%j: i64) -> f64 {
              %u = at %a, %j : f64
              %v = at %a, %r : f64
              %x = convert %i : f64
              %w = mul %v, %x : f64
              %p = mul %u, %w : f64
              yield %p
            }
            %s = reduce add %c from 0.0 : f64
            %square = mul %s, %s : f64
            yield %square
          }
          %t = reduce add %q from 0.0 : f64
          yield %t
        }
        %z = reduce add %y : f64
        return %z
      })",
      "[1.0, 2.0, 3.0], 3", "425.0"); // (1 + 4) * (2^2 + 9^2)
}

TEST_CASE("sums of every length are correct in each lane, after a uniform or varying initial value") {
  auto const text = R"(func @f(%a: f64[], %m: i64) -> (f64[], f64[]) {
    %n = length %a : i64
    %y, %z = map %n (%i: i64) -> (f64, f64) {
      %x = at %a, %i : f64
      %c = map %m (%j: i64) -> f64 { %k = convert %j : f64 %p = mul %x, %k : f64 yield %p }
      %s = reduce add %c from 0.5 : f64
      %e = map %m (%j2: i64) -> f64 { %k2 = convert %j2 : f64 %p2 = mul %x, %k2 : f64 yield %p2 }
      %t = reduce add %e from %x : f64
      yield %s, %t
    }
    return %y, %z
  })";
  for (int m = 0; m < 20; ++m) {
    double const sum = m * (m - 1) / 2;
    auto const number = [](double x) { return text_of(datum(x)); };
    gives(
        text, "[1.0, -2.0], " + std::to_string(m),
        "[" + number(0.5 + sum) + ", " + number(0.5 - 2 * sum) + "], [" + number(1 + sum) + ", " +
            number(-2 - 2 * sum) + "]");
  }
}

namespace {

// A program of numbers of the given type, which reduces by an operation.
ir::program program_of(std::string const& type, std::string const& operation) {
  std::string text = R"(func @f(%x: T[]) -> (T, T, T, T) {
    %n = length %x : i64
    %same = map %n (%i: i64) -> T { %e = at %x, %i : T yield %e }
    %squares = map %n (%j: i64) -> T { %d = at %x, %j : T %s = mul %d, %d : T yield %s }
    %kept = copy %squares : T[]
    %again = map %n (%k: i64) -> T { %c = at %x, %k : T %q = mul %c, %c : T yield %q }
    %a = reduce OP %x : T
    %b = reduce OP %same : T
    %v = reduce OP %kept : T
    %w = reduce OP %again : T
    return %a, %b, %v, %w
  })";
  auto const replace = [&](std::string const& from, std::string const& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  replace("OP", operation);
  replace("T", type);
  return texts::program(text);
}

} // namespace

TEST_CASE("reductions of maps of many blocks equal those of the array") {
  for (std::string const type : {"f64", "i64"})
    for (std::string const operation : {"add", "mul", "max", "min", "sub"}) {
      ir::program const p = program_of(type, operation);
      executable const in_lanes(p, {}, {.lanes_from = 1}), one_by_one(p, {}, {.lanes_from = 1'000'000});
      for (int const n : {1, 2, 7, 8, 9, 15, 16, 127, 128, 129, 135, 136, 255, 256, 257, 385, 640, 1000}) {
        INFO(type << ' ' << operation << ' ' << n);
        std::vector<double> doubles;
        std::vector<i64> integers;
        for (int i = 0; i < n; ++i) {
          integers.push_back((i * 7919 + 13) % 101 - 50);
          doubles.push_back(static_cast<double>(integers.back()) / 7);
        }
        auto const results = [&](executable const& run) {
          return type == "f64" ? std::vector<datum>(run(doubles)) : std::vector<datum>(run(integers));
        };
        auto const found = results(in_lanes);
        CHECK(found == results(one_by_one));
        CHECK(found[0] == found[1]);
        CHECK(found[2] == found[3]);
      }
    }
}
