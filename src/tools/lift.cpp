#include "lift.hpp"

#include "failure.hpp"
#include "source.hpp"

#include <overdub/ir/print.hpp>
#if OVERDUB_TOOLS_LIFT
#include <overdub/lift.hpp>
#endif

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace overdub::tools {

#if OVERDUB_TOOLS_LIFT
lifted_files lift_program(std::vector<std::string> const& paths) {
  std::vector<std::string> files = paths;
  if (files.empty()) files.emplace_back("-");
  for (std::string& path : files)
    if (path == "-") path = "/dev/stdin";
  try {
    lift_result lifted = lift_files(files);
    lifted_files result{std::move(lifted.program), {}, {}};
    std::map<std::string, std::string> why;
    for (refused_function const& f : lifted.refused) {
      std::string const text = printable(text_of(f));
      why.emplace(f.name, text);
      result.refusals += "; refused: " + text + '\n';
    }
    for (lifted_symbol& s : lifted.symbols) {
      std::string refusal;
      if (s.function.empty()) {
        auto const known = why.find(s.name);
        refusal =
            known != why.end()
                ? known->second
                : s.name + ": its pointers are not arrays of numbers, or another definition may replace it";
      }
      result.symbols.push_back(
          {std::move(s.symbol), std::move(s.function), std::move(refusal), std::move(s.returned)});
    }
    return result;
  } catch (lift_error const& e) {
    throw failure(exit_code::invalid, e.what());
  }
}
#else
lifted_files lift_program(std::vector<std::string> const&) {
  throw failure(
      exit_code::usage, "overdub-opt: --lift needs LLVM, and this overdub-opt was built without it");
}
#endif

namespace {

// A text as a raw string literal, or several: compilers limit their length.
std::string literal(std::string_view text) {
  std::string mark = "overdub";
  while (text.find(')' + mark + '"') != text.npos) mark += '_';
  constexpr std::size_t most = 16'000;
  std::string out;
  for (std::size_t at = 0; at < text.size() || at == 0; at += most)
    out += "R\"" + mark + '(' + std::string(text.substr(at, most)) + ')' + mark + "\"\n";
  return out;
}

} // namespace

std::string embedding_source(ir::program const& p, std::vector<embedded_symbol> const& symbols) {
  constexpr std::size_t most_parameters = 64;
  std::string declared, rows;
  for (std::size_t k = 0; k < symbols.size(); ++k) {
    embedded_symbol const& s = symbols[k];
    if (s.symbol.find_first_of("\"\\\n") != s.symbol.npos) continue; // no compiler of C or C++ writes it
    std::string const f = "function_" + std::to_string(k);
    std::uint64_t returned = 0;
    for (std::size_t i = 0; i < s.returned.size() && i < most_parameters; ++i)
      if (s.returned[i]) returned |= std::uint64_t{1} << i;
    bool const is_callable = s.returned.size() <= most_parameters;
    std::string const refusal = is_callable ? s.refusal : s.function + ": it has more than 64 parameters";
    declared += "extern \"C\" void " + f + "() __asm__(\"" + s.symbol + "\") __attribute__((weak));\n";
    rows += "    {&" + f + ", " + literal(is_callable ? s.function : "") + ", " + literal(refusal) + ", " +
            std::to_string(returned) + "u},\n";
  }
  return "// Written by overdub-opt --embed: a program for overdub::lifted.\n#include "
         "<overdub/lifted/embedded.hpp>\n\n"
         "namespace {\n" +
         declared + "constexpr char text[] =\n" + literal(ir::print(p)) + ";\n" +
         "constexpr overdub::embedded_function functions[] = {\n" + rows +
         "    {nullptr, \"\", \"\", 0}};\noverdub::embedded_program const program(text, functions);\n} // "
         "namespace\n";
}

} // namespace overdub::tools
