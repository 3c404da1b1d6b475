// Functions with structs, heap memory and containers, lifted, return what they return natively, by every executor.
#include "lift/sources/objects.hpp"

#include "lift/native.hpp"

#include <overdub/core/error.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse/gradient_program.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace {

using lifted::array_and_size;
using lifted::as_size;
using lifted::number;
using lifted::numbers;
using lifted::size;
using overdub::datum;
using overdub::linear_memory;

overdub::lift_result const& module() {
  static overdub::lift_result const result = overdub::lift_file(OVERDUB_LIFT_OBJECTS);
  return result;
}
template <class Native, class Make>
void same(std::string const& name, Native const& native, Make const& make, int times = OVERDUB_LIFT_CALLS) {
  lifted::same(module().program, name, native, make, times);
}

// Calls a function in memory by the interpreter and by machine code, which agree. Returns what it returns besides the memory.
std::vector<datum> call(linear_memory& memory, std::string const& name, std::vector<datum> const& arguments) {
  overdub::ir::program const& p = module().program;
  auto const f = p.find(name + " in memory");
  REQUIRE(f);
  std::vector<datum> all = memory.arrays();
  std::size_t const arrays = all.size();
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<datum> results = overdub::executable(p, *f).run(all);
  CHECK(overdub::jit::compile(p, *f).run(all) == results);
  CHECK(lifted::evaluated(p, *f, all) == results);
  if (results.size() < arrays) return results;
  memory.assign(std::span<datum const>(results).last(arrays));
  results.resize(results.size() - arrays);
  return results;
}

std::int64_t written(linear_memory& memory, std::vector<body> const& all) {
  std::int64_t const first = memory.allocate(all.size() * sizeof(body));
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto const at = first + static_cast<std::int64_t>(i * sizeof(body));
    memory.write(at + std::int64_t{offsetof(body, x)}, all[i].x);
    memory.write(at + std::int64_t{offsetof(body, v)}, all[i].v);
    memory.write(at + std::int64_t{offsetof(body, id)}, all[i].id);
  }
  return first;
}

} // namespace

TEST_CASE("every function with objects is lifted") {
  for (overdub::refused_function const& f : module().refused) FAIL_CHECK(text_of(f));
}

TEST_CASE("lifted containers") {
  same("squares_of(int)", squares_of, [] { return std::tuple(size()); });
  same("median(double*, int)", median, [] {
    int const n = number(0, 60); // insertion sort, and introsort
    return std::tuple(numbers(as_size(n), -2.0, 2.0), n);
  });
  same("sum_of_range(double const*, int)", sum_of_range, array_and_size());
  same("sieve(int)", sieve, [] { return std::tuple(number(2, 90)); });
  same("determinant(double const*, int)", determinant, [] {
    int const n = number(1, 4);
    return std::tuple(numbers(as_size(n * n), -1.0, 1.0), n);
  });
  same("of_array(double const*)", of_array, [] { return std::tuple(numbers(4, -1.0, 1.0)); });
  same("transformed(double const*, int, double)", transformed, [] {
    int const n = size();
    return std::tuple(numbers(as_size(n), -1.0, 1.0), n, 0.3);
  });
  same("histogram(unsigned char const*, int)", histogram, [] {
    int const n = size();
    return std::tuple(numbers<unsigned char>(as_size(n), 0, 255), n);
  });
  same("pascal(int, int)", pascal, [] { return std::tuple(number(0, 8), number(0, 8)); });
  same("ring(int, int)", ring, [] { return std::tuple(number(0, 9), size()); });
  same("moved(int)", moved, [] { return std::tuple(size()); });
  same("reversed_words(int)", reversed_words, [] { return std::tuple(size()); });
  same("sorted_by_key(double*, int*, int)", sorted_by_key, [] {
    int const n = size();
    return std::tuple(numbers(as_size(n), -1.0, 1.0), numbers(as_size(n), 0, 4), n);
  });
  same("heap_order(double const*, int)", heap_order, array_and_size());
  same("interpolated(double const*, double const*, int, double)", interpolated, [] {
    int const n = number(1, 20);
    return std::tuple(numbers(as_size(n), -1.0, 1.0), numbers(as_size(n), -1.0, 1.0), n, number(-1.2, 1.2));
  });
  same("rows_of_pointers(double*, int, int)", rows_of_pointers, [] {
    int const rows = number(0, 4), columns = number(1, 3);
    return std::tuple(numbers(as_size(rows * columns), -1.0, 1.0), rows, columns);
  });
  same("strided_bytes(signed char*, int)", strided_bytes, [] {
    int const n = size();
    return std::tuple(numbers<signed char>(as_size(n), -128, 127), n);
  });
}

TEST_CASE("lifted structs") {
  same("product_of_matrices(double const*, double const*, int)", product_of_matrices, [] {
    int const n = number(1, 3);
    return std::tuple(numbers(as_size(n * n), -1.0, 1.0), numbers(as_size(n * n), -1.0, 1.0), n);
  });
  same("simulate(double const*, int, int)", simulate, [] {
    int const n = size();
    return std::tuple(numbers(as_size(n), -1.0, 1.0), n, number(0, 5));
  });
  same("descend(double, double, int)", descend, [] {
    return std::tuple(number(-2.0, 2.0), number(0.0, 0.3), size());
  });
  same("triple_product(double const*)", triple_product, [] { return std::tuple(numbers(9, -1.0, 1.0)); });
  same("pair_of_extremes(double const*, int)", pair_of_extremes, array_and_size());
  same("complex_power(double, double, int)", complex_power, [] {
    return std::tuple(number(-1.0, 1.0), number(-1.0, 1.0), size());
  });
  same("tuple_of(double, int)", tuple_of, [] { return std::tuple(number(-1.0, 1.0), size()); });
  same("mixed(float, short, long)", mixed, [] {
    return std::tuple(number(-1.0f, 1.0f), number<short>(-9, 9), number(-9L, 9L));
  });
  same("by_value(double*, int)", by_value, [] { return std::tuple(numbers(2, 0.0, 0.0), size()); });
  same("made_by_constructor(double)", made_by_constructor, [] { return std::tuple(number(-1.0, 1.0)); });
  same("zero_filled(int)", zero_filled, [] { return std::tuple(size()); });
  same("walk_of_places(int)", walk_of_places, [] { return std::tuple(size()); });
}

TEST_CASE("lifted structs that are passed and returned by value") {
  auto const numbers_and_index = [] { return std::tuple(number(-2.0, 2.0), number(0, 9)); };
  same("padded_by_value(double, int)", padded_by_value, numbers_and_index);
  same("large_by_value(double, int)", large_by_value, numbers_and_index);
  same("empty_optional(int)", empty_optional, [] { return std::tuple(number(0, 9)); });
  same("range_by_value(double const*, int)", range_by_value, array_and_size());
  same("index_in_constant(double)", index_in_constant, [] { return std::tuple(number(0.0, 6.0)); });
  same("sum_or_zero(unsigned int, unsigned int)", sum_or_zero, [] {
    return std::tuple(number(0u, ~0u), number(0u, ~0u));
  });
}

TEST_CASE("lifted unions, of which the member is read that was written") {
  auto const number_and_size = [] { return std::tuple(number(-1.0, 1.0), size()); };
  same("tagged_values(double, int)", tagged_values, number_and_size);
  same("maybe(double, int)", maybe, number_and_size);
  same("other_member(double, int)", other_member, [] { return std::tuple(1.5, 2 * number(0, 9) + 1); });
  same("zero_by_other_member(int)", zero_by_other_member, [] { return std::tuple(size()); });
  same("half_of_integer(int, int)", half_of_integer, [] { return std::tuple(size(), 0); });
}

TEST_CASE("lifted heap memory") {
  same("list_sum(int)", list_sum, [] { return std::tuple(size()); });
  same("tree_sum(double const*, int)", tree_sum, array_and_size());
  same("buffer(double const*, int)", buffer, array_and_size());
  same("unique_array(int)", unique_array, [] { return std::tuple(size()); });
  same("maybe_null(double, int)", maybe_null, [] { return std::tuple(number(-1.0, 1.0), number(0, 9)); });
  same("kept_blocks(int)", kept_blocks, [] { return std::tuple(size()); });
  same("overlapping(int, int)", overlapping, [] { return std::tuple(size(), number(0, 5)); });
}

TEST_CASE("lifted arrays of objects with destructors, which are counted in memory") {
  same("array_of_destructed(int)", array_of_destructed, [] { return std::tuple(size()); });
  same("array_of_virtual(int)", array_of_virtual, [] { return std::tuple(size()); });
}
TEST_CASE("blocks of heap memory are arrays, where each pointer can be followed to one") {
  same("stages(double const*, int)", stages, array_and_size());
  same("rows_in_turn(double const*, int, int)", rows_in_turn, [] {
    int const rows = number(0, 4), columns = number(1, 3);
    return std::tuple(numbers(as_size(rows * columns), -1.0, 1.0), rows, columns);
  });
  for (std::string const name :
       {"stages(double const*, int)", "rows_in_turn(double const*, int, int)", "buffer(double const*, int)",
        "maybe_null(double, int)"}) {
    overdub::ir::program p = module().program;
    p.entry = *p.find(name);
    overdub::pass::default_pipeline(p);
    std::string const text = overdub::ir::print(p);
    INFO(text);
    CHECK(text.find("linear memory") == text.npos);
  }
}

TEST_CASE("what throws natively is an error of the lifted function") {
  same("checked(double)", checked, [] { return std::tuple(number(0.0, 2.0)); });
  same("at_checked(int, int)", at_checked, [] { return std::tuple(number(5, 9), number(0, 4)); });
  overdub::ir::program const& p = module().program;
  overdub::executable const check(p, *p.find("checked(double)")), at(p, *p.find("at_checked(int, int)"));
  CHECK_THROWS_AS(check.call<double>(-1.0), overdub::error);
  CHECK_THROWS_AS(at.call<double>(std::int64_t{3}, std::int64_t{3}), overdub::error);
}

TEST_CASE("bytes that are carried as other types are the same, or an error") {
  same("carried_as_bytes(double const*, int)", carried_as_bytes, array_and_size());
  same("filled(int, int)", filled, [] { return std::tuple(size(), number(0, 255)); });
  overdub::ir::program const& p = module().program;
  auto const fails = [&](std::string const& name, std::vector<datum> const& arguments) {
    INFO(name);
    auto const f = p.find(name);
    REQUIRE(f);
    CHECK_THROWS_AS(overdub::executable(p, *f).run(arguments), overdub::error);
    CHECK_THROWS_AS(overdub::jit::compile(p, *f).run(arguments), overdub::error);
  };
  std::vector<double> const x{1.5, -2.25};
  std::vector<std::int64_t> const zeros(16), integers{3, 70000};
  fails("bytes_to_number(unsigned char const*, int)", {datum(zeros), datum(16)});
  fails("bytes_of_number(double const*, int)", {datum(x), datum(2)});
  fails("number_as_integer(double const*, int)", {datum(x), datum(2)});
  fails("bytes_of_struct(double, int)", {datum(0.0), datum(1)});
  fails("written_bytewise(double, int)", {datum(1.5), datum(1)});
  fails("half_copied(double, int)", {datum(1.5), datum(1)});
  fails("other_member(double, int)", {datum(1.5), datum(2)});
  fails("half_of_integer(int, int)", {datum(70000), datum(1)});
  fails("bytes_of_integers(int*, int)", {datum(integers), datum(2)});
  fails("reused_block(int)", {datum(1)});
  fails("written_as_integers(double*, int)", {datum(x), datum(3)});
  fails("half_of_rewritten(int)", {datum(70000)});
  // The byte that is written is one of another number.
  CHECK(
      overdub::executable(p, *p.find("written_bytewise(double, int)")).call<double>(1.5, std::int64_t{0}) ==
      1.5);
}

TEST_CASE("functions in memory work on objects of the caller") {
  linear_memory memory(module());
  std::vector<body> all;
  for (int i = 0; i < 5; ++i) all.push_back({number(-1.0, 1.0), number(-1.0, 1.0), i});
  std::int64_t const first = written(memory, all);
  for (int step = 0; step < 3; ++step) {
    advance(all.data(), 5, 0.25);
    CHECK(call(memory, "advance(body*, int, double)", {datum(first), datum(5), datum(0.25)}).empty());
  }
  for (std::size_t i = 0; i < 5; ++i) {
    auto const at = first + static_cast<std::int64_t>(i * sizeof(body));
    CHECK(memory.read<double>(at) == all[i].x);
    CHECK(memory.read<double>(at + 8) == all[i].v);
    CHECK(memory.read<int>(at + 16) == all[i].id);
  }
  CHECK(
      call(memory, "energy(body const*, int)", {datum(first), datum(5)}) ==
      std::vector{datum(energy(all.data(), 5))});
}

TEST_CASE("a copy that does not say what it copies is one of memory alone") {
  overdub::ir::program const& p = module().program;
  CHECK(!p.find("copies_bytes(double*, double const*, int)"));
  CHECK(!p.find("clears_bytes(double*)"));
  linear_memory memory(module());
  std::int64_t const a = memory.allocate(24), b = memory.allocate(24);
  for (std::int64_t const k : {0, 8, 16}) {
    memory.write(a + k, 1.0);
    memory.write(b + k, 0.5 + static_cast<double>(k));
  }
  CHECK(call(memory, "copies_bytes(double*, double const*, int)", {datum(a), datum(b), datum(2)}).empty());
  CHECK(call(memory, "clears_bytes(double*)", {datum(b)}).empty());
  CHECK(memory.read<double>(a) == 0.5);
  CHECK(memory.read<double>(a + 8) == 8.5);
  CHECK(memory.read<double>(a + 16) == 1.0);
  CHECK(memory.read<double>(b + 8) == 0.0);
  CHECK(memory.read<double>(b + 16) == 16.5);
  same("copies_range(float*, float const*, int)", copies_range, [] {
    return std::tuple(numbers(9, -1.0f, 1.0f), numbers(9, -1.0f, 1.0f), number(0, 9));
  });
}

TEST_CASE("objects that lifted functions allocate stay in memory") {
  linear_memory memory(module());
  std::int64_t const list = memory.allocate(8);
  memory.write(list, std::int64_t{0});
  node* native = nullptr;
  for (double const x : {1.5, 2.5, -4.0}) {
    push_front(&native, x);
    call(memory, "push_front(node**, double)", {datum(list), datum(x)});
  }
  std::vector<datum> const sum =
      call(memory, "sum_of_list(node const*)", {datum(memory.read<std::int64_t>(list))});
  CHECK(sum == std::vector{datum(sum_of_list(native))});
  while (native) {
    node* const next = native->next;
    delete native;
    native = next;
  }

  datum const grid = call(memory, "make_grid(int, int)", {datum(2), datum(3)}).at(0);
  call(memory, "fill_grid(grid*, double)", {grid, datum(0.5)});
  auto const cells = memory.read<std::int64_t>(grid.as<std::int64_t>() + 8);
  for (std::int64_t i = 0; i < 6; ++i)
    CHECK(memory.read<double>(cells + 8 * i) == 0.5 + static_cast<double>(i));
  CHECK(memory.read<int>(grid.as<std::int64_t>()) == 2);
  call(memory, "delete_grid(grid*)", {grid});
  CHECK_THROWS_AS(call(memory, "delete_grid(grid*)", {grid}), overdub::error);
}

TEST_CASE("misuse of linear memory is refused") {
  linear_memory memory(module());
  std::int64_t const at = memory.allocate(16);
  CHECK(at % 16 == 0);
  CHECK(memory.allocate(1) > at + 15);
  CHECK_THROWS_AS(memory.write(at + 4, 1.0), overdub::argument_error);
  CHECK_THROWS_AS(memory.write(std::int64_t{0}, 1.0), overdub::index_error);
  CHECK_THROWS_AS(memory.read<int>(at + (std::int64_t{1} << 40)), overdub::index_error);
  CHECK_THROWS_AS(memory.allocate(std::size_t{1} << 40), overdub::size_error);
  CHECK_THROWS_AS(memory.assign({}), overdub::argument_error);
  CHECK_THROWS_AS(
      memory.assign(std::vector<datum>(memory.arrays().size(), datum(1.0))), overdub::argument_error);
  CHECK_THROWS_AS(linear_memory(overdub::lift_result{}), overdub::argument_error);
  memory.write(at, static_cast<unsigned char>(255));
  CHECK(memory.read<unsigned char>(at) == 255);
  memory.write(at, 4000000000u);
  CHECK(memory.read<unsigned>(at) == 4000000000u);
  // Integers are read that were not written.
  CHECK_THROWS_AS(
      call(memory, "sum_of_list(node const*)", {datum(std::int64_t{1} << 50)}), overdub::index_error);
  std::int64_t const unwritten = memory.allocate(3 * sizeof(body));
  CHECK_THROWS_AS(call(memory, "energy(body const*, int)", {datum(unwritten), datum(2)}), overdub::error);
}

TEST_CASE("derivatives of functions with containers are those of finite differences") {
  std::string const name = "simulate(double const*, int, int)";
  std::vector<double> const x{0.3, -0.2, 0.7};
  overdub::ir::program backward = module().program;
  backward.entry = *backward.find(name);
  overdub::differentiate_entry(backward, {true, false, false}, true);
  auto const gradient = overdub::executable(backward).run(std::vector<datum>{datum(x), datum(3), datum(2)});
  REQUIRE(gradient.size() == 2);
  CHECK(gradient[0].as<double>() == simulate(x.data(), 3, 2));
  auto const by_x = gradient[1].as<overdub::array<double>>();
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<double> high = x, low = x;
    high[i] += 1e-6;
    low[i] -= 1e-6;
    double const slope = (simulate(high.data(), 3, 2) - simulate(low.data(), 3, 2)) / 2e-6;
    CHECK(by_x[static_cast<std::int64_t>(i)] == Approx(slope).epsilon(1e-6));
  }
}

TEST_CASE("limits of linear memory are refused") {
  std::string const type = "\n!0 = !{!\"root\"}\n!1 = !{!\"any pointer\", !0}\n!2 = !{!1, !1, i64 0}\n";
  auto const reason = [&](std::string const& text) {
    overdub::lift_result const r = overdub::lift(text + type);
    return r.refused.empty() ? "lifted" : r.refused[0].construct;
  };
  std::string const store = "  store ptr %x, ptr %x, align 8, !tbaa !2\n  ret void\n}\n";
  CHECK(reason("define void @f() {\n  %x = alloca [9 x i64], align 8\n" + store) == "lifted");
  CHECK(
      reason("define void @f() {\n  %x = alloca [1000000000 x i64], align 8\n" + store) ==
      "a local variable of 8000000000 bytes");
  CHECK(
      reason("define void @f() {\n  %x = alloca [4611686018427387904 x {}], align 8\n" + store) == "lifted");
  CHECK(
      reason("@t = private constant [1000000 x i64] zeroinitializer\ndefine void @f(ptr %x) {\n"
             "  store ptr @t, ptr %x, align 8, !tbaa !2\n  ret void\n}\n") == "the constant 't'");
  CHECK(reason("define void @f(ptr byval([4611686018427387904 x {}]) %x) {\n" + store) == "lifted");
  // An access without a tag: the type of the element tells what is there.
  std::string const copied = "define void @f(ptr %x, double %d) {\n  %p = getelementptr ";
  CHECK(reason(copied + "double, ptr %x, i64 1\n  store double %d, ptr %p, align 8\n" + store) == "lifted");
  CHECK(
      reason(copied + "i64, ptr %x, i64 1\n  store double %d, ptr %p, align 8\n" + store) ==
      "an access without a type");
}
