#pragma once

#include <overdub/compile/artifact.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/pass/pipeline.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace overdub {
namespace detail {

/// The time since it was made.
class stopwatch {
public:
  std::int64_t nanoseconds() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start_)
        .count();
  }

private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Runs a context's pass, and finds out whether it left a program.
OVERDUB_DECL void run_pass(context_pass const& pass, ir::program& p) {
  pass.run(p);
  std::vector<ir::diagnostic> const faults = ir::faults_of(p);
  if (!faults.empty())
    throw pass_error(
        message(
            "overdub: the pass of %s made a program that is not valid: %s", pass.name.c_str(),
            faults.front().text.c_str()),
        ir::print(p));
}

/// An estimate of what a program takes.
OVERDUB_DECL std::size_t bytes_of(ir::program const& p) {
  constexpr std::size_t node = 96, value = 24;
  std::size_t sum = sizeof p;
  for (ir::function const& f : p.functions) sum += sizeof f + node * f.node_count() + value * f.value_count();
  return sum;
}

OVERDUB_DECL std::shared_ptr<artifact const> made_artifact(
    std::string name, ir::program staged, std::int64_t staging_nanoseconds,
    std::vector<context_pass> passes) {
  std::vector<compilation_step> steps;
  std::size_t const operations = pass::operation_count(staged);
  steps.push_back({"stage", staging_nanoseconds, 0, operations});
  ir::program p = staged;
  for (context_pass const& pass : passes) {
    std::size_t const before = pass::operation_count(p);
    stopwatch const watch;
    run_pass(pass, p);
    steps.push_back({"pass of " + pass.name, watch.nanoseconds(), before, pass::operation_count(p)});
  }
  pass::default_pipeline(p, [&](pass::pass_report const& r) {
    steps.push_back({std::string(r.name), r.nanoseconds, r.operations_before, r.operations_after});
  });
  stopwatch const watch;
  executable run(p);
  std::size_t const count = pass::operation_count(p);
  steps.push_back({"lower", watch.nanoseconds(), count, count});
  std::size_t const bytes =
      bytes_of(staged) + bytes_of(p) + run.size() * sizeof(execute::instruction) + sizeof(artifact);
  return std::make_shared<artifact const>(artifact{
      std::move(name), std::move(staged), std::move(passes), std::move(steps), std::move(p), std::move(run),
      bytes});
}

} // namespace detail

inline namespace OVERDUB_EXECUTE_ABI {

OVERDUB_DECL std::string explain(artifact const& a) {
  std::string text = "@" + a.name + "\n";
  for (compilation_step const& s : a.steps)
    text += "  " + s.name + ": " + std::to_string(s.operations_before) + " -> " +
            std::to_string(s.operations_after) + " operations, " + std::to_string(s.nanoseconds / 1000) +
            " us\n";
  ir::program p = a.staged;
  text += "\nstaged\n" + ir::print(p);
  for (context_pass const& pass : a.passes) {
    detail::run_pass(pass, p);
    text += "\nafter the pass of " + pass.name + "\n" + ir::print(p);
  }
  std::string last = ir::print(p);
  pass::default_pipeline(p, [&](pass::pass_report const& r) {
    std::string now = ir::print(p);
    if (now != last) text += "\nafter " + std::string(r.name) + "\n" + now;
    last = std::move(now);
  });
  return text;
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub
