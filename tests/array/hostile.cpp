// Misuse of arrays: impossible sizes, no memory, moved-from handles, aliasing, exceptions.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/overdub.hpp>

#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace od = overdub;
using od::i64;
using overdub::contexts::count;
using overdub::contexts::forward;

TEST_CASE("sizes beyond the address space throw, and do not overflow") {
  for (i64 n : {std::numeric_limits<i64>::max(), i64{1} << 62, i64{1} << 61, (i64{1} << 60) + 1}) {
    CHECK_THROWS_AS(od::iota(n), od::size_error);
    CHECK_THROWS_AS(od::fill(n, 1.0), od::size_error);
  }
  CHECK_THROWS_WITH(
      od::iota(i64{1} << 61),
      "overdub: an array of 2305843009213693952 elements of 8 bytes is larger than the address space");
  auto const f = od::fn<"f">([](auto n) { return od::size(od::iota(n)); });
  count c;
  CHECK_THROWS_AS(od::run(od::compose(forward{}, c), f, i64{1} << 61), od::size_error);
  CHECK_THROWS_AS(od::run(c, f, i64{-1}), od::size_error);
  CHECK_THROWS_AS(od::iota(std::numeric_limits<i64>::min()), od::size_error);
}

TEST_CASE("the error has the size of the array that did not fit in memory") {
  if (!od::detail::keeps_blocks) return; // the address sanitizer ends the process
  auto const says = Catch::Matchers::StartsWith("overdub: there is no memory for an array of 17592186044416 "
                                                "elements of 8 bytes (140737488355328 bytes); ");
  CHECK_THROWS_WITH(od::iota(i64{1} << 44), says);
  CHECK_THROWS_WITH(od::fill(i64{1} << 44, 1.0), says);
  CHECK_THROWS_AS(od::iota(i64{1} << 44), od::out_of_memory);
  CHECK_THROWS_AS(od::iota(i64{1} << 44), std::bad_alloc);
}

TEST_CASE("every operation accepts a moved-from handle, which is an empty array") {
  od::array<double> xs{1, 2, 3};
  auto const taken = std::move(xs);
  CHECK((od::size(xs) == 0 && xs == od::array<double>{} && !xs.unique()));
  CHECK(od::sum(xs) == 0.0);
  CHECK(od::map([](double x) { return x; }, xs).empty());
  CHECK(od::concat(xs, taken) == taken);
  CHECK_THROWS_AS(od::reduce(od::max, xs), od::size_error);
  CHECK_THROWS_AS(od::update(std::move(xs), 0, 1.0), od::index_error);
  xs = taken;
  CHECK(xs == taken);
}

TEST_CASE("an array keeps its elements if its update fails, also if it was moved in") {
  od::array<std::string> xs{"a", "b"};
  CHECK_THROWS_AS(od::update(std::move(xs), 2, std::string("c")), od::index_error);
  CHECK(xs == od::array<std::string>{"a", "b"});
}

TEST_CASE("an array may be updated with its own element, and contain arrays that share elements with it") {
  od::array<std::string> xs{"a long string that is on the heap", "b"};
  xs = od::update(std::move(xs), 1, xs[0]);
  CHECK(xs[1] == xs[0]);
  using rows = od::array<od::array<double>>;
  rows table{{1, 2}, {3, 4}};
  table = od::update(std::move(table), 0, table[1]);
  CHECK((table[0] == table[1] && table[0].data() == table[1].data()));
  auto const row = od::update(table[0], 0, 9.0);
  CHECK((row == od::array<double>{9, 4} && table[0] == od::array<double>{3, 4}));
}

TEST_CASE("a handle may be assigned from an element that it owns itself") {
  struct node {
    od::array<node> children;
    int value = 0;
    bool operator==(node const&) const = default;
  };
  node list{{node{{node{{}, 3}}, 2}}, 1};
  while (!list.children.empty()) list = node(list.children[0]);
  CHECK(list.value == 3);
  od::array<node> nodes{node{{node{{}, 7}}, 6}};
  nodes = nodes[0].children;
  CHECK(nodes[0].value == 7);
}

TEST_CASE("an exception from the copy of an element passes through map, fill and concat, and leaks nothing") {
  static int alive = 0, copies_left = 0;
  struct element {
    int data = 0;
    element() { ++alive; }
    element(element const& other) : data(other.data) {
      if (copies_left-- == 0) throw std::runtime_error("no copy");
      ++alive;
    }
    element& operator=(element const&) = default;
    ~element() { --alive; }
  };
  for (int copies = 0; copies < 12; ++copies) {
    copies_left = 1000;
    {
      od::array<element> const xs = od::fill(3, element{});
      copies_left = copies;
      auto const attempt = [](auto const& operation) {
        try {
          operation();
        } catch (std::runtime_error const&) {
        }
      };
      attempt([&] { (void)od::fill(4, element{}); });
      copies_left = copies;
      attempt([&] { (void)od::concat(xs, xs); });
      copies_left = copies;
      attempt([&] { (void)od::map([](element const& e) { return e; }, xs); });
      copies_left = copies;
      attempt([&] { (void)od::update(xs, 1, element{}); });
      CHECK(alive == 3);
    }
    CHECK(alive == 0);
  }
}

TEST_CASE("map moves its results into the array") {
  auto const boxes = od::map([](i64 i) { return std::make_shared<i64 const>(i * i); }, od::iota(5));
  CHECK(*boxes[4] == 16);
  CHECK(boxes[0].use_count() == 1);
}

TEST_CASE("owned copies borrowed elements, and shares owned ones") {
  double data[]{1, 2, 3};
  auto const borrowed = od::array<double>::borrow(data);
  auto const copy = borrowed.owned();
  data[0] = 10;
  CHECK((borrowed[0] == 10.0 && copy == od::array<double>{1, 2, 3} && copy.owned().data() == copy.data()));
  CHECK(od::array<double>{}.owned().empty());
}

TEST_CASE("an empty vector of arrays has no elements, and vectors of different sizes are rejected") {
  std::vector<od::array<double>> const none, one{{5, 6}}, two{{1, 2}, {3, 4}};
  CHECK(od::size(none) == 0);
  CHECK(od::map([](auto const& xs) { return xs.size(); }, none).empty());
  CHECK(od::concat(two, two).size() == 2);
  CHECK_THROWS_AS(od::concat(two, one), od::size_error);
  CHECK_THROWS_AS(od::update(two, 0, std::vector{1.0}), od::size_error);
}
