#include "steps.hpp"

#include "failure.hpp"
#include "name_lists.hpp"

#include <overdub/ir/verify.hpp>
#include <overdub/pass/pipeline.hpp>

#include <algorithm>
#include <chrono>
#include <exception>

namespace overdub::tools {
namespace {

constexpr pass_row row_of(pass::named_pass const& p) { return {p.name, p.what, p.keeps_error}; }

void check(ir::program const& p, std::string const& name) {
  auto const faults = ir::faults_of(p);
  if (faults.empty()) return;
  std::string lines = name + " left a program that is not valid:";
  for (ir::diagnostic const& fault : faults) lines += "\n  " + fault.text;
  throw failure(exit_code::defect, lines);
}

void run_context(ir::program& p, context_row const& context, observed& seen, std::vector<step_time>* times) {
  std::size_t const before = pass::operation_count(p);
  auto const start = std::chrono::steady_clock::now();
  p = context.rewrite(p, seen);
  std::chrono::duration<double, std::milli> const took = std::chrono::steady_clock::now() - start;
  if (times) times->push_back({std::string(context.name), took.count(), before, pass::operation_count(p)});
  check(p, "the context " + std::string(context.name));
}

void run_passes(ir::program& p, step const& s, std::vector<step_time>* times) {
  auto const report = [&](pass::pass_report const& r) {
    if (times)
      times->push_back(
          {std::string(r.name), static_cast<double>(r.nanoseconds) * 1e-6, r.operations_before,
           r.operations_after});
    check(p, "the pass " + std::string(r.name));
  };
  if (s.what == step::pipeline)
    pass::default_pipeline(p, report);
  else
    pass::pass_runner(p, report)(s.name);
}

} // namespace

std::span<pass_row const> passes() {
  static std::vector<pass_row> const rows = [] {
    std::vector<pass_row> all;
    for (pass::named_pass const& p : pass::passes) all.push_back(row_of(p));
    return all;
  }();
  return rows;
}

std::span<pass_row const> pipeline_passes() {
  static std::vector<pass_row> const rows = [] {
    std::vector<pass_row> all;
    ir::program nothing;
    pass::default_pipeline(
        nothing, [&](pass::pass_report const& r) { all.push_back(row_of(*pass::find_pass(r.name))); });
    return all;
  }();
  return rows;
}

std::vector<step> pass_steps(std::string_view names) {
  std::vector<step> steps;
  for (std::string_view const name : words_of(names))
    steps.push_back({step::pass, row_called(name, passes(), "pass").name});
  return steps;
}

std::vector<step> context_steps(std::string_view names) {
  if (contexts().empty())
    throw failure(
        exit_code::usage,
        "this program was built without contexts; configure it with -D OVERDUB_TOOLS_CONTEXTS=ON");
  std::vector<step> steps;
  for (std::string_view const name : words_of(names)) {
    context_row const& row = row_called(name, contexts(), "context");
    steps.push_back({step::context, row.name, &row});
  }
  return steps;
}

std::vector<step> pipeline_steps() { return {{step::pipeline, "pipeline"}}; }

bool keep_error(std::span<step const> steps) {
  return std::ranges::all_of(steps, [](step const& s) {
    switch (s.what) {
    case step::pass:
      return row_called(s.name, passes(), "pass").keeps_error;
    case step::pipeline:
      return std::ranges::all_of(pipeline_passes(), &pass_row::keeps_error);
    default:
      return true;
    }
  });
}

void run_steps(ir::program& p, std::span<step const> steps, observed& seen, std::vector<step_time>* times) {
  for (step const& s : steps) try {
      if (s.what == step::context)
        run_context(p, *s.row, seen, times);
      else
        run_passes(p, s, times);
    } catch (failure const&) {
      throw;
    } catch (std::exception const& e) {
      // A context may reject a program; a pass accepts every valid program.
      bool const refuses = s.what == step::context && dynamic_cast<error const*>(&e) != nullptr;
      throw failure(
          refuses ? exit_code::invalid : exit_code::defect,
          (s.what == step::context ? "the context " : "the pass ") + std::string(s.name) +
              (refuses ? " refuses the program: " : " failed: ") + e.what());
    }
}

} // namespace overdub::tools
