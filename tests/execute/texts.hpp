// Programs in text, run on arguments in text.
#pragma once

#include "catch.hpp"

#include <overdub/execute/datum_text.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/parse.hpp>

#if OVERDUB_TESTS_JIT
#include "jit/cache_folder.hpp"

#include <overdub/jit/jit.hpp>
#endif

#include <string>
#include <string_view>
#include <vector>

namespace texts {

using namespace overdub;

/// The data in a text: "1, [2.0]".
inline std::vector<datum> data(std::string_view text) {
  std::vector<datum> all;
  while (!text.empty()) {
    all.push_back(take_datum(text));
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return all;
}
inline std::string text_of_all(std::vector<datum> const& all) {
  std::string text;
  for (datum const& d : all) text += (text.empty() ? "" : ", ") + text_of(d);
  return text;
}

/// The entry's results, or what it throws.
inline std::string outcome_of(executable const& run, std::string_view arguments) {
  try {
    return text_of_all(run.run(data(arguments)));
  } catch (error const& e) {
    return e.what();
  }
}

/// A program whose first function is the entry.
inline ir::program program(std::string_view text) {
  ir::program p = ir::parse(text);
  p.entry = ir::function_id{0};
  return p;
}

/// The executors of a program: element by element, in lanes if possible, as machine code, and as machine code from disk.
inline std::vector<executable> executables_of(ir::program const& p, hosts const& host = {}) {
  std::vector<executable> all;
  for (i64 const from : {1'000'000, 1}) all.emplace_back(p, host, execution_options{.lanes_from = from});
#if OVERDUB_TESTS_JIT
  static cache_folder const folder;
  static auto const cache = folder.open();
  for (int way = 0; way < 2; ++way) all.push_back(jit::compile(p, host, {.cache = cache}));
#endif
  return all;
}

/// Checks each result of a program.
inline void
gives(std::string_view text, std::string_view arguments, std::string_view expected, hosts const& host = {}) {
  std::size_t way = 0;
  for (executable const& run : executables_of(program(text), host)) {
    INFO((way == 0 ? "element by element" : way == 1 ? "in lanes" : way == 2 ? "compiled" : "from disk"));
    ++way;
    CHECK(outcome_of(run, arguments) == expected);
  }
}

} // namespace texts
