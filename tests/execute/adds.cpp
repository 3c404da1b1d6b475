// Elements of a block add to one accumulator in the order of the elements, on which sums of floating-point numbers depend.
#include "texts.hpp"

using namespace overdub;

namespace {

std::vector<double> numbers(int n) {
  std::vector<double> all;
  for (int i = 0; i < n; ++i) all.push_back(((i * 7919 + 13) % 1009 - 504) / 7.0 + (i % 3 == 0 ? 1e5 : 0.0));
  return all;
}

// The results are the same element by element, in lanes, and as machine code if it is available.
template <class... A>
void all_agree(std::string_view text, A const&... arguments) {
  std::vector<datum> first;
  std::size_t way = 0;
  for (executable const& run : texts::executables_of(texts::program(text))) {
    auto const found = std::vector<datum>(run(arguments...));
    INFO("way " << way);
    if (way++ == 0)
      first = found;
    else
      CHECK(texts::text_of_all(found) == texts::text_of_all(first));
  }
  CHECK(way >= 2);
}

} // namespace

TEST_CASE("each cell gets several additions, in triangular loops") {
  // An element adds to a cell several times, by two operations; cells of different %j are independent, and are summed early.
  auto const text = R"(func @f(%x: f64[], %s: f64[], %k: i64, %d: i64) -> (f64[], f64[]) {
    %n = length %x : i64
    %a, %b = accumulate (%u: acc f64[] = %s, %v: acc f64[] = %s) -> (f64[], f64[]) {
      map %n (%i: i64) {
        %e = at %x, %i : f64
        map %k (%j: i64) {
          %row = mul %j, %d : i64
          map %d (%r: i64) {
            %fr = convert %r : f64
            %er = add %e, %fr : f64
            map %r (%c: i64) {
              %cell = add %row, %c : i64
              %fc = convert %c : f64
              %ec = mul %er, %fc : f64
              add_to %u, %cell, %ec
              yield
            }
            %diagonal = add %row, %r : i64
            add_to %u, %diagonal, %er
            add_to %v, %diagonal, %e
            yield
          }
          yield
        }
        yield
      }
      yield
    }
    return %a, %b
  })";
  for (int const n : {1, 2, 127, 128, 130, 300})
    for (i64 const k : {1, 3, 9})
      for (i64 const d : {0, 1, 3, 13}) all_agree(text, numbers(n), numbers(static_cast<int>(k * d)), k, d);
}

TEST_CASE("cells get further additions after an early sum") {
  // Each iteration of the outer loop adds enough to the same cells for an early sum; so does an integer count.
  auto const text = R"(func @f(%x: f64[], %s: f64[], %c: i64[], %trips: i64) -> (f64[], i64[]) {
    %n = length %x : i64
    %d = length %s : i64
    %a, %b = accumulate (%u: acc f64[] = %s, %v: acc i64[] = %c) -> (f64[], i64[]) {
      map %n (%i: i64) {
        %e = at %x, %i : f64
        add_to %v, 0, 1
        loop %trips (%t: i64) {
          %ft = convert %t : f64
          %et = div %e, %ft : f64
          map %d (%j: i64) {
            add_to %u, %j, %et
            add_to %v, 1, %j
            yield
          }
          yield
        }
        yield
      }
      yield
    }
    return %a, %b
  })";
  for (int const n : {1, 5, 128, 200})
    for (i64 const trips : {0, 1, 2, 7})
      all_agree(text, numbers(n), numbers(100), std::vector<i64>{5, 6}, trips);
}

TEST_CASE("neighbouring elements add to the same cells") {
  auto const text = R"(func @f(%x: f64[], %k: i64[], %s: f64[]) -> (f64[], f64[]) {
    %n = length %x : i64
    %a, %b = accumulate (%u: acc f64[] = %s, %v: acc f64[] = %s) -> (f64[], f64[]) {
      map %n (%i: i64) {
        %e = at %x, %i : f64
        %after = add %i, 1 : i64
        %h = mul %e, 0.3 : f64
        add_to %u, %after, %h
        add_to %u, %i, %e
        %where = at %k, %i : i64
        add_to %v, %where, %e
        add_to %v, 0, %h
        yield
      }
      yield
    }
    return %a, %b
  })";
  for (int const n : {1, 2, 3, 127, 128, 129, 500}) {
    std::vector<i64> where;
    for (int i = 0; i < n; ++i) where.push_back((i * 31 + 7) % 5);
    all_agree(text, numbers(n), where, numbers(n + 4));
  }
}

TEST_CASE("lanes add in branches that not all lanes take") {
  // Indices of masked lanes are arbitrary.
  auto const text = R"(func @f(%x: f64[], %k: i64[], %s: f64[]) -> (f64[], f64[], f64[]) {
    %n = length %x : i64
    %zero = fill 2, 0.0 : f64[]
    %a, %b, %y = accumulate (%u: acc f64[] = %s, %v: acc f64[] = %s) -> (f64[], f64[], f64[]) {
      %got = map %n (%i: i64) -> f64 {
        %e = at %x, %i : f64
        %j = at %k, %i : i64
        %some = ge %j, 0 : bool
        %large = gt %e, 0.0 : bool
        %own = accumulate (%w: acc f64[] = %zero) -> f64[] {
          if %some {
            if %large { add_to %w, %j, %e add_to %w, 1, 1.0 yield } else { add_to %w, 0, 0.25 yield }
            add_to %v, %j, %e
            add_to %u, 1, %e
            yield
          } else {
            add_to %u, 0, %e
            if %large { add_to %u, 1, 0.1 yield } else { yield }
            yield
          }
          yield
        }
        %first = at %own, 0 : f64
        %second = at %own, 1 : f64
        %both = sub %first, %second : f64
        yield %both
      }
      yield %got
    }
    return %a, %b, %y
  })";
  for (int const n : {1, 2, 60, 128, 300}) {
    std::vector<i64> where;
    for (int i = 0; i < n; ++i) where.push_back((i * 31 + 7) % 5 < 2 ? (i * 7 + 1) % 2 : -i - 1);
    all_agree(text, numbers(n), where, numbers(2));
  }
  texts::gives(
      text, "[1.0, -1.0], [0, 2], [0.0, 0.0]",
      "overdub: add_to: index 2 is out of range for an array of size 2");
}

TEST_CASE("rows are added in the order of the elements") {
  auto const text = R"(func @f(%x: f64[], %s: f64[][], %k: i64[]) -> (f64[][], f64[][]) {
    %n = length %x : i64
    %a, %b = accumulate (%u: acc f64[][] = %s, %v: acc f64[][] = %s) -> (f64[][], f64[][]) {
      map %n (%i: i64) {
        %e = at %x, %i : f64
        %h = mul %e, 0.3 : f64
        %row = array %e, %h, 0.1 : f64[]
        %other = array %h, 1e-3, %e : f64[]
        loop 2 (%t: i64) {
          add_to %u, %t, %row
          add_to %u, 1, %other
          yield
        }
        %j = at %k, %i : i64
        add_to %v, %j, %row
        add_to %v, 0, 1, %e
        yield
      }
      yield
    }
    return %a, %b
  })";
  datum const s = texts::data("[[0.0, 1.0, 2.0], [0.5, 0.25, 1e5]]")[0];
  for (int const n : {1, 3, 128, 200}) {
    std::vector<i64> where;
    for (int i = 0; i < n; ++i) where.push_back((i * 31 + 7) % 5 % 2);
    all_agree(text, numbers(n), s, where);
  }
  texts::gives(text, "[1.0], [[0.0, 0.0]], [0]", "overdub: add_to: arrays of different sizes, 2 and 3");
}

TEST_CASE("numbers of single precision are added in the order of the elements") {
  auto const text = R"(func @f(%x: f64[], %s: f32[]) -> f32[] {
    %n = length %x : i64
    %a = accumulate (%u: acc f32[] = %s) -> f32[] {
      map %n (%i: i64) {
        %e = at %x, %i : f64
        %g = convert %e : f32
        loop 40 (%t: i64) {
          %r = rem %t, 3 : i64
          add_to %u, %r, %g
          add_to %u, 0, %g
          yield
        }
        yield
      }
      yield
    }
    return %a
  })";
  for (int const n : {1, 100, 200}) all_agree(text, numbers(n), std::vector<float>{0.5f, 1e6f, 1e-3f});
}

TEST_CASE("a block accepts more additions than its buffer") {
  auto const text = R"(func @f(%x: f64[], %s: f64[], %trips: i64) -> f64[] {
    %n = length %x : i64
    %a = accumulate (%u: acc f64[] = %s) -> f64[] {
      map %n (%i: i64) {
        %e = at %x, %i : f64
        add_to %u, 1, %e
        loop %trips (%t: i64) {
          add_to %u, 0, %e
          yield
        }
        yield
      }
      yield
    }
    return %a
  })";
  all_agree(text, numbers(300), std::vector{0.1, 0.2}, i64{9000});
}

TEST_CASE("calls after a failed addition are correct") {
  auto const text = R"(func @f(%x: f64[], %k: i64[], %s: f64[]) -> f64[] {
    %n = length %x : i64
    %a = accumulate (%u: acc f64[] = %s) -> f64[] {
      map %n (%i: i64) {
        %e = at %x, %i : f64
        add_to %u, 0, %e
        %j = at %k, %i : i64
        add_to %u, %j, %e
        yield
      }
      yield
    }
    return %a
  })";
  for (executable const& run : texts::executables_of(texts::program(text)))
    for (int again = 0; again < 2; ++again) {
      CHECK(texts::outcome_of(run, "[1.0, 2.0], [1, 0], [0.5, 0.25]") == "[5.5, 1.25]");
      CHECK(
          texts::outcome_of(run, "[1.0, 2.0], [1, 2], [0.5, 0.25]") ==
          "overdub: add_to: index 2 is out of range for an array of size 2");
    }
}
