#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/control/parallel.hpp>
#include <overdub/overdub.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace od = overdub;
using od::i64;
using od::parallel_map;
using overdub::contexts::count;
using overdub::contexts::forward;

namespace {

constexpr auto wave = od::fn<"wave">([](auto x) { return sin(x) * exp(x * 0.125) + x / 3.0; });

od::array<double> numbers(i64 n) {
  return od::map([](i64 i) { return 0.37 * static_cast<double>(i) - 3.0; }, od::iota(n));
}

// The threads that called a function.
struct seen_threads {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  void add() {
    std::lock_guard const lock(mutex);
    ids.insert(std::this_thread::get_id());
  }
  bool only_this() const { return ids == std::set{std::this_thread::get_id()}; }
} seen;
constexpr auto note_thread = od::leaf<"note_thread">([](int) { seen.add(); });
constexpr auto noted = od::fn<"noted">([](auto x) {
  note_thread(0);
  return x + 1.0;
});

// Records its calls in order, and those of its forks in the order of the elements.
struct trace : od::context {
  std::vector<double> arguments;
  int forks = 0, joins = 0;
  void before(decltype(wave), double x) { arguments.push_back(x); }
  trace fork() { return ++forks, trace{}; }
  void join(trace&& other) {
    ++joins;
    arguments.insert(arguments.end(), other.arguments.begin(), other.arguments.end());
  }
};

struct without_fork : od::context {
  int calls = 0;
  void before(od::function auto, auto const&...) { ++calls; }
};

} // namespace

TEST_CASE("parallel_map equals map to the bit, for 0 to 100 elements on 1 to 8 threads") {
  for (i64 n = 0; n <= 100; ++n) {
    auto const xs = numbers(n);
    auto const expected = od::map(wave, xs);
    for (int threads = 1; threads <= 8; ++threads)
      if (!(parallel_map.on(threads)(wave, xs) == expected)) FAIL_CHECK(n << " elements on " << threads);
  }
  CHECK(parallel_map(wave, numbers(1000)) == od::map(wave, numbers(1000)));
  CHECK(parallel_map.on(-5)(wave, numbers(10)) == od::map(wave, numbers(10)));
}

TEST_CASE("parallel_map accepts several arrays, trees, and functions with captures") {
  double const shift = 2.0;
  auto const f = [&](double x, i64 i) { return std::tuple(x + shift, i % 3 == 0, i); };
  auto const [sums, thirds, indices] = parallel_map.on(3)(f, numbers(50), od::iota(50));
  auto const [sums_, thirds_, indices_] = od::map(f, numbers(50), od::iota(50));
  CHECK((sums == sums_ && thirds == thirds_ && indices == indices_));
  auto const g = [](auto const& e) { return std::get<0>(e) * std::get<1>(e); };
  CHECK(
      parallel_map.on(4)(g, od::zip(numbers(33), numbers(33))) ==
      od::map(g, od::zip(numbers(33), numbers(33))));
  CHECK_THROWS_AS(parallel_map.on(2)(f, numbers(3), od::iota(4)), od::size_error);
}

TEST_CASE("count is exact in parallel_map, alone and composed") {
  auto const f = od::fn<"f">([](auto xs) { return od::sum(parallel_map.on(4)(wave, xs)); });
  for (i64 n : {0, 1, 2, 3, 7, 100}) {
    count alone, outer, inner;
    od::run(alone, f, numbers(n));
    CHECK(alone.functions == 1 + n);
    CHECK(alone.primitives == 2 + 7 * n); // plus an addition for each element
    od::run(od::compose(outer, forward{}), f, numbers(n));
    CHECK((outer.functions == alone.functions && outer.primitives == alone.primitives));
    od::run(od::compose(forward{}, inner), f, numbers(n));
    CHECK(inner.functions == alone.functions);
  }
  count a, b;
  od::run(od::compose(a, b), f, numbers(20));
  CHECK((a.functions == 21 && b.functions == 21));
}

TEST_CASE("forks are joined in the order of the elements, whatever the number of threads") {
  auto const xs = numbers(41);
  for (int threads = 1; threads <= 8; ++threads) {
    auto const f = od::fn<"f">([](auto const& map, auto elements) { return map(wave, elements); });
    trace t;
    CHECK(od::run(t, f, parallel_map.on(threads), xs) == od::map(wave, xs));
    CHECK(t.arguments == std::vector(xs.begin(), xs.end()));
    CHECK(t.forks == (threads == 1 ? 0 : threads));
    CHECK(t.forks == t.joins);
  }
}

TEST_CASE("parallel_map is parallel without contexts, in stateless contexts and in those that fork") {
  auto const f = od::fn<"f">([](auto xs) { return parallel_map.on(3)(noted, xs); });
  auto const in_parallel = [&](auto&& run) {
    seen.ids.clear();
    run();
    return seen.ids.size() == 3 && seen.ids.count(std::this_thread::get_id()) == 1;
  };
  struct stateless : od::context {};
  count c;
  CHECK(in_parallel([&] { f(numbers(9)); }));
  CHECK(in_parallel([&] { od::run(stateless{}, f, numbers(9)); }));
  CHECK(in_parallel([&] { od::run(forward{}, f, numbers(9)); }));
  CHECK(in_parallel([&] { od::run(c, f, numbers(9)); }));
  CHECK(in_parallel([&] { od::run(od::compose(c, forward{}), f, numbers(9)); }));
}

TEST_CASE("parallel_map runs on one thread if a context with state cannot fork, or if f has captures in it") {
  auto const f = od::fn<"f">([](auto xs) { return parallel_map.on(3)(noted, xs); });
  auto const capturing = od::fn<"capturing">(
      [](auto xs, auto y) { return parallel_map.on(3)([&](auto x) { return noted(x) + y; }, xs); });
  auto const on_this_thread = [&](auto&& run) {
    seen.ids.clear();
    run();
    return seen.only_this();
  };
  without_fork context;
  count c;
  CHECK(on_this_thread([&] { od::run(context, f, numbers(9)); }));
  CHECK(on_this_thread([&] { od::run(od::compose(c, context), f, numbers(9)); }));
  CHECK(on_this_thread([&] { od::run(od::compose(forward{}, context), f, numbers(9)); }));
  CHECK((context.calls == 30 && c.functions == 10));
  c = {};
  CHECK(on_this_thread([&] { od::run(c, capturing, numbers(9), 1.0); }));
  CHECK(c.functions == 10);
  CHECK(!on_this_thread([&] { od::run(forward{}, capturing, numbers(9), 1.0); }));
}

TEST_CASE("parallel_map of elements with a destructor runs on one thread") {
  seen.ids.clear();
  auto const f = [](double x) { return seen.add(), std::make_shared<double>(x); };
  auto const pointers = parallel_map.on(3)(f, numbers(9));
  CHECK((*pointers[8] == numbers(9)[8] && seen.only_this()));
}

TEST_CASE("parallel_map throws the exception of the first failing element after all threads have ended") {
  for (int threads = 1; threads <= 8; ++threads) {
    std::atomic<int> running = 0;
    auto const f = [&](double x) {
      ++running;
      if (x > 0.5 && x < 1.5)
        std::this_thread::sleep_for(std::chrono::milliseconds(2)); // the first element fails last
      --running;
      if (x > 0.5) throw std::runtime_error(std::to_string(static_cast<int>(x)));
      return x;
    };
    auto const xs = od::map(od::convert<double>, od::iota(40));
    CHECK_THROWS_WITH(parallel_map.on(threads)(f, xs), "1");
    CHECK(running == 0);
  }
}

namespace {

constexpr auto check = od::leaf<"check">([](double x) {
  if (x > 5) throw std::runtime_error("too large");
  return x;
});
constexpr auto careful = od::fn<"careful">([](auto x) { return check(x); });

struct failures : od::context {
  int calls = 0, failed_calls = 0, forks = 0, joins = 0;
  void before(decltype(careful), double) { ++calls; }
  void failed(decltype(careful), std::exception_ptr, double) { ++failed_calls; }
  failures fork() { return ++forks, failures{}; }
  void join(failures&& other) { ++joins, calls += other.calls, failed_calls += other.failed_calls; }
};

} // namespace

TEST_CASE("all forks are joined if an element fails: their counts include the calls that ran and failed") {
  failures context;
  auto const f = od::fn<"f">([](auto xs) { return parallel_map.on(4)(careful, xs); });
  CHECK_THROWS_WITH(od::run(context, f, od::array<double>{0, 9, 1, 2, 3, 7, 8, 4}), "too large");
  CHECK((context.forks == 4 && context.joins == 4));
  CHECK((context.failed_calls == 3 && context.calls == 2 + 2 + 2 + 1));
}

TEST_CASE("parallel_map may be nested") {
  auto const f = od::fn<"f">([](auto xs) {
    return parallel_map.on(3)(
        [](auto x) {
          auto const inner =
              parallel_map.on(2)([](auto i) { return wave(od::convert<double>(i)); }, od::iota(5));
          return od::sum(inner) * x;
        },
        xs);
  });
  auto const plain = od::fn<"plain">([](auto xs) {
    return od::map(
        [](auto x) {
          auto const inner = od::map([](auto i) { return wave(od::convert<double>(i)); }, od::iota(5));
          return od::sum(inner) * x;
        },
        xs);
  });
  auto const xs = numbers(7);
  CHECK(f(xs) == plain(xs));
  auto const seeded = od::tag(xs, numbers(7));
  auto const r = od::run(forward{}, f, seeded), expected = od::run(forward{}, plain, seeded);
  CHECK((r.inner == expected.inner && r.metadata == expected.metadata));
}

TEST_CASE("count is exact for nested parallel_maps") {
  auto const f = od::fn<"f">([](auto xs) {
    return parallel_map.on(3)([](auto x) { return od::sum(parallel_map.on(2)(wave, od::fill(4, x))); }, xs);
  });
  count c, of_map;
  auto const r = od::run(c, f, numbers(7));
  auto const g = od::fn<"g">(
      [](auto xs) { return od::map([](auto x) { return od::sum(od::map(wave, od::fill(4, x))); }, xs); });
  CHECK(r == od::run(of_map, g, numbers(7)));
  CHECK((c.functions == of_map.functions && c.primitives == of_map.primitives && c.functions == 29));
}

TEST_CASE("the metadata of an element does not affect other elements, in forward and its compositions") {
  auto const f = od::fn<"f">([](auto xs) { return parallel_map.on(8)(wave, xs); });
  auto const slope = [](double x) {
    return std::cos(x) * std::exp(x * 0.125) + 0.125 * std::sin(x) * std::exp(x * 0.125) + 1 / 3.0;
  };
  auto const xs = numbers(100);
  for (i64 only = 0; only < 100; only += 9) {
    auto const seeds = od::map([only](i64 i) { return i == only ? 1.0 : 0.0; }, od::iota(100));
    count c;
    auto const alone = od::run(forward{}, f, od::tag(xs, seeds));
    auto const counted = od::run(od::compose(c, forward{}), f, od::tag(xs, seeds));
    auto const within = od::run(od::compose(forward{}, c), f, od::tag(xs, seeds));
    for (auto const& r : {alone, counted, within})
      for (i64 i = 0; i < 100; ++i) {
        if (i == only) CHECK(r.metadata[i] == Approx(slope(xs[i])));
        if (i != only && r.metadata[i] != 0.0) FAIL_CHECK(only << " reached " << i);
      }
  }
}

TEST_CASE("log cannot fork, and writes parallel_map in order") {
  std::ostringstream out;
  overdub::contexts::log log(out);
  auto const f = od::fn<"f">([](auto xs) { return parallel_map.on(2)(od::neg, xs); });
  od::run(log, f, od::array<double>{1, 2});
  CHECK(out.str() == R"(f([1, 2])
  parallel_map(neg, [1, 2])
    neg(1) = -1
    neg(2) = -2
  = [-1, -2]
= [-1, -2]
)");
}

TEST_CASE("strict runs check functions on the other threads, too") {
  struct watchful : od::strict {};
  auto const outside = od::fn<"outside">([](auto x) { return x; });
  auto const f =
      od::fn<"f">([](auto xs, auto g) { return parallel_map.on(2)([g](auto x) { return x + g(1.0); }, xs); });
  CHECK_THROWS_AS(od::run(watchful{}, f, numbers(4), outside), od::escaped_call);
}

TEST_CASE(
    "no element runs if a fork throws; if a join throws, parallel_map throws after all threads have ended") {
  struct fragile : od::context {
    int limit = 0, forks = 0, joins = 0;
    std::atomic<int>* calls = nullptr;
    void before(decltype(wave), double) { ++*calls; }
    fragile fork() {
      if (++forks == limit) throw std::runtime_error("no fork");
      fragile other = *this;
      return other;
    }
    void join(fragile&&) {
      if (++joins == 2) throw std::runtime_error("no join");
    }
  };
  auto const f = od::fn<"f">([](auto xs) { return parallel_map.on(4)(wave, xs); });
  std::atomic<int> calls = 0;
  fragile no_forks, no_joins;
  no_forks.limit = 3;
  no_forks.calls = no_joins.calls = &calls;
  CHECK_THROWS_WITH(od::run(no_forks, f, numbers(20)), "no fork");
  CHECK(calls == 0);
  CHECK_THROWS_WITH(od::run(no_joins, f, numbers(20)), "no join");
  CHECK(calls == 20);
}

TEST_CASE("parallel_map accepts arrays of structs, flags and other small elements on many threads") {
  auto const f = [](i64 i) {
    return std::tuple(i % 2 == 0, static_cast<unsigned char>(i), static_cast<float>(i), std::array{i, i * i});
  };
  auto const [flags, bytes, floats, pairs] = parallel_map.on(8)(f, od::iota(1000));
  auto const [flags_, bytes_, floats_, pairs_] = od::map(f, od::iota(1000));
  CHECK((flags == flags_ && bytes == bytes_ && floats == floats_ && pairs == pairs_));
}
