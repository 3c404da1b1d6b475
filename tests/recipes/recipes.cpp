// A row in the table of operations is all that an elementwise operation needs; a structural one without a typing rule is rejected, and
// one without code in a consumer is refused by it, or assumed to have any result.
// A row in the table of passes makes a function a pass. overlay.py writes the rows. An analysis reads columns of the table, and
// names no operation.
#include <overdub/check.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/last_call.hpp>
#include <overdub/distributions.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/incremental.hpp>
#include <overdub/inference.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/overdub.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse.hpp>
#include <overdub/stage/evaluate.hpp>
#include <overdub/stage/stage.hpp>

#include <cmath>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace {

namespace od = overdub;

int failures = 0;
void check(bool holds, char const* what) {
  if (holds) return;
  std::printf("%s\n", what);
  ++failures;
}

// A kernel: a random walk on the numbers 0 and 1, whose stationary distribution is (1/2, 1/2).
struct flip {
  double x = 0;

  od::inference::kernel_statistics transition(od::random_key const& key) {
    od::random_generator g(key);
    if (g.uniform() < 0.5) x = 1 - x;
    return {.log_density = 0, .acceptance = 1};
  }
  std::vector<std::string> names() const { return {"x"}; }
  void report(std::span<double> out) const { out[0] = x; }
};

// Whether `use` throws an error whose message has `words`.
template <class F>
void refuses(F const& use, std::string const& words, char const* what) {
  std::string why;
  try {
    use();
  } catch (od::error const& e) {
    why = e.what();
  }
  check(why.find(words) != std::string::npos, what);
}

inline constexpr auto wave = od::fn<"wave">([](auto x) { return halved(x) * x; }); // x² / 2

// An analysis: the number of operations that run at most once.
int run_at_most_once(od::ir::function const& f) {
  int repeated = 0, count = 0;
  od::ir::walk(
      f, f.body,
      [&](od::ir::node_id n) {
        if (repeated == 0) ++count;
        if (od::ir::repeats_regions(f[n].code)) ++repeated;
      },
      [&](od::ir::node_id n) {
        if (od::ir::repeats_regions(f[n].code)) --repeated;
      });
  return count;
}

} // namespace

int main() {
  od::contexts::count counter;
  check(od::run(counter, wave, 3.0) == 4.5, "direct run");
  check(counter.calls() > 0, "a context observes it");
  check(od::run(od::contexts::forward{}, wave, od::tag(3.0, 1.0)).metadata == 3.0, "forward mode");
  check(od::gradient(wave)(3.0) == 3.0, "reverse mode");

  od::ir::program const p = od::stage(wave, od::signature<double>);
  check(od::ir::parse(od::ir::print(p)) == p, "text");
  check(od::executable(p).call<double>(3.0) == 4.5, "interpreter");
  check(od::evaluate<double>(p, 3.0) == 4.5, "evaluate");

  auto u = od::incremental(wave, 3.0);
  u.set<0>(4.0);
  check(u.propose() == 8.0, "incremental update");
  od::ir::program const map = od::ir::parse(R"(
func @f(%n: i64, %x: f64[]) -> f64[] {
  %y = map %n (%i: i64) -> f64 {
    %a = at %x, %i : f64
    %b = halved %a : f64
    yield %b
  }
  return %y
})");
  od::array<double> const numbers{2.0, 4.0};
  auto const halves = od::executable(map, od::ir::function_id{0}).call<od::array<double>>(od::i64{2}, numbers);
  check(halves[1] == 2.0, "vectorised maps");
  check(od::check(wave, od::between(0.0, 1.0)).count(od::severity::certain) == 0, "abstract interpretation");

  refuses(
      [] { (void)od::ir::parse("func @f(%x: f64) -> f64 {\n  %y = unknown_to_all %x : f64\n  return %y\n}\n"); },
      "there is no such operation", "an operation without a typing rule is rejected");

  od::ir::program const unknown = od::ir::parse(R"(
entry @f
func @f(%x: f64[]) -> f64 {
  %y = unknown_copy %x : f64[]
  %z = at %y, 0 : f64
  return %z
})");
  od::ir::program const in_map = od::ir::parse(R"(
entry @f
func @f(%n: i64, %x: f64[][]) -> f64[] {
  %y = map %n (%i: i64) -> f64 {
    %row = at %x, %i : f64[]
    %copy = unknown_copy %row : f64[]
    %z = at %copy, 0 : f64
    yield %z
  }
  return %y
})");
  od::array<double> const one{1.0};
  check(od::ir::parse(od::ir::print(unknown)) == unknown, "text of an unknown operation");
  refuses([&] { (void)od::executable(unknown); }, "unknown_copy", "the interpreter");
  refuses([&] { (void)od::executable(in_map); }, "unknown_copy", "the interpreter, in vectorised maps");
  refuses([&] { (void)od::evaluate<double>(unknown, one); }, "unknown_copy", "evaluate");
  refuses([&] { (void)od::run(od::contexts::forward{}, unknown); }, "unknown_copy", "a program in a context");
  refuses(
      [&] {
        od::ir::program changed = unknown;
        od::differentiate_entry(changed, {true}, true);
      },
      "unknown_copy", "a gradient");
  check(od::check(unknown).count(od::finding_kind::index) == 1, "abstract interpretation assumes any result");
  for (od::pass::named_pass const& pass : od::pass::passes) {
    od::ir::program changed = unknown;
    (void)pass.run(changed);
    check(od::ir::print(changed).find("unknown_copy") != std::string::npos, "passes keep it");
  }

  od::ir::program copy = p;
  std::size_t operations = 0;
  for (od::pass::named_pass const& pass : od::pass::passes)
    if (pass.name == "count_operations") operations = pass.run(copy);
  check(operations == od::pass::operation_count(p) && copy == p, "pass");

  od::ir::program const loop = od::ir::parse(R"(
func @f(%n: i64, %x: f64) -> f64 {
  %y = halved %x : f64
  %s = loop %n (%i: i64, %a: f64 = %y) -> f64 {
    %b = halved %a : f64
    yield %b
  }
  return %s
})");
  check(run_at_most_once(loop.functions[0]) == 3, "analysis"); // halved, loop and return
  check(od::executable(loop, od::ir::function_id{0}).call<double>(od::i64{2}, 8.0) == 1.0, "in a loop");

  od::contexts::last_call last;
  check(od::run(last, wave, 3.0) == 4.5 && last.calls == 1 && last.callee == "wave", "context");
  check(od::stage(last, wave, od::signature<double>).entry != od::ir::nothing, "a program in the context");

  namespace ds = od::distributions;
  check(std::fabs(log_density(ds::falling(2.0), 0.0)) < 1e-12, "distribution"); // the density at the mode is 2 / width
  check(log_density(ds::falling(2.0), 3.0) == -HUGE_VAL, "outside of the support");
  double const x = draw(ds::falling(2.0), od::random_key(1));
  check(x >= 0 && x <= 2, "draw");

  auto const draws = od::inference::run_chains(
      [](std::size_t, od::random_key const&) { return flip{}; }, {.draws = 2000}, od::random_key(1));
  check(std::fabs(od::inference::summary(draws)["x"].mean - 0.5) < 0.05, "kernel");
  return failures;
}
