// The growth law for gradients: what reads elements of rows of a matrix takes as much for each of them, forwards and backwards, where rows
// are longer.
#include "growth/check_each.hpp"

#include <overdub/contexts/reverse/gradient_program.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/overdub.hpp>

#include <string>
#include <vector>

namespace {

namespace od = overdub;
using growth::work_of;
using od::datum;
using od::i64;

od::array<od::array<double>> matrix_of(i64 n) {
  std::vector<od::array<double>> rows;
  for (i64 i = 0; i < n; ++i) rows.push_back(od::fill(n, 0.1 + 0.01 * static_cast<double>(i)));
  return od::array<od::array<double>>::copy_of(rows);
}

// The work of a function of a matrix of n rows, or of its gradient, for each of the elements that it reads.
struct works {
  double value, gradient;
};
works works_of(std::string const& text, i64 n, double reads) {
  od::ir::program const p = od::ir::parse(text);
  od::ir::program g = p;
  od::contexts::differentiate_entry(g, {true}, true, {});
  od::executable const once(p), back(g);
  std::vector<datum> const x{datum(matrix_of(n))};
  return {work_of([&] { (void)once.run(x); }) / reads, work_of([&] { (void)back.run(x); }) / reads};
}
void check_gradient(std::string const& text, double small_reads, double large_reads, double most) {
  i64 const few = 8, many = 64;
  works const small = works_of(text, few, small_reads), large = works_of(text, many, large_reads);
  INFO(
      "blocks for each element: " << small.value << " and " << small.gradient << " of " << few << " rows, "
                                  << large.value << " and " << large.gradient << " of " << many);
  CHECK(small.value > 0);
  CHECK(large.value <= 1.1 * small.value);
  CHECK(large.gradient <= 1.1 * small.gradient);
  CHECK(large.gradient <= most * large.value);
}

} // namespace

TEST_CASE("the gradient of a product of matrices takes as long for each number", "[gradients]") {
  check_gradient(
      R"(entry @f
func @f(%a: f64[][]) -> f64 {
  %n = length %a : i64
  %all = loop %n (%i: i64, %s: f64 = 0.0) -> f64 {
    %row = loop %n (%j: i64, %t: f64 = %s) -> f64 {
      %product = loop %n (%k: i64, %u: f64 = %t) -> f64 {
        %left = at %a, %i : f64[]
        %x = at %left, %k : f64
        %right = at %a, %k : f64[]
        %y = at %right, %j : f64
        %m = mul %x, %y : f64
        %v = add %u, %m : f64
        yield %v
      }
      yield %product
    }
    yield %row
  }
  return %all
}
)",
      8 * 8 * 8, 64 * 64 * 64, 4);
}

TEST_CASE(
    "the gradient of loops that read a few elements of each row takes as long for each number",
    "[gradients]") {
  check_gradient(
      R"(entry @f
func @f(%a: f64[][]) -> f64 {
  %n = length %a : i64
  %all = loop %n (%t: i64, %s: f64 = 0.0) -> f64 {
    %rows = loop %n (%i: i64, %r: f64 = %s) -> f64 {
      %row = at %a, %i : f64[]
      %few = loop 3 (%k: i64, %u: f64 = %r) -> f64 {
        %x = at %row, %k : f64
        %y = at %row, %t : f64
        %m = mul %x, %y : f64
        %v = add %u, %m : f64
        yield %v
      }
      yield %few
    }
    yield %rows
  }
  return %all
}
)",
      8 * 8 * 3, 64 * 64 * 3, 4);
}
