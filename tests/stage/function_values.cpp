// Functions in structs, tuples and arrays, and as arguments of functions: staged, they are called directly. The type of a
// function object identifies it, so that the program has neither function values nor reabstractions.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/stage/stage.hpp>

#include <array>
#include <cstddef>
#include <tuple>

namespace {

using namespace overdub;

constexpr auto twice = fn<"twice">([](auto x) { return x + x; });
constexpr auto square = fn<"square">([](auto x) { return x * x; });

template <class F, class G>
struct two {
  F first;
  G second;
};
constexpr auto of_struct = fn<"of_struct">([](auto x) {
  two const both{twice, two{square, [](auto y) { return y - 1.0; }}};
  return both.second.second(both.second.first(both.first(x)));
});
constexpr auto of_tuple = fn<"of_tuple">([](auto x) {
  auto const both = std::tuple{twice, square};
  return std::apply([&](auto... f) { return (f(x) + ...); }, both);
});
constexpr auto of_array = fn<"of_array">([](auto x) {
  std::array const all{square, square, square};
  for (auto const& f : all) x = f(x);
  return x;
});
constexpr auto chosen = fn<"chosen">([](auto x) {
  return if_(
      x > 0.0, [&] { return twice(x); }, [&] { return square(x); });
});
constexpr auto in_turn = fn<"in_turn">([](auto x) {
  two const both{twice, square};
  return loop(i64{3}, x, [&](auto i, auto y) {
    return if_(
        i > 1, [&] { return both.first(y); }, [&] { return both.second(y); });
  });
});

std::size_t count(ir::program const& p, ir::op code) {
  std::size_t found = 0;
  for (ir::function const& f : p.functions)
    ir::walk(f, ir::function::body, [&](ir::node_id n) { found += f[n].code == code; });
  return found;
}
template <class F>
void calls(F const& f, std::size_t expected) {
  for (ir::program const& p :
       {stage(f, signature<double>), stage(contexts::forward{}, f, signature<double>)}) {
    INFO(ir::print(p));
    CHECK(p.signature_count() == 0); // no function type
    CHECK(count(p, ir::op::closure) + count(p, ir::op::apply) + count(p, ir::op::reabstract) == 0);
    CHECK(count(p, ir::op::call) == expected);
  }
}

} // namespace

TEST_CASE("functions in structs, tuples and arrays are called directly when they are staged") {
  calls(of_struct, 2);
  calls(of_tuple, 2);
  calls(of_array, 3);
}

TEST_CASE("functions that branches and loops select are called directly in them") {
  calls(chosen, 2);
  calls(in_turn, 2);
}
