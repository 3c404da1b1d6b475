// A row in the table of operations is all that an elementwise operation needs; a structural one without a typing rule is rejected.
// A row in the table of passes makes a function a pass. overlay.py writes the rows. An analysis reads columns of the table, and
// names no operation.
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/incremental.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/overdub.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse.hpp>
#include <overdub/stage/evaluate.hpp>
#include <overdub/stage/stage.hpp>

#include <cstdio>
#include <string>

namespace {

namespace od = overdub;

int failures = 0;
void check(bool holds, char const* what) {
  if (holds) return;
  std::printf("%s\n", what);
  ++failures;
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

  std::string why;
  try {
    (void)od::ir::parse("func @f(%x: f64) -> f64 {\n  %y = unknown_to_all %x : f64\n  return %y\n}\n");
  } catch (od::error const& e) {
    why = e.what();
  }
  check(why.find("there is no such operation") != std::string::npos, "an operation without a typing rule is rejected");

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
  return failures;
}
