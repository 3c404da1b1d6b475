// incremental: products with sparse matrices. A changed element affects the rows that read it.
#include "catch.hpp"
#include "contexts/executors.hpp"

#include <overdub/incremental.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;
using numbers = od::array<double>;
using indices = od::array<i64>;

// Rows of different lengths in one array; rows of one length; an array of rows.
constexpr auto compressed = od::fn<"compressed">([](auto w, auto start, auto col, auto val) {
  return od::sum(od::tabulate(od::size(start) - 1, [&](auto i) {
    auto const from = start[i];
    auto const z =
        od::sum(od::tabulate(start[i + 1] - from, [&](auto k) { return val[from + k] * w[col[from + k]]; }));
    return z * z;
  }));
});
constexpr auto padded = od::fn<"padded">([](auto w, auto col, auto val, auto width) {
  return od::sum(od::tabulate(od::size(col) / width, [&](auto i) {
    auto const z =
        od::sum(od::tabulate(width, [&](auto k) { return val[i * width + k] * w[col[i * width + k]]; }));
    return z * z;
  }));
});
constexpr auto in_rows = od::fn<"in_rows">([](auto w, auto col, auto val) {
  auto const scaled = od::map([](auto e) { return 2.0 * e; }, w);
  return od::map(
      [&](auto const& cs, auto const& vs) {
        return od::sum(od::map([&](auto c, auto v) { return v * scaled[c]; }, cs, vs));
      },
      col, val);
});

// Rows of one length, in which a column out of range marks a missing element.
constexpr auto with_gaps = od::fn<"with_gaps">([](auto w, auto col, auto val, auto width) {
  auto const n = od::size(w);
  return od::sum(od::tabulate(od::size(col) / width, [&](auto i) {
    return od::sum(od::tabulate(width, [&](auto k) {
      auto const c = col[i * width + k];
      return od::if_(
          c >= 0 && c < n, [&] { return val[i * width + k] * w[c]; }, [&] { return 0.0 * val[k]; });
    }));
  }));
});
// Sums over affected rows, and other reads of these.
constexpr auto product = [](auto const& w, auto const& start, auto const& col, auto const& val) {
  return od::tabulate(od::size(start) - 1, [&](auto i) {
    auto const from = start[i];
    return od::sum(
        od::tabulate(start[i + 1] - from, [&](auto k) { return val[from + k] * w[col[from + k]]; }));
  });
};
constexpr auto quadratic = od::fn<"quadratic">([](auto w, auto start, auto col, auto val) {
  auto const y = product(w, start, col, val);
  return std::tuple(od::sum(od::tabulate(od::size(start) - 1, [&](auto i) { return y[i] * w[i]; })), y);
});
constexpr auto looked_up = od::fn<"looked_up">([](auto w, auto start, auto col, auto val) {
  auto const y = product(w, start, col, val);
  return std::tuple(od::sum(od::tabulate(od::size(start) - 1, [&](auto i) { return y[i] * w[col[i]]; })), y);
});
constexpr auto two_products = od::fn<"two_products">([](auto w, auto start, auto col, auto val) {
  auto const y = product(w, start, col, val);
  auto const z = product(w, start, col, od::map([](auto v) { return v + 1.0; }, val));
  return std::tuple(od::sum(od::map(od::mul, y, z)), y, z);
});

struct random_numbers {
  std::uint64_t state = 11;
  std::uint64_t below(std::uint64_t n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % n;
  }
  double number() { return static_cast<double>(below(1000)) / 250 - 2; }
};

// Rows of 0 to 8 elements of `columns`.
struct matrix {
  std::vector<i64> start{0}, col;
  std::vector<double> val;
  matrix(i64 rows, std::uint64_t columns, random_numbers& r) {
    for (i64 i = 0; i < rows; ++i) {
      for (std::uint64_t n = r.below(9); n > 0; --n) {
        col.push_back(static_cast<i64>(r.below(columns)));
        val.push_back(r.number());
      }
      start.push_back(static_cast<i64>(col.size()));
    }
  }
};
std::vector<double> some(std::size_t n, random_numbers& r) {
  std::vector<double> all;
  for (std::size_t k = 0; k < n; ++k) all.push_back(r.number());
  return all;
}
bool is_close(double x, double y) { return std::abs(x - y) <= 1e-11 * (1 + std::abs(y)); }
bool has(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("a changed element of a vector runs the rows of a sparse matrix that read it") {
  for (auto const& o : executors()) {
    random_numbers r;
    matrix const m(300, 40, r);
    auto const w = some(40, r);
    auto f = od::incremental(o, compressed, w, m.start, m.col, m.val);
    f.set_at<0>(7, 0.75);
    f.propose();
    CHECK_THAT(
        f.explain(), Catch::Contains("a list of iterations") && Catch::Contains("updated by the difference"));
    f.rollback();
    f.set_at<3>(9, 0.75); // and an element of the matrix, which affects its row
    f.propose();
    CHECK_THAT(
        f.explain(), Catch::Contains("a list of iterations") && Catch::Contains("updated by the difference"));
    f.rollback();
    f.set_at<2>(9, i64{3}); // the reverse index is rebuilt
    f.propose();
    f.rollback();

    auto g = od::incremental(o, padded, w, std::vector<i64>(80, 3), std::vector<double>(80, 0.5), i64{4});
    g.set_at<0>(3, 0.25);
    g.propose();
    CHECK_THAT(g.explain(), Catch::Contains("a list of iterations"));
  }
}

TEST_CASE("sparse products are updated for changes of vectors, indices, elements and row lengths") {
  for (auto const& o : executors()) {
    random_numbers r;
    matrix m(60, 30, r);
    auto w = some(30, r);
    auto f = od::incremental(o, compressed, w, m.start, m.col, m.val);
    int lists = 0;
    for (int k = 0; k < 400; ++k) {
      auto w2 = w;
      matrix m2 = m;
      auto const any = [&](auto const& of) { return r.below(of.size()); };
      switch (r.below(8)) {
      case 0: // an index
        if (auto const at = any(m.col); true) f.set_at<2>(at, m2.col[at] = static_cast<i64>(r.below(30)));
        break;
      case 1: // the start of a row
        if (auto const at = 1 + r.below(59); true)
          f.set_at<1>(
              at, m2.start[at] = m.start[at - 1] + static_cast<i64>(r.below(static_cast<std::uint64_t>(
                                                       m.start[at + 1] - m.start[at - 1] + 1))));
        break;
      case 2:
        if (auto const at = any(m.val); true) f.set_at<3>(at, m2.val[at] = r.number());
        break;
      case 3: // two at once
        if (auto const at = any(m.col); true) f.set_at<2>(at, m2.col[at] = static_cast<i64>(r.below(30)));
        [[fallthrough]];
      case 4: // several elements
        for (std::uint64_t n = 1 + r.below(3); n > 0; --n)
          if (auto const at = any(w); true) f.set_at<0>(at, w2[at] = r.number());
        break;
      default:
        if (auto const at = any(w); true) f.set_at<0>(at, w2[at] = r.number());
      }
      double const wanted = compressed(
          numbers::copy_of(w2), indices::copy_of(m2.start), indices::copy_of(m2.col),
          numbers::copy_of(m2.val));
      double const proposed = f.propose();
      lists += has(f.explain(), "a list of iterations");
      INFO("update " << k << "\n" << f.explain());
      CHECK(is_close(proposed, wanted));
      if (r.below(3) == 0) {
        f.rollback();
        continue;
      }
      f.commit();
      CHECK(f.value() == proposed);
      w = w2;
      m = m2;
    }
    CHECK(lists > 200);
  }
}

TEST_CASE("rows that are arrays, of a computed vector, are found for lists of elements") {
  for (auto const& o : executors()) {
    random_numbers r;
    constexpr i64 rows = 50;
    std::vector<indices> col;
    std::vector<numbers> val;
    for (i64 i = 0; i < rows; ++i) {
      std::vector<i64> c;
      for (int k = 0; k < 4; ++k) c.push_back(static_cast<i64>(r.below(100)));
      col.push_back(indices::copy_of(c));
      val.push_back(numbers::copy_of(some(4, r)));
    }
    auto const cols = od::array<indices>::copy_of(col);
    auto const vals = od::array<numbers>::copy_of(val);
    auto w = some(100, r);
    auto f = od::incremental(o, in_rows, w, cols, vals);
    int lists = 0;
    for (int k = 0; k < 60; ++k) {
      for (std::uint64_t n = k % 3 == 0 ? 7 : 1 + r.below(4); n > 0; --n) {
        auto const at = r.below(100);
        f.set_at<0>(at, w[at] = r.number());
      }
      f.propose();
      lists += has(f.explain(), "a list of iterations");
      f.commit();
      auto const wanted = in_rows(numbers::copy_of(w), cols, vals), is = f.value();
      for (i64 i = 0; i < rows; ++i) CHECK(is[i] == wanted[i]); // computed, and not updated by differences
    }
    CHECK(lists > 50);
    auto copy = f;
    copy.set_at<0>(5, 0.125);
    w[5] = 0.125;
    copy.commit();
    CHECK(copy.value()[7] == in_rows(numbers::copy_of(w), cols, vals)[7]);
  }
}

TEST_CASE("the work of an update of a sparse product grows with the affected rows, not with all rows") {
  // Counted work, with 100 and 10,000 rows, two of which read the element.
  auto const work_of = [](i64 rows) {
    std::vector<i64> start, col;
    for (i64 i = 0; i <= rows; ++i) start.push_back(3 * i);
    for (i64 k = 0; k < 3 * rows; ++k) col.push_back(k < 6 && k % 3 == 0 ? 0 : 1 + k % 9);
    std::vector<double> const val(col.size(), 0.5), w(10, 1.0);
    auto f = od::incremental(compressed, w, start, col, val);
    for (int k = 0; k < 20; ++k) {
      f.set_at<0>(0, 0.125 * k);
      f.commit();
    }
    f.set_at<0>(0, 3.5);
    f.propose();
    std::string const text = f.explain();
    std::string const before = "the work of an update is ";
    return std::stod(text.substr(text.find(before) + before.size()));
  };
  double const few = work_of(1000), many = work_of(10'000);
  CHECK(many <= 1.1 * few);
}

TEST_CASE("a row that guards against an index out of range is not run, and nothing is written for it") {
  random_numbers r;
  constexpr i64 rows = 40, width = 4, columns = 20;
  std::vector<i64> col;
  for (i64 k = 0; k < rows * width; ++k) {
    auto const c = static_cast<i64>(r.below(columns + 4));
    col.push_back(
        c < columns        ? c
        : c == columns     ? -1
        : c == columns + 1 ? -3
        : c == columns + 2 ? i64{1} << 60
                           : c);
  }
  auto const val = some(col.size(), r);
  auto w = some(columns, r);
  auto const run = [&] {
    return with_gaps(numbers::borrow(w), indices::borrow(col), numbers::borrow(val), width);
  };
  auto p = od::incremental(with_gaps, numbers::borrow(w), indices::borrow(col), numbers::borrow(val), width);
  CHECK(is_close(p.value(), run()));
  for (int step = 0; step < 60; ++step) {
    auto const k = r.below(columns);
    w[k] = r.number();
    p.set_at<0>(static_cast<i64>(k), w[k]);
    p.propose();
    p.commit();
    REQUIRE(is_close(p.value(), run()));
  }
}

TEST_CASE("sums count a row once if it reads several changed elements, or one in several ways") {
  random_numbers r;
  constexpr std::uint64_t rows = 60;
  matrix const m(static_cast<i64>(rows), rows, r);
  auto w = some(rows, r);
  auto const agrees = [&](auto const& f) {
    auto const arguments = [&](auto const& g) {
      return g(numbers::borrow(w), indices::borrow(m.start), indices::borrow(m.col), numbers::borrow(m.val));
    };
    auto p = arguments([&](auto... x) { return od::incremental(f, x...); });
    for (int step = 0; step < 60; ++step) {
      for (std::uint64_t n = step % 3 == 0 ? 1 : 2 + r.below(12); n > 0; --n) {
        auto const k = r.below(rows);
        w[k] = r.number();
        p.template set_at<0>(static_cast<i64>(k), w[k]);
      }
      p.propose();
      p.commit();
      REQUIRE(is_close(std::get<0>(p.value()), std::get<0>(arguments(f))));
    }
  };
  agrees(quadratic);
  agrees(looked_up);
  agrees(two_products);
}
