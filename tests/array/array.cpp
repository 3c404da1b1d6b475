// array<T>: handles that share elements, borrow them, and write only what they own exclusively.
#include "catch.hpp"

#include <overdub/array/array.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using overdub::array;
using overdub::i64;

// Counts its objects, and throws after a chosen number of copies.
struct counted {
  static inline int alive = 0;
  static inline int copies_left = 1000;
  std::string text{"longer than any small buffer is, so that a leak is a leak"};
  counted() { ++alive; }
  counted(counted const& other) : text(other.text) {
    if (copies_left-- == 0) throw std::runtime_error("one copy too many");
    ++alive;
  }
  counted(counted&& other) noexcept : text(std::move(other.text)) { ++alive; }
  counted& operator=(counted const&) = default;
  counted& operator=(counted&&) = default;
  ~counted() { --alive; }
};

template <class R>
concept borrows = requires(R&& range) {
  overdub::array<double>::borrow(static_cast<R&&>(range));
};

TEST_CASE("an array borrows elements that outlive the handle, never those of a temporary container") {
  STATIC_REQUIRE(borrows<std::vector<double>&>);
  STATIC_REQUIRE(borrows<std::vector<double> const&>);
  STATIC_REQUIRE(borrows<std::span<double const>>);
  STATIC_REQUIRE_FALSE(borrows<std::vector<double>>);
}

TEST_CASE("copies of a handle share the elements") {
  array<double> const a{1.0, 2.0};
  CHECK(a.unique());
  array<double> const b = a;
  CHECK(b.data() == a.data());
  CHECK_FALSE(a.unique());
}

TEST_CASE("a moved-from handle is empty") {
  array<double> a{1.0, 2.0};
  auto const data = a.data();
  array<double> const b = std::move(a);
  CHECK(b.data() == data);
  CHECK(b.unique());
  CHECK(a.empty()); // NOLINT: the state of a moved-from handle is what this tests
  CHECK(a.begin() == a.end());
}

TEST_CASE("assignment, also to itself, keeps elements alive as long as a handle refers to them") {
  array<std::string> a{"one string that is longer than a small buffer"};
  auto& self = a;
  a = self;
  CHECK(a[0].size() > 40);
  array<std::string> b{"x"};
  b = a;
  a = array<std::string>{};
  CHECK(b[0].size() > 40);
  CHECK(b.unique());
}

TEST_CASE("a borrowed array refers to the caller's memory, owns nothing and is never written") {
  std::vector<double> v{1.0, 2.0};
  auto const a = array<double>::borrow(v);
  CHECK(a.data() == v.data());
  CHECK_FALSE(a.unique());
  auto b = a;
  b = std::move(b).with(0, 9.0);
  CHECK(v == std::vector{1.0, 2.0});
  CHECK(b == array<double>{9.0, 2.0});
  CHECK(b.unique());
}

TEST_CASE("with writes in place if the handle is moved and unique, and copies otherwise") {
  array<double> a{1.0, 2.0};
  auto const data = a.data();
  a = std::move(a).with(1, 5.0);
  CHECK(a.data() == data);
  auto const shared = a;
  a = std::move(a).with(1, 6.0);
  CHECK(a.data() != data);
  CHECK(shared == array<double>{1.0, 5.0});
  CHECK(a == array<double>{1.0, 6.0});
  auto const copy = a.with(0, 0.0);
  CHECK(copy.data() != a.data());
  CHECK(a == array<double>{1.0, 6.0});
}

TEST_CASE("an index out of range throws an error with the index and the size") {
  array<double> const a{1.0, 2.0};
  using Catch::Contains;
  CHECK_THROWS_AS(a[2], overdub::index_error);
  CHECK_THROWS_WITH(a[2], Contains("index 2") && Contains("size 2"));
  CHECK_THROWS_WITH(a[-1], Contains("index -1") && Contains("size 2"));
  CHECK_THROWS_WITH(a.with(7, 0.0), Contains("update") && Contains("index 7"));
  CHECK_THROWS_AS(array<double>{}[0], overdub::index_error);
}

TEST_CASE("a failed with leaves the array as it was") {
  array<double> a{1.0, 2.0};
  CHECK_THROWS_AS(std::move(a).with(2, 0.0), overdub::index_error);
  CHECK(a == array<double>{1.0, 2.0});
}

TEST_CASE("arrays compare by their elements") {
  CHECK(array<double>{1.0} == array<double>{1.0});
  CHECK_FALSE(array<double>{1.0} == array<double>{1.0, 1.0});
  CHECK(array<double>{} == array<double>{});
  CHECK(array<double>{0.0} == array<double>{-0.0});
}

TEST_CASE("each element is destroyed exactly once, whatever happens to the handles") {
  {
    std::vector<counted> const v(3);
    auto a = array<counted>::copy_of(v);
    auto const b = a;
    a = std::move(a).with(1, counted{});
    CHECK(counted::alive == 9);
  }
  CHECK(counted::alive == 0);
}

TEST_CASE("an exception during a copy leaks nothing") {
  {
    std::vector<counted> const v(3);
    counted::copies_left = 2;
    CHECK_THROWS_WITH(array<counted>::copy_of(v), "one copy too many");
    CHECK(counted::alive == 3);
    counted::copies_left = 1000;
    auto const a = array<counted>::copy_of(v);
    counted::copies_left = 1;
    CHECK_THROWS_WITH(a.with(0, counted{}), "one copy too many");
    CHECK(counted::alive == 6);
    counted::copies_left = 1000;
  }
  CHECK(counted::alive == 0);
}

TEST_CASE("elements have the alignment of their type") {
  struct alignas(64) line {
    double x[8];
  };
  array<line> const a{line{}, line{}};
  CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 64 == 0);
}

TEST_CASE("an array is a range and converts to a view") {
  array<i64> const a{1, 2, 3};
  i64 total = 0;
  for (i64 x : a) total = total * 10 + x;
  CHECK(total == 123);
  CHECK(a.span().size() == 3);
}

} // namespace
