// trace: the recorded spans, on every executor.
#include "catch.hpp"
#include "spans.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/compile/scoped_global.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/memoize.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/stage/evaluate.hpp>
#if OVERDUB_TESTS_JIT
#include <overdub/jit/executor.hpp>
#endif

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

namespace od = overdub;
namespace tracing = overdub::contexts::tracing;
using overdub::contexts::recording;
using overdub::contexts::trace;
using overdub::contexts::trace_with;

namespace {

constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
constexpr auto norm = od::fn<"norm">([](auto x, auto y) {
  auto const xx = square(x);
  auto const yy = square(y);
  return sqrt(xx + yy);
});
constexpr auto twice = od::fn<"twice">([](auto x) {
  auto const a = norm(x, 1.0);
  return norm(a, x);
});
constexpr auto checked = od::leaf<"checked">([](double x) {
  if (x < 0) throw std::domain_error("negative");
  return x;
});
constexpr auto root = od::fn<"root">([](auto x) {
  auto const y = checked(x);
  return od::sqrt(y);
});
constexpr auto fib = od::fn<"fib">([](od::scope auto& cx, auto n) -> decltype(n) {
  return od::if_(
      n < 2, [&] { return n; },
      [&] {
        auto const a = cx.self(n - 1);
        return a + cx.self(n - 2);
      });
});

constexpr char const* of_norm = "norm\n  square\n  square\n";

} // namespace

TEST_CASE("spans nest as the calls of functions do") {
  recording r;
  CHECK(od::run(trace{}, norm, 3.0, 4.0) == 5.0);
  CHECK(spans::tree(r) == of_norm);
}

TEST_CASE("leaves are spans, and operations are if they are selected") {
  recording r;
  od::run(trace{}, root, 4.0);
  CHECK(spans::tree(r) == "root\n  checked\n");
  recording const* const same = &r;
  r.stop();
  CHECK(spans::tree(*same) == "root\n  checked\n");
  recording operations;
  od::run(trace_with<tracing::operations>{}, root, 4.0);
  CHECK(spans::tree(operations) == "root\n  checked\n  sqrt\n");
}

TEST_CASE("trace records arguments and results: numbers of all types, and the sizes of arrays") {
  auto const all = od::fn<"all">([](auto, auto i, auto u, auto b, auto f, auto xs) { // no tuples
    auto const n = od::size(xs);
    return od::convert<double>(n) + od::convert<double>(i) + f + od::convert<double>(u) +
           od::select(b, 1.0, 0.0);
  });
  recording r;
  od::run(
      trace_with<tracing::arguments>{}, all, std::tuple{1.0, 2.0}, std::int64_t{-3}, std::uint64_t{7}, true,
      0.5f, od::array<double>{1, 2, 3});
  CHECK(
      spans::tree(r) ==
      "all {\"1\":-3,\"2\":7,\"3\":true,\"4\":0.5,\"5\":\"3 elements\"}\n= \"result\":8.5\n");
}

TEST_CASE("arguments that are no JSON numbers are strings") {
  recording r;
  od::run(trace_with<tracing::arguments>{}, square, std::numeric_limits<double>::infinity());
  CHECK(spans::tree(r) == "square {\"0\":\"inf\"}\n= \"result\":\"inf\"\n");
}

TEST_CASE("a span that an exception leaves ends, and is marked as failed") {
  recording r;
  CHECK_THROWS_AS(od::run(trace{}, root, -1.0), std::domain_error);
  od::run(trace{}, square, 2.0);
  CHECK(spans::tree(r) == "root\n  checked\n  = \"failed\":true\n= \"failed\":true\nsquare\n");
}

TEST_CASE("to_depth limits the depth of spans, also in a recursion") {
  {
    recording r;
    od::run(trace_with<tracing::to_depth<1>>{}, twice, 3.0);
    od::run(trace_with<tracing::to_depth<2>>{}, twice, 3.0);
    od::run(trace_with<tracing::to_depth<3>>{}, twice, 3.0);
    CHECK(
        spans::tree(r) == "twice\ntwice\n  norm\n  norm\n"
                          "twice\n  norm\n    square\n    square\n  norm\n    square\n    square\n");
  }
  recording r;
  CHECK(od::run(trace_with<tracing::to_depth<3>>{}, fib, 5) == 5);
  CHECK(spans::tree(r) == "fib\n  fib\n    fib\n    fib\n  fib\n    fib\n    fib\n");
}

TEST_CASE("only records the functions of the given names, wherever they are called") {
  recording r;
  od::run(trace_with<tracing::only<"square">>{}, norm, 3.0, 4.0);
  od::run(trace_with<tracing::only<"nor*", "sqrt">, tracing::operations>{}, norm, 3.0, 4.0);
  od::run(trace_with<tracing::only<"n", "squares", "norm.*">>{}, norm, 3.0, 4.0);
  CHECK(spans::tree(r) == "square\nsquare\nnorm\n  sqrt\n");
}

TEST_CASE("without omits the functions of the given names, with all calls in them") {
  recording r;
  od::run(trace_with<tracing::without<"norm">>{}, twice, 3.0);
  od::run(trace_with<tracing::without<"s*">, tracing::operations>{}, norm, 3.0, 4.0);
  CHECK(spans::tree(r) == "twice\nnorm\n  add\n");
}

TEST_CASE("a derived function is recorded by its derived name, and filtered by the name of its origin") {
  recording r;
  od::run(od::compose(od::contexts::forward{}, trace{}), norm, od::tag(3.0, 1.0), 4.0);
  od::run(
      od::compose(od::contexts::forward{}, trace_with<tracing::only<"norm">>{}), norm, od::tag(3.0, 1.0),
      4.0);
  CHECK(spans::tree(r) == "norm.forward\n  square.forward\n  square.forward\nnorm.forward\n");
}

TEST_CASE("outside of forward a trace observes the program; results are unchanged") {
  recording r;
  auto const y = od::run(od::compose(trace{}, od::contexts::forward{}), norm, od::tag(3.0, 1.0), 4.0);
  CHECK((y.inner == 5.0 && y.metadata == 3.0 / 5.0));
  od::contexts::count count;
  od::run(od::compose(count, trace{}), norm, 3.0, 4.0);
  CHECK(count.functions == 3);
  CHECK(spans::tree(r) == std::string(of_norm) + "norm.count\n  square.count\n  square.count\n");
}

TEST_CASE("calls that memoize finds have no spans inside of them") {
  recording r;
  od::contexts::memoize memory;
  od::run(od::compose(trace{}, memory), twice, 3.0);
  auto const first = spans::tree(r);
  od::run(od::compose(trace{}, memory), twice, 3.0);
  CHECK(spans::occurrences(spans::tree(r), "twice\n") == spans::occurrences(first, "twice\n") + 1);
  CHECK(spans::occurrences(spans::tree(r), "square\n") == spans::occurrences(first, "square\n"));
}

TEST_CASE("one_in<3> records every third outermost span, with all calls in it") {
  using sampled = trace_with<tracing::one_in<3>>;
  recording r;
  for (int i = 0; i < 7; ++i) od::run(sampled{}, norm, 3.0, 4.0);
  CHECK(spans::tree(r) == std::string(of_norm) + of_norm + of_norm);
  recording const failing = (r.stop(), recording{});
  for (int i = 0; i < 4; ++i)
    CHECK_THROWS(od::run(sampled{}, root, -1.0)); // of three, the second and the fifth
  CHECK(spans::occurrences(spans::tree(failing), "root\n") == 1);
}

TEST_CASE("counts counts calls, without spans") {
  using counting = trace_with<tracing::counts, tracing::operations>;
  recording r;
  for (int i = 0; i < 100; ++i) od::run(counting{}, norm, 3.0, 4.0);
  CHECK(
      r.counts() == std::map<std::string, std::uint64_t>{
                        {"norm", 100}, {"square", 200}, {"mul", 200}, {"add", 100}, {"sqrt", 100}});
  CHECK(r.statistics().records == 0);
  r.stop();
  recording later;
  od::run(trace_with<tracing::counts>{}, norm, 3.0, 4.0);
  CHECK(later.counts() == std::map<std::string, std::uint64_t>{{"norm", 1}, {"square", 2}});
}

TEST_CASE("traces that count allocate no memory for records") {
  recording r(std::size_t{1} << 40); // 16 TiB, more than the memory
  od::run(trace_with<tracing::counts>{}, norm, 3.0, 4.0);
  CHECK(r.counts() == std::map<std::string, std::uint64_t>{{"norm", 1}, {"square", 2}});
  CHECK((r.statistics().records == 0 && r.statistics().lost == 0 && spans::tree(r).empty()));
}

TEST_CASE("staged, interpreted and compiled programs have the spans of direct runs") {
  using all = trace_with<tracing::operations, tracing::arguments>;
  auto const text = [](auto const& run) {
    recording r;
    CHECK(run() == 5.0);
    return spans::tree(r);
  };
  std::string const direct = text([] { return od::run(all{}, norm, 3.0, 4.0); });
  CHECK(spans::occurrences(direct, "\n") == 14);
  od::ir::program const p = od::stage(all{}, norm, od::signature<double, double>);
  CHECK(text([&] { return od::evaluate<double>(p, 3.0, 4.0); }) == direct);
  auto const interpreted =
      od::compile(all{}, norm, od::signature<double, double>, {.tiers = od::tiers::interpret_only});
  CHECK(text([&] { return interpreted(3.0, 4.0); }) == direct);
#if OVERDUB_TESTS_JIT
  auto const compiled = od::compile(
      all{}, norm, od::signature<double, double>,
      {.executor = od::jit::compiled(), .tiers = od::tiers::compile_now});
  CHECK(text([&] { return compiled(3.0, 4.0); }) == direct);
#endif
}

TEST_CASE("compiled programs have the filters, samples, counts and failures of direct runs") {
  auto const same = []<class Trace>(Trace t, auto const& f, double x) {
    auto const tree = [&](auto const& run) {
      recording r;
      for (int i = 0; i < 3; ++i) try {
          (void)run(x);
        } catch (std::domain_error const&) {
        }
      std::string text = spans::tree(r);
      for (auto const& [name, n] : r.counts()) text += name + ' ' + std::to_string(n) + '\n';
      return text;
    };
    std::string const direct = tree([&](double y) { return od::run(t, f, y); });
    CHECK_FALSE(direct.empty());
    CHECK(tree(od::compile(t, f, od::signature<double>, {.tiers = od::tiers::interpret_only})) == direct);
#if OVERDUB_TESTS_JIT
    CHECK(
        tree(od::compile(
            t, f, od::signature<double>,
            {.executor = od::jit::compiled(), .tiers = od::tiers::compile_now})) == direct);
#endif
  };
  same(trace{}, twice, 3.0);
  same(trace_with<tracing::to_depth<2>>{}, twice, 3.0);
  same(trace_with<tracing::without<"norm">>{}, twice, 3.0);
  same(trace_with<tracing::only<"square">>{}, twice, 3.0);
  same(trace_with<tracing::counts, tracing::operations>{}, twice, 3.0);
  same(trace_with<tracing::one_in<3>>{}, twice, 3.0);
  same(trace{}, root, -1.0);
  same(trace_with<tracing::arguments, tracing::to_depth<1>>{}, root, 4.0);
}

TEST_CASE("a trace composes with forward in compiled programs") {
  auto const f = od::compile(
      od::compose(trace{}, od::contexts::forward{}), norm, od::signature<od::tagged<double, double>, double>);
  recording r;
  CHECK(f(od::tag(3.0, 1.0), 4.0).metadata == 3.0 / 5.0);
  CHECK(spans::tree(r) == of_norm);
}

TEST_CASE("a trace in a scoped_global has the operations of compiled functions") {
  auto const f = od::compile(od::compose(), norm, od::signature<double, double>);
  recording r;
  {
    trace_with<tracing::operations, tracing::only<"mul", "add", "sqrt">>
        operations; // a hook for all operations takes long to compile
    od::scoped_global const everywhere(operations);
    CHECK(f(3.0, 4.0) == 5.0);
  }
  CHECK(f(3.0, 4.0) == 5.0);
  CHECK(spans::tree(r) == "mul\nmul\nadd\nsqrt\n");
}

TEST_CASE("without a recording no calls are recorded, and results are the same") {
  CHECK(od::run(trace{}, norm, 3.0, 4.0) == 5.0);
  recording r;
  CHECK(spans::tree(r).empty());
  CHECK(r.statistics().threads == 0);
}

TEST_CASE("a recording that begins or ends inside of calls has the complete spans") {
  static std::optional<recording> r;
  auto const begin = od::leaf<"begin">([](double x) { return r.emplace(), x; });
  auto const end = od::leaf<"end">([](double x) { return r->stop(), x; });
  auto const f = od::fn<"f">([=](auto x) {
    auto const y = square(begin(x)); // the span of begin has no begin, and ends outside of any span
    auto const z = square(end(y));
    return z;
  });
  CHECK(od::run(trace{}, f, 2.0) == 16.0);
  CHECK(spans::tree(*r) == "square\nend\n");
  r.reset();
}

TEST_CASE("at most one recording is active") {
  std::optional<recording> first(std::in_place);
  CHECK_THROWS_WITH(
      recording(), "overdub: a trace is recorded already; end that recording before another begins");
  od::run(trace{}, square, 2.0);
  CHECK(spans::tree(*first) == "square\n"); // the failed begin does not end the first recording
  first.reset();
  recording second;
  od::run(trace{}, norm, 3.0, 4.0);
  CHECK(spans::tree(second) == of_norm);
}

TEST_CASE("the last records of a thread are kept, and the number of lost ones is reported") {
  recording r(100); // rounded up to 128
  for (int i = 0; i < 1000; ++i) od::run(trace{}, square, 2.0);
  auto const text = spans::tree(r);
  CHECK(spans::occurrences(text, "square\n") == 63); // the slot of the oldest record may be overwritten
  CHECK(text.starts_with("1873 records lost\nsquare\n"));
  CHECK((r.statistics().records == 2000 && r.statistics().lost == 1873));
}

TEST_CASE("a control primitive is an operation, and the calls in it are nested") {
  auto const f = od::fn<"f">([](auto xs) { return od::sum(od::map(square, xs)); });
  recording r;
  od::run(trace_with<tracing::operations, tracing::without<"mul">>{}, f, od::array<double>{1, 2});
  CHECK(spans::tree(r) == "f\n  map\n    square\n    square\n  reduce\n    add\n    add\n");
  r.stop();
  recording without_map;
  od::run(trace_with<tracing::operations, tracing::without<"map", "mul">>{}, f, od::array<double>{1, 2});
  CHECK(spans::tree(without_map) == "f\n  square\n  square\n  reduce\n    add\n    add\n");
}
