#include "steps.hpp"

#include "failure.hpp"
#include "words.hpp"

#include <overdub/ir/verify.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/pass/canonicalise.hpp>
#include <overdub/pass/cse.hpp>
#include <overdub/pass/dce.hpp>

#include <array>
#include <chrono>
#include <exception>

namespace overdub::tools {

std::span<pass_row const> passes() {
  static constexpr std::array rows{
      pass_row{
          "canonicalise", "brings a program into the canonical form",
          [](ir::program& p) { pass::canonicalise(p); }},
      pass_row{"cse", "merges operations that compute the same", [](ir::program& p) { (void)pass::cse(p); }},
      pass_row{"dce", "drops what is not needed", [](ir::program& p) { (void)pass::dce(p); }},
  };
  return rows;
}

std::span<std::string_view const> pipeline() {
  static constexpr std::array<std::string_view, 3> names{"cse", "dce", "canonicalise"};
  return names;
}

std::vector<step> pass_steps(std::string_view names) {
  std::vector<step> steps;
  for (std::string_view const name : words_of(names))
    steps.push_back({.pass = &row_called(name, passes(), "pass")});
  return steps;
}

std::vector<step> context_steps(std::string_view names) {
  std::vector<step> steps;
  for (std::string_view const name : words_of(names))
    steps.push_back({.context = &row_called(name, contexts(), "context")});
  return steps;
}

std::vector<step> pipeline_steps() {
  std::vector<step> steps;
  for (std::string_view const name : pipeline())
    steps.push_back({.pass = &row_called(name, passes(), "pass")});
  return steps;
}

std::size_t operations_of(ir::program const& p) {
  std::size_t n = 0;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    if (p.is_erased(ir::function_id{i})) continue;
    ir::function const& f = p.functions[i];
    ir::walk(f, ir::function::body, [&](ir::node_id at) { n += f[at].code == ir::op::yield ? 0 : 1; });
  }
  return n;
}

void run_steps(ir::program& p, std::span<step const> steps, observed& seen, std::vector<step_time>* times) {
  for (step const& s : steps) {
    std::string const name = (s.pass ? "the pass " : "the context ") + std::string(s.name());
    std::size_t const before = times ? operations_of(p) : 0;
    auto const start = std::chrono::steady_clock::now();
    try {
      if (s.pass)
        s.pass->run(p);
      else
        p = s.context->rewrite(p, seen);
    } catch (error const& e) {
      // What a context does not know to rewrite, it refuses; a pass takes every valid program.
      if (s.context) throw failure(exit_code::invalid, name + " refuses the program: " + e.what());
      throw failure(exit_code::defect, name + " failed: " + e.what());
    } catch (std::exception const& e) {
      throw failure(exit_code::defect, name + " failed: " + e.what());
    }
    std::chrono::duration<double, std::milli> const took = std::chrono::steady_clock::now() - start;
    if (times) times->push_back({std::string(s.name()), took.count(), before, operations_of(p)});
    if (auto const faults = ir::faults_of(p); !faults.empty()) {
      std::string lines = name + " left a program that is not valid:";
      for (ir::diagnostic const& fault : faults) lines += "\n  " + fault.text;
      throw failure(exit_code::defect, lines);
    }
  }
}

} // namespace overdub::tools
