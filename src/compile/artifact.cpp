#include <overdub/compile/artifact.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/pass/pipeline.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace overdub {
namespace detail {

OVERDUB_HIDDEN inline std::atomic<std::uint64_t>& last_artifact() {
  static std::atomic<std::uint64_t> number{0};
  return number;
}

std::int64_t steady_nanoseconds() {
  auto const now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// Measures the time since its construction.
class stopwatch {
public:
  std::int64_t nanoseconds() const { return steady_nanoseconds() - start_; }

private:
  std::int64_t start_ = steady_nanoseconds();
};

/// The parameter and result types of an entry, which calls from C++ do not check again.
struct entry_types {
  std::vector<ir::type> parameters, results;
  explicit entry_types(ir::program const& p) {
    ir::function const& f = p[p.entry];
    for (ir::value_id const v : f.parameters()) parameters.push_back(f.type_of(v));
    results.assign(f.results.begin(), f.results.end());
  }
  friend bool operator==(entry_types const&, entry_types const&) = default;
};
bool has_entry(ir::program const& p) {
  return p.entry != ir::nothing && index_of(p.entry) < p.functions.size() && !p.is_erased(p.entry);
}

/// Throws pass_error if `who` left an invalid program, or changed the types of the entry.
void check_program(
    ir::program const& p, entry_types const& before, std::string const& who, recipe const& of) {
  std::vector<ir::diagnostic> const faults = ir::faults_of(p);
  if (!faults.empty())
    throw pass_error(
        message(
            "overdub: %.120s made a program of %.80s(%.60s) that is not valid: %s", who.c_str(),
            of.name.c_str(), of.arguments.c_str(), faults.front().text.c_str()),
        ir::print(p));
  if (!has_entry(p) || entry_types(p) != before)
    throw pass_error(
        message(
            "overdub: %.120s changed the types that the program of %.80s is called by; its entry takes and "
            "returns what the function does",
            who.c_str(), of.name.c_str()),
        ir::print(p));
}

/// Calls a user's pass. If it throws, throws pass_error with that exception nested; pass_error, refusal and std::bad_alloc pass unchanged.
template <class Run>
void call_pass(std::string const& who, recipe const& of, Run const& run) {
  auto const report = [&](char const* why) {
    std::throw_with_nested(pass_error(
        message(
            "overdub: %.120s threw, as %.80s(%.60s) was compiled: %s", who.c_str(), of.name.c_str(),
            of.arguments.c_str(), why),
        {}));
  };
  try {
    run();
  } catch (pass_error const&) {
    throw;
  } catch (refusal const&) {
    throw;
  } catch (std::bad_alloc const&) {
    throw;
  } catch (std::exception const& e) {
    report(e.what());
  } catch (...) {
    report("an exception that is no std::exception");
  }
}

/// Calls a user's pass, and checks the program after it.
template <class Run>
void call_checked(std::string const& who, recipe const& of, ir::program& p, Run const& run) {
  entry_types const before(p);
  call_pass(who, of, run);
  check_program(p, before, who, of);
}

/// Runs the pass of a context. The passes `after_inference` must not change the program.
void run_pass(context_pass const& pass, recipe const& of, ir::program& p) {
  std::string const who = std::string(name_of(pass.stage)) + " of the context " + pass.name;
  auto const run = [&] { pass.run(p); };
  if (pass.stage == compilation_stage::after_inference)
    call_pass(who, of, run);
  else
    call_checked(who, of, p, run);
}

/// Runs the passes of the options, and notifies the observer of each.
void run_pipeline(recipe const& of, ir::program& p, pass::pass_observer const& observer) {
  for (pass::pipeline_step const& step : of.options.passes) {
    if (step.is_own()) {
      std::size_t const operations = pass::operation_count(p);
      std::chrono::nanoseconds taken{};
      call_checked("the pass " + step.name(), of, p, [&] {
        auto const start = std::chrono::steady_clock::now();
        step.run(p);
        taken = std::chrono::steady_clock::now() - start;
      });
      observer({step.name(), taken.count(), operations, pass::operation_count(p)});
    } else if (step.name() == "default_pipeline")
      pass::default_pipeline(p, observer);
    else if (auto const known = pass::find_pass(step.name()))
      (void)pass::pass_runner(p, observer)(*known);
    else
      throw pass_error(
          message(
              "overdub: there is no pass called %s; give default_pipeline, the name of a pass of "
              "overdub/pass/pipeline.hpp, or a name and a function",
              step.name().c_str()),
          ir::print(p));
  }
}

/// An estimate of the memory of a program, in bytes.
std::size_t bytes_of(ir::program const& p) {
  constexpr std::size_t node = 96, value = 24;
  std::size_t sum = sizeof p;
  for (ir::function const& f : p.functions) sum += sizeof f + node * f.node_count() + value * f.value_count();
  return sum;
}

/// Whether calls of the program supply contexts, to which some of its native functions are bound.
bool needs_contexts(ir::program const& p) {
  return std::ranges::any_of(
      p.hosts, [](ir::host_binding const& h) { return h.context != ir::host_binding::no_context; });
}

} // namespace detail

void run_passes(recipe& r, compilation_stage stage) {
  for (context_pass const& pass : r.passes)
    if (pass.stage == stage) detail::run_pass(pass, r, r.staged);
}
void run_early_passes(recipe& r) {
  run_passes(r, compilation_stage::after_inference);
  run_passes(r, compilation_stage::before_optimise);
  std::erase_if(
      r.passes, [](context_pass const& pass) { return pass.stage != compilation_stage::after_optimise; });
}

struct rewritten::step_list {
  std::mutex mutex;
  std::vector<compilation_step> all;
};
rewritten::~rewritten() = default;
rewritten::rewritten(recipe r)
    : made_of_(std::move(r)), program_(made_of_.staged), steps_(std::make_unique<step_list>()) {
  std::size_t const staged = pass::operation_count(program_);
  add_step("stage", made_of_.staging_nanoseconds, 0, staged);
  run_passes(compilation_stage::after_inference);
  run_passes(compilation_stage::before_optimise);
  detail::run_pipeline(made_of_, program_, [&](pass::pass_report const& report) {
    add_step(std::string(report.name), report.nanoseconds, report.operations_before, report.operations_after);
  });
  run_passes(compilation_stage::after_optimise);
}

artifact::artifact(recipe r) : rewritten(std::move(r)) {
  number_ = ++detail::last_artifact();
  make_executable();
  bytes_ = detail::bytes_of(made_of().staged) + detail::bytes_of(program()) +
           code_->code().instructions.size() * sizeof(execute::instruction) + sizeof(artifact);
}

void rewritten::run_passes(compilation_stage stage) {
  for (context_pass const& pass : made_of_.passes) {
    if (pass.stage != stage) continue;
    std::size_t const before = pass::operation_count(program_);
    detail::stopwatch const watch;
    detail::run_pass(pass, made_of_, program_);
    add_step(
        std::string(name_of(stage)) + " of " + pass.name, watch.nanoseconds(), before,
        pass::operation_count(program_));
  }
}

void artifact::make_executable() {
  compile_options const& o = made_of().options;
  std::size_t const count = pass::operation_count(program());
  detail::stopwatch const watch;
  bool const direct = !detail::needs_contexts(program());
  if (o.executor != nullptr && o.tiers == tiers::compile_now) {
    code_ = std::make_shared<tiered_code>(executable(o.executor->prepare(program())), direct);
    add_step(o.executor->name(), watch.nanoseconds(), count, count);
    return;
  }
  code_ = std::make_shared<tiered_code>(executable(program()), direct);
  if (o.executor != nullptr && o.tiers == tiers::interpret_first)
    code_->wait_for_heat(o.hot_calls, o.hot_nanoseconds);
  add_step("lower", watch.nanoseconds(), count, count);
}

void artifact::heat() const noexcept {
  if (made_of().options.executor == nullptr || is_heated_.exchange(true)) return;
  std::weak_ptr<artifact const> weak = weak_from_this();
  try {
    (void)detail::run_in_background([weak = std::move(weak)] {
      if (auto const still = weak.lock()) still->swap_in();
    });
  } catch (std::bad_alloc const&) {
  }
}

void artifact::swap_in() const {
  executor const& by = *made_of().options.executor;
  std::size_t const count = pass::operation_count(program());
  detail::stopwatch const watch;
  auto const report = [&](char const* how, char const* why) noexcept {
    try {
      add_step(by.name() + how + why, watch.nanoseconds(), count, count);
    } catch (std::bad_alloc const&) {
    }
  };
  try {
    code_->swap_in(by.prepare(program()));
    report(", in the background", "");
  } catch (std::exception const& e) { // the program remains interpreted
    report(" failed: ", e.what());
  } catch (...) {
    report(" failed", "");
  }
}

void rewritten::add_step(
    std::string name, std::int64_t nanoseconds, std::size_t before, std::size_t after) const {
  std::lock_guard const lock(steps_->mutex);
  steps_->all.push_back({std::move(name), nanoseconds, before, after});
}

std::vector<compilation_step> rewritten::steps() const {
  std::lock_guard const lock(steps_->mutex);
  return steps_->all;
}

void check_same(rewritten const& known, recipe again) {
  struct only_rewritten final : rewritten {
    using rewritten::rewritten;
  };
  only_rewritten const other(std::move(again));
  if (known.program() == other.program()) return;
  std::string const a = ir::print(known.program()), b = ir::print(other.program());
  std::size_t const differ = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  auto const line = [&](std::string const& text) {
    std::size_t const begin = text.rfind('\n', differ == 0 ? 0 : differ - 1) + 1; // npos + 1 is 0
    std::size_t const first = text.find_first_not_of(' ', begin);
    return first == text.npos ? std::string() : text.substr(first, text.find('\n', first) - first);
  };
  throw fingerprint_error(message(
      "overdub: contexts of equal fingerprints make different programs of @%s: \"%s\" was kept, and \"%s\" "
      "is made "
      "now; what differs is read from elsewhere: return it from fingerprint(), or make it a context_field",
      known.name().c_str(), line(a).c_str(), line(b).c_str()));
}

std::string explain(artifact const& a) {
  std::string text = "@" + a.name() + "\n";
  for (compilation_step const& s : a.steps())
    text += "  " + s.name + ": " + std::to_string(s.operations_before) + " -> " +
            std::to_string(s.operations_after) + " operations, " + std::to_string(s.nanoseconds / 1000) +
            " us\n";
  ir::program p = a.made_of().staged;
  for (ir::note const& n : p.notes) {
    text += "  " + n.text;
    if (n.at != ir::nothing)
      text += " (" + std::string(p.text(p[n.at].file)) + ":" + std::to_string(p[n.at].line) + ")";
    text += '\n';
  }
  text += "\nstaged\n" + ir::print(p);
  auto const passes_at = [&](compilation_stage stage) {
    for (context_pass const& pass : a.made_of().passes) {
      if (pass.stage != stage) continue;
      detail::run_pass(pass, a.made_of(), p);
      text += "\nafter " + std::string(name_of(stage)) + " of " + pass.name + "\n" + ir::print(p);
    }
  };
  passes_at(compilation_stage::before_optimise);
  std::string last = ir::print(p);
  detail::run_pipeline(a.made_of(), p, [&](pass::pass_report const& r) {
    std::string now = ir::print(p);
    if (now != last) text += "\nafter " + std::string(r.name) + "\n" + now;
    last = std::move(now);
  });
  passes_at(compilation_stage::after_optimise);
  return text;
}

} // namespace overdub
