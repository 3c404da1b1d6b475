#include "test_file.hpp"

#include "executors.hpp"
#include "failure.hpp"
#include "name_lists.hpp"

#include <overdub/implementation/ir/literal.hpp>

#include <algorithm>
#include <array>

namespace overdub::tools {
namespace {

class test_reader {
public:
  explicit test_reader(source const& from) : from_(from) {}

  test_file run() {
    std::size_t const end = end_of_program(from_.text);
    bool more = false;
    try {
      read_program(std::string_view(from_.text).substr(0, end));
      read_outputs(std::string_view(from_.text).substr(end));
      check();
    } catch (ir::detail::too_many_faults const&) {
      more = true;
    }
    std::ranges::sort(test_.faults, {}, [](auto const& f) { return std::pair(f.line, f.column); });
    if (more) {
      test_.faults.push_back(test_.faults.back());
      test_.faults.back().text = "there may be more errors: the first " + std::to_string(maximum_faults) +
                                 " are reported; mend them first";
    }
    return std::move(test_);
  }

private:
  // Iterates over the lines of a text.
  template <class Read>
  void each_line(std::string_view text, Read const& read) {
    while (!text.empty()) {
      std::size_t const end = std::min(text.find('\n'), text.size());
      ++line_;
      read(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  void wrong(std::uint32_t line, std::size_t column, std::string sentence) {
    test_.faults.push_back(
        {.text = std::move(sentence), .line = line, .column = static_cast<std::uint32_t>(column + 1)});
    if (test_.faults.size() == maximum_faults) throw ir::detail::too_many_faults();
  }

  void read_program(std::string_view text) {
    std::uint32_t& code_line = test_.last_line;
    each_line(text, [&](std::string_view line) {
      std::size_t const start = std::min(line.find_first_not_of(" \t"), line.size());
      if (line.substr(start, 1) != ";") {
        code_line = line_;
        return read_errors(line, line.find("; error:"), line_);
      }
      std::size_t const at = std::min(line.find_first_not_of(" \t;", start), line.size());
      std::string_view const comment = line.substr(at);
      if (comment.starts_with("error:")) return read_errors(line, start, code_line);
      code_line = line_;
      try {
        read_directive(comment);
      } catch (text_error const& e) {
        wrong(line_, at + e.at, e.what());
      } catch (failure const& e) {
        wrong(line_, at, e.what());
      }
    });
  }
  // Reads the expected errors of a line: each extends from its "; error:" to the next one.
  void read_errors(std::string_view line, std::size_t at, std::uint32_t where) {
    constexpr std::string_view mark = "; error:";
    while (at < line.size()) {
      at = std::min(line.find(':', at), line.size() - 1) + 1;
      std::size_t const end = line.find(mark, at);
      read_error(line.substr(0, end), at, where);
      at = end;
    }
  }
  void read_error(std::string_view line, std::size_t at, std::uint32_t where) {
    test_.errors.push_back({where, std::string(trimmed(line.substr(at)))});
  }

  // A comment that starts with a lower-case letter and has a colon after its first words is a directive.
  void read_directive(std::string_view comment) {
    std::size_t const colon = comment.find(':');
    if (colon == std::string_view::npos || comment[0] < 'a' || comment[0] > 'z') return;
    std::string_view const head = comment.substr(0, colon);
    std::string_view const word = head.substr(0, head.find(' '));
    if (word == "test" && word == head) return read_command(comment, colon + 1);
    if (word == "run") return read_run(comment, head);
    if (word != head) return; // prose
    ir::detail::nearest_word nearest(word);
    for (std::string_view const known : {"test", "run", "error"}) nearest.try_word(known);
    throw text_error(
        0, "there is no directive \"" + std::string(word) + ":\"" + nearest.suggestion() +
               " There are test, run and error; other comments begin with a capital letter");
  }

  void read_command(std::string_view comment, std::size_t at) {
    test_command c;
    c.line = line_;
    std::string_view text = trimmed(comment.substr(at));
    c.text = text;
    constexpr std::array<std::pair<std::string_view, test_command::kind>, 4> plain{
        {{"print", test_command::print},
         {"print places", test_command::print_places},
         {"verify", test_command::verify},
         {"run", test_command::run}}};
    auto const found = std::ranges::find(plain, text, [](auto const& p) { return p.first; });
    if (found != plain.end()) {
      c.what = found->second;
    } else {
      c.what = test_command::transform;
      for (std::string_view part; !text.empty(); text = text.substr(std::min(part.size() + 6, text.size()))) {
        part = text.substr(0, text.find(" then "));
        read_steps(trimmed(part), c.steps, at);
      }
      if (c.steps.empty())
        throw text_error(at, "expected what to test, as in \"; test: run\" or \"; test: pass cse, dce\"");
    }
    if (test_.command(c.text)) throw text_error(at, "the file has this test already");
    test_.commands.push_back(std::move(c));
  }
  static void read_steps(std::string_view text, std::vector<step>& steps, std::size_t at) {
    std::string_view const word = text.substr(0, text.find(' '));
    std::string_view const names = trimmed(text.substr(word.size()));
    std::vector<step> more;
    if (word == "pass" && !names.empty())
      more = pass_steps(names);
    else if (word == "context" && !names.empty())
      more = context_steps(names);
    else if (text == "pipeline")
      more = pipeline_steps();
    else
      throw text_error(
          at, "expected print, print places, verify, run, pass NAME, ..., context NAME, ... or pipeline, "
              "found \"" +
                  std::string(text) + "\"");
    steps.insert(steps.end(), more.begin(), more.end());
  }

  // run on EXECUTOR in COMMAND: CALL == VALUES
  void read_run(std::string_view comment, std::string_view head) {
    run_line r;
    r.line = line_;
    line_reader in(head);
    in.expect("run");
    if (in.take("on ")) {
      r.on = in.word();
      (void)executors_called(r.on);
    }
    if (in.take("in "))
      r.in = trimmed(in.rest());
    else if (!in.is_at_end())
      in.fail_expected("\"run:\", \"run on EXECUTOR:\" or \"run in COMMAND:\"");
    std::size_t const at = head.size() + 1;
    try {
      read_wanted(r, trimmed(comment.substr(at)));
    } catch (text_error const& e) {
      throw text_error(at + 1 + e.at, e.what());
    }
    test_.runs.push_back(std::move(r));
  }
  static void read_wanted(run_line& r, std::string_view text) {
    line_reader in(text);
    r.call = in.read_call();
    r.text = trimmed(text.substr(0, in.at()));
    if (in.is_at_end()) return;
    if (in.take("throws")) {
      r.wants = run_line::throws;
      r.error = in.word();
      if (!is_error_type(r.error))
        throw text_error(in.at(), "there is no error \"" + r.error + "\"; as in \"throws index_error\"");
      if (in.take(":"))
        r.pattern = trimmed(in.rest());
      else if (!in.is_at_end())
        in.fail_expected("the end of the line, or : and a part of the error's text");
      return;
    }
    if (in.take("=="))
      r.wants = run_line::equals;
    else if (in.take("~="))
      r.wants = run_line::is_near;
    else
      in.fail_expected("==, ~= or throws");
    if (in.take("?")) {
      r.wants = run_line::asks;
      if (!in.is_at_end()) in.fail_expected("the end of the line");
      return;
    }
    do r.values.push_back(in.read_datum());
    while (in.take(","));
    if (!in.is_at_end()) in.fail_expected("the end of the line");
  }
  void read_outputs(std::string_view text) {
    each_line(text, [&](std::string_view line) {
      constexpr std::string_view mark = "; ----";
      if (line.starts_with(mark)) {
        expected_text e{std::string(trimmed(line.substr(mark.size()))), {}};
        test_command const* const of = test_.command(e.command);
        if (of == nullptr || (!of->has_output() && of->what != test_command::run))
          wrong(
              line_, mark.size(), "no test of the file has this output; write \"; test: " + e.command + "\"");
        else if (test_.output(e.command))
          wrong(line_, mark.size(), "the file has this output already");
        test_.outputs.push_back(std::move(e));
      } else {
        test_.outputs.back().text += line;
        test_.outputs.back().text += '\n';
      }
    });
  }

  void check() {
    if (test_.commands.empty())
      wrong(1, 0, "the file names no test; begin it with a line such as \"; test: run\"");
    test_command const* const verify = test_.command(test_command::verify);
    if (!test_.errors.empty() && (verify == nullptr || test_.commands.size() != 1))
      wrong(
          std::max(test_.errors.front().line, 1u), 0, // the line is 0 if no code precedes the error
          "the file expects errors; its one test is \"; test: verify\" then, since nothing else is done with "
          "a program that is not valid");
    test_command const* const run = test_.command(test_command::run);
    if (run && test_.runs.empty())
      wrong(run->line, 0, "nothing is run; write lines such as \"; run: @f(1.0) == 2.0\"");
    if (!run && !test_.runs.empty())
      wrong(test_.runs.front().line, 0, "a line is run, and the file does not say \"; test: run\"");
    for (run_line const& r : test_.runs) {
      test_command const* const in = test_.command(r.in);
      if (!r.in.empty() && (in == nullptr || in->what != test_command::transform))
        wrong(r.line, 0, "no test of the file is \"" + r.in + "\"; write \"; test: " + r.in + "\"");
    }
  }

  static constexpr std::size_t maximum_faults = ir::detail::text_faults::most;

  source const& from_;
  test_file test_;
  std::uint32_t line_ = 0;
};

} // namespace

bool test_command::has_context() const {
  return std::ranges::any_of(steps, [](step const& s) { return s.what == step::context; });
}

test_command const* test_file::command(std::string_view text) const {
  auto const found = std::ranges::find(commands, text, &test_command::text);
  return found == commands.end() ? nullptr : &*found;
}
test_command const* test_file::command(test_command::kind what) const {
  auto const found = std::ranges::find(commands, what, &test_command::what);
  return found == commands.end() ? nullptr : &*found;
}
std::string const* test_file::output(std::string_view command) const {
  auto const found = std::ranges::find(outputs, command, &expected_text::command);
  return found == outputs.end() ? nullptr : &found->text;
}

test_file read_test(source const& from) { return test_reader(from).run(); }

} // namespace overdub::tools
