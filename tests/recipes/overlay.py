"""Performs the recipes of CONTRIBUTING.md on copies of the files that they edit, below FOLDER, which is then searched before INCLUDE.

    overlay.py tables INCLUDE FOLDER    two operations, a pass, an analysis
    overlay.py headers INCLUDE FOLDER   a context, a distribution, a kernel, a move

`tables` edits the table of operations, by which the whole library is compiled; `headers` adds to headers that the library as it is fits.
The machine code of an operation is left out, since it needs LLVM. FOLDER.stamp is written last, and FOLDER.d has the files that it
depends on.
"""
import pathlib
import sys

what, include, folder = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
read = []


def edited(name, *insertions):
    """Writes a copy of a file, with each text inserted before a text of it."""
    text = (include / name).read_text()
    read.append(str(include / name))
    for before, inserted in insertions:
        if text.count(before) != 1:
            sys.exit(f"{name}: the recipe does not find its place, {before!r}")
        text = text.replace(before, inserted + before)
    written(name, text)


def written(name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def tables():
    # ---- Add an op: `halved` is element-wise, and needs a row. `unless` is structural: an `if` with its regions exchanged. `unknown_copy`
    # is structural, and has no case.
    edited("overdub/core/ops.def",
           ("\n// comparison\n", "OVERDUB_UNARY(halved, math, floating, pure, 1, exact, x * 0.5f, dx * 0.5f)\n"),
           ("\n// control flow; the last", "OVERDUB_STRUCTURAL(unless, 1, 1, 2, unless, pure, 1, selects, other)\n"
                                           "OVERDUB_STRUCTURAL(unknown_copy, 1, 1, 0, unknown_copy, pure, 1, none, other)\n"))
    edited("overdub/implementation/ir/infer.cpp",
           ("  case type_rule::if_:\n", "  case type_rule::unless:\n"),
           ("  case type_rule::copy:\n", "  case type_rule::unknown_copy:\n"))
    edited("overdub/implementation/ir/verify/rules.hpp", ("    case op::if_:\n", "    case op::unless:\n"))
    edited("overdub/implementation/ir/keywords.hpp", ('code == op::if_ ? "else"', 'code == op::unless ? "else" : '))
    edited("overdub/implementation/ir/print.cpp", ("    case op::if_:\n", "    case op::unless:\n"))
    edited("overdub/implementation/ir/parse/operations.hpp", ("    case op::if_:\n", "    case op::unless:\n"))
    edited("overdub/stage/evaluation/control.hpp", ("// Evaluates `select` of arrays", """\
template <class S>
void evaluate_unless(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  detail::branch_between(
      e, at, n, [&](std::uint32_t i) { return detail::run_region_on(e, at, at.f.region_at(n, 1 - i)); });
}
"""))
    edited("overdub/stage/evaluation/operations.hpp",
           ("  case ir::op::loop:\n", "  case ir::op::unless:\n    return evaluate_unless(e, at, n);\n"))
    edited("overdub/implementation/execute/control_handlers.hpp",
           ("/// Jumps if a comparison of a and b is false.\n", """\
/// Jumps if a is true.
struct jump_if {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    if (!get<bool>(frame, at->a)) OVERDUB_NEXT;
    OVERDUB_GO(target(at, at->c), frame, x, y);
  }
};
"""))
    edited("overdub/implementation/execute/lower_control.cpp",
           ("fn.out.jump_if_false({mask, fn.at(mask), is_only_use(fn.f, mask, n)});\n  std::uint32_t to_end",
            "fn.f[n].code == ir::op::unless ? fn.out.emit(&jump_if::run, 0, fn.at(mask)) : "))
    edited("overdub/implementation/execute/lower_operations.cpp", ("  case ir::op::if_:\n", "  case ir::op::unless:\n"))

    # ---- Add a pass
    written("overdub/pass/count_operations.hpp", """\
// A pass that changes nothing, and returns the number of operations.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>

namespace overdub::pass {

std::size_t count_operations(ir::program& p);

} // namespace overdub::pass
""")
    written("overdub/implementation/pass/count_operations.cpp", """\
#include <overdub/ir/walk.hpp>
#include <overdub/pass/count_operations.hpp>
#include <overdub/pass/ir_names.hpp>

namespace overdub::pass {

std::size_t count_operations(program& p) {
  std::size_t count = 0;
  for (function const& f : p.functions) ir::walk(f, function::body, [&](node_id) { ++count; });
  return count;
}

} // namespace overdub::pass
""")
    edited("overdub/pass/pipeline.hpp",
           ("#include <overdub/pass/cse.hpp>\n", "#include <overdub/pass/count_operations.hpp>\n"),
           ('    named_pass{\n        "forget_derivatives"', """\
    named_pass{
        "count_operations", [](program& p) { return count_operations(p); }, "nothing changes", false, true},
"""))
    edited("overdub/implementation/pass/pipeline.cpp",
           ('  if (has_derivatives(p)) run("forget_derivatives");\n', '  run("count_operations");\n'))

    # ---- Add an analysis
    written("overdub/ir/single_runs.hpp", """\
// An analysis: which operations run at most once in a call of their function.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/function.hpp>

#include <vector>

namespace overdub::ir {

/// A snapshot: later edits are not in it.
class single_runs {
public:
  /// O(operations).
  explicit single_runs(function const& f);

  bool has(node_id n) const { return once_[index_of(n)]; }

private:
  std::vector<bool> once_;
};

} // namespace overdub::ir
""")
    written("overdub/implementation/ir/single_runs.cpp", """\
#include <overdub/ir/regions.hpp>
#include <overdub/ir/single_runs.hpp>
#include <overdub/ir/walk.hpp>

namespace overdub::ir {

single_runs::single_runs(function const& f) : once_(f.node_count()) {
  int repeated = 0;
  walk(
      f, function::body,
      [&](node_id n) {
        once_[index_of(n)] = repeated == 0;
        repeated += repeats_regions(f[n].code);
      },
      [&](node_id n) { repeated -= repeats_regions(f[n].code); });
}

} // namespace overdub::ir
""")
    edited("overdub/implementation/programs.hpp",
           ("#include <overdub/implementation/ir/split.cpp>\n", "#include <overdub/implementation/ir/single_runs.cpp>\n"),
           ("#include <overdub/implementation/pass/cse.cpp>\n", "#include <overdub/implementation/pass/count_operations.cpp>\n"))


def headers():
    # ---- Add a context
    written("overdub/contexts/last_call.hpp", """\
// last_call: counts calls of functions, and keeps the name of the last callee.
#pragma once

#include <overdub/overdub.hpp>

#include <string_view>

namespace overdub::contexts {

struct last_call : context {
  int calls = 0;
  std::string_view callee;

  void before(function auto f, auto const&...) {
    ++calls;
    callee = f.name();
  }
};

} // namespace overdub::contexts
""")

    # ---- Add a distribution
    written("overdub/distributions/falling.hpp", """\
// The triangular distribution on [0, width], with its mode at 0.
#pragma once

#include <overdub/distributions/distribution.hpp>
#include <overdub/distributions/support.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <tuple>

namespace overdub::distributions {

struct falling_t : distribution<"falling", falling_t> {
  static constexpr std::tuple parameters{parameter<positive_reals>{"width"}};
  static auto support(auto const& width) { return interval{0.0, width}; }
  static auto log_density_at(auto const& x, auto const& width) {
    return overdub::log(2.0 * (width - x)) - 2.0 * overdub::log(width);
  }
  static double draw(auto& g, double width) { return width * (1 - std::sqrt(g.uniform())); }
};
inline constexpr falling_t falling;

} // namespace overdub::distributions
""")
    edited("overdub/distributions.hpp",
           ("#include <overdub/distributions/location_scale.hpp>\n", "#include <overdub/distributions/falling.hpp>\n"))

    # ---- Add a kernel: one of any target, and a move of models
    written("overdub/inference/coin_walk.hpp", """\
// A random walk on the numbers 0 and 1, whose stationary distribution is (1/2, 1/2).
#pragma once

#include <overdub/inference/run_chains.hpp>
#include <overdub/random.hpp>

#include <span>
#include <string>
#include <vector>

namespace overdub::inference {

struct coin_walk {
  double x = 0;

  kernel_statistics transition(random_key const& key) {
    random_generator g(key);
    if (g.uniform() < 0.5) x = 1 - x;
    return {.log_density = 0, .acceptance = 1};
  }
  std::vector<std::string> names() const { return {"x"}; }
  void report(std::span<double> out) const { out[0] = x; }
};

} // namespace overdub::inference
""")
    edited("overdub/inference.hpp",
           ("#include <overdub/inference/csv.hpp>\n", "#include <overdub/inference/coin_walk.hpp>\n"))
    written("overdub/models/negation.hpp", """\
// negation("z"): proposes the other value of a bool, with a Metropolis-Hastings decision.
#pragma once

#include <overdub/models/moves.hpp>

#include <string>

namespace overdub::models {

struct negation {
  std::string address;

  selection moved() const { return {models::address(address)}; }

  template <class Trace>
  void operator()(Trace& t, random_key const& key, move_record& record) const {
    random_generator g(key);
    t.set({{address, !t.template get<bool>(address)}});
    if (detail::accepts(t.propose(), t.score(), g, record))
      t.commit();
    else
      t.rollback();
  }
};

} // namespace overdub::models
""")
    edited("overdub/models.hpp",
           ("#include <overdub/models/numbers.hpp>\n", "#include <overdub/models/negation.hpp>\n"))


{"tables": tables, "headers": headers}[what]()
pathlib.Path(f"{folder}.d").write_text(f"{folder}.stamp: {' '.join(read)}\n")
pathlib.Path(f"{folder}.stamp").touch()
