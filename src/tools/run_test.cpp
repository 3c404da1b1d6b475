#include "run_test.hpp"

#include "difference.hpp"
#include "executors.hpp"
#include "failure.hpp"
#include "hosts.hpp"
#include "name_lists.hpp"
#include "test_file.hpp"

#include <overdub/ir/consistent.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

namespace overdub::tools {
namespace {

// Trims empty lines at the start and the end.
std::string_view without_margins(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

// Equal to ten digits.
template <std::floating_point T>
bool is_near(T a, T b) {
  if (a == b || (a != a && b != b)) return true;
  return std::abs(static_cast<double>(a) - static_cast<double>(b)) <=
         1e-10 * std::abs(static_cast<double>(b));
}
bool is_near(datum const& a, datum const& b) {
  if (a == b) return true;
  if (a.type() != b.type() || a.shape() != b.shape() || a.type().element != ir::scalar::f64) return false;
  if (a.type().rank == 0) return is_near(a.as<double>(), b.as<double>());
  return std::ranges::equal(
      a.elements<double>(), b.elements<double>(), [](double x, double y) { return is_near(x, y); });
}

// A version of the test's program: the original, or the result of a command.
struct variant {
  std::string name;
  ir::program program;
  std::unique_ptr<observed> seen;
  bool keeps_error = true; // preserves which of several errors is thrown
};

class test_runner {
public:
  test_runner(source const& from, std::string const& path, bool bless, std::ostream& out)
      : from_(from), path_(path), bless_(bless), out_(out) {}

  bool run() {
    test_ = read_test(from_);
    for (ir::diagnostic const& fault : test_.faults) fail(describe(from_, fault));
    if (!passed_) return false;
    reading const read = read_program(from_);
    check_errors(read.faults);
    if (read.faults.empty() && passed_) {
      check_text(read.program, "as written");
      for (test_command const& c : test_.commands)
        if (c.has_output()) check_output(c, read.program);
      check_runs(read.program);
    }
    if (bless_) write();
    return passed_;
  }

private:
  void fail(std::string const& lines) {
    passed_ = false;
    out_ << printable(lines) << '\n';
  }
  void fail(std::uint32_t line, std::string const& sentence) {
    fail(from_.name + ':' + std::to_string(line) + ": " + sentence);
  }

  // ---- errors: exactly the expected ones, on their lines
  void check_errors(std::vector<ir::diagnostic> const& faults) {
    std::vector<bool> met(test_.errors.size());
    for (ir::diagnostic const& fault : faults) {
      bool expected = false;
      for (std::size_t i = 0; i < met.size() && !expected; ++i) {
        error_line const& e = test_.errors[i];
        if (met[i] || e.line != std::min(fault.line, test_.last_line) || !contains(fault.text, e.pattern))
          continue;
        met[i] = expected = true;
      }
      if (!expected) fail(describe(from_, fault) + "\n  this error is not expected");
    }
    for (std::size_t i = 0; i < met.size(); ++i)
      if (!met[i]) fail(test_.errors[i].line, "there is no error: " + test_.errors[i].pattern);
  }

  // ---- outputs
  /// Parsing the printed text must return an equal program.
  void check_text(ir::program const& p, std::string const& when) {
    std::string const text = ir::print(p);
    try {
      ir::program const again = ir::parse(text);
      if (again == p && ir::print(again) == text) return;
      fail(from_.name + ": " + when + ", the program is read back from its text as another one:\n" + text);
    } catch (ir::parse_error const& e) {
      fail(from_.name + ": " + when + ", the program's text cannot be read back: " + e.what() + '\n' + text);
    }
  }
  void check_output(test_command const& c, ir::program const& p) {
    std::string text;
    if (c.what == test_command::transform) {
      variant const* const v = after(c, p);
      if (v == nullptr) return;
      text = ir::print(v->program);
    } else
      text = ir::print(p, {.places = c.what == test_command::print_places});
    check_output(c, text);
  }
  void check_output(test_command const& c, std::string const& text) {
    std::string const* const wanted = test_.output(c.text);
    if (wanted && without_margins(*wanted) == without_margins(text)) return;
    if (bless_) {
      made_[c.text] = without_margins(text);
      return;
    }
    std::string lines = from_.name + ':' + std::to_string(c.line) + ": \"" + c.text + "\" gives " +
                        (wanted ? "another text than the file expects, - expected, + given\n"
                                : "this text, and the file expects none\n");
    lines += difference(wanted ? without_margins(*wanted) : "", without_margins(text));
    fail(lines + "to accept it: OVERDUB_BLESS=1 overdub-opt --test " + from_.name);
  }

  // ---- programs after commands, cached
  variant const* after(test_command const& c, ir::program const& p) {
    return after(c.text, c.line, c.steps, p);
  }
  variant const*
  after(std::string const& name, std::uint32_t line, std::vector<step> const& steps, ir::program const& p) {
    auto const [at, added] = variants_.try_emplace(name);
    if (!added) return at->second ? &*at->second : nullptr;
    variant v{"after \"" + name + '"', p, std::make_unique<observed>(printed_), keep_error(steps)};
    try {
      run_steps(v.program, steps, *v.seen, nullptr);
    } catch (failure const& e) {
      fail(line, e.what());
      return nullptr;
    }
    check_text(v.program, v.name);
    at->second = std::move(v);
    return &*at->second;
  }

  // ---- runs
  void check_runs(ir::program const& p) {
    if (test_.runs.empty()) return;
    variant const written{"as written", p, std::make_unique<observed>(printed_), true};
    variant const again{"read back", ir::parse(ir::print(p)), std::make_unique<observed>(printed_), true};
    std::string transcript;
    for (run_line const& r : test_.runs) {
      std::vector<variant const*> on;
      if (r.in.empty()) {
        on.push_back(&written);
        on.push_back(&again);
        for (test_command const& c : test_.commands)
          if (c.what == test_command::transform && !c.has_context()) on.push_back(after(c, p));
        on.push_back(after("pipeline", r.line, pipeline_steps(), p));
      } else
        on.push_back(after(*test_.command(r.in), p));
      if (std::ranges::find(on, nullptr) == on.end()) check_run(r, on, transcript);
    }
    check_consistent_runs(p);
    test_command const& run = *test_.command(test_command::run);
    if (!transcript.empty() || test_.output(run.text)) check_output(run, transcript);
  }
  // An exact program is also run in consistent mode, if supported: results may differ from the exact ones, but not between
  // executors.
  void check_consistent_runs(ir::program const& p) {
    if (p.math != ir::math_mode::exact || ir::consistent == nullptr) return;
    variant consistent{"of consistent mathematics", p, std::make_unique<observed>(printed_), true};
    consistent.program.math = ir::math_mode::consistent;
    variant optimised{
        "of consistent mathematics, after the pipeline", consistent.program,
        std::make_unique<observed>(printed_), keep_error(pipeline_steps())};
    run_steps(optimised.program, pipeline_steps(), *optimised.seen, nullptr);
    std::string unused;
    for (run_line r : test_.runs) {
      if (!r.in.empty()) continue;
      r.wants = run_line::agrees;
      check_run(r, {&consistent, &optimised}, unused);
    }
  }
  // The first run must match the expectation, and the others the first.
  void check_run(run_line const& r, std::vector<variant const*> const& on, std::string& transcript) {
    std::optional<outcome> first;
    std::string first_printed;
    for (variant const* const v : on)
      for (executor_row const* const executor : executors_called(r.on.empty() ? "all" : r.on)) {
        std::string const how = " (" + std::string(executor->name) + ", " + v->name + ')';
        auto const f = v->program.find(r.call.function);
        if (!f && v != on.front() && v->program.entry != ir::nothing)
          continue; // the function is unreachable from the entry, and may be erased
        if (!f) return fail(r.line, "there is no function @" + r.call.function + how);
        outcome const o = run_once(*executor, *v, *f, r.call);
        if (!first) {
          first = o;
          first_printed = printed_.str();
          if (!is_as_wanted(r, o)) return fail(r.line, r.text + ' ' + sentence(r, o) + how + note_of(o, o));
        } else if (!v->keeps_error && !o.error.empty() && !first->error.empty()) {
          continue;
        } else if (!(o == *first)) {
          return fail(
              r.line, r.text + ' ' + what_came_of(o) + how + ", and elsewhere " + what_came_of(*first) +
                          note_of(o, *first));
        } else if (first_printed != printed_.str()) {
          return fail(
              r.line, r.text + " prints something else than elsewhere" + how + '\n' +
                          difference(first_printed, printed_.str()));
        }
      }
    if (!first_printed.empty())
      transcript += r.text + (r.in.empty() ? "" : " in " + r.in) + '\n' + first_printed;
    if (r.wants != run_line::asks) return;
    if (!first->error.empty())
      answers_[r.line] = "throws " + first->error;
    else if (!first->values.empty())
      answers_[r.line] = "== " + text_of(first->values);
  }
  outcome run_once(executor_row const& executor, variant const& v, ir::function_id f, call const& c) {
    printed_.str({});
    ir::program bound = v.program;
    host_binder hosts(printed_);
    hosts.bind(bound);
    outcome o = execute(executor, bound, f, c.arguments);
    v.seen->report();
    return o;
  }
  bool is_as_wanted(run_line const& r, outcome const& o) const {
    if (r.wants == run_line::throws) return o.error == r.error && contains(o.message, r.pattern);
    if (r.wants == run_line::asks) return bless_;
    if (r.wants == run_line::agrees) return true;
    if (!o.error.empty()) return false;
    switch (r.wants) {
    case run_line::equals:
      return o.values == r.values;
    case run_line::is_near:
      return std::ranges::equal(
          o.values, r.values, [](datum const& a, datum const& b) { return is_near(a, b); });
    default:
      return true;
    }
  }
  static std::string what_came_of(outcome const& o) {
    return (o.error.empty() && !o.values.empty() ? "gives " : "") + text_of(o);
  }
  static std::string note_of(outcome const& one, outcome const& other) {
    if (!one.is_limit && !other.is_limit) return {};
    return "\n  an executor reached a limit; where others go further, name one of them, as in \"; run on "
           "interpreter: ...\"";
  }
  static std::string sentence(run_line const& r, outcome const& o) {
    std::string const given = what_came_of(o);
    switch (r.wants) {
    case run_line::equals:
    case run_line::is_near:
      return given + ", and " + text_of(r.values) + " is expected";
    case run_line::throws:
      return given + ", and must throw " + r.error + (r.pattern.empty() ? "" : ": " + r.pattern);
    case run_line::asks:
      return given + "; write that in the place of ?, or let OVERDUB_BLESS=1 do it";
    default:
      return given;
    }
  }

  // ---- updating expectations
  void write() {
    if (made_.empty() && answers_.empty()) return;
    std::string text;
    std::uint32_t line = 0;
    for (std::string_view rest = std::string_view(from_.text).substr(0, end_of_program(from_.text));
         !rest.empty();) {
      std::size_t const end = std::min(rest.find('\n'), rest.size());
      std::string one(rest.substr(0, end));
      if (auto const at = answers_.find(++line); at != answers_.end())
        one.replace(one.rfind("== ?"), 4, at->second);
      text += one + '\n';
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    text = without_margins(text);
    text += '\n';
    for (test_command const& c : test_.commands) {
      auto const made = made_.find(c.text);
      std::string const* const old = test_.output(c.text);
      if (made == made_.end() && old == nullptr) continue;
      text += "\n; ---- " + c.text + '\n';
      text += made == made_.end() ? std::string(without_margins(*old)) : made->second;
      text += '\n';
    }
    if (path_ != "-" && !std::filesystem::is_regular_file(path_))
      throw failure(exit_code::file, "overdub-opt: " + path_ + " cannot be rewritten: it is no regular file");
    write_text(path_, text);
    out_ << from_.name << ": rewritten; look at the difference\n";
  }

  source const& from_;
  std::string const& path_;
  bool bless_;
  std::ostream& out_;
  bool passed_ = true;
  test_file test_;
  std::ostringstream printed_;
  std::map<std::string, std::optional<variant>> variants_; // by command; none: it failed
  std::map<std::string, std::string> made_;                // outputs that differ, by command
  std::map<std::uint32_t, std::string> answers_;           // values for `== ?`, by line
};

} // namespace

bool run_test(std::string const& path, bool bless, std::ostream& out) {
  source const from = read_source(path);
  return test_runner(from, path, bless, out).run();
}

} // namespace overdub::tools
