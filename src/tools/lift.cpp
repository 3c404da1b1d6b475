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
    lifted_files result{std::move(lifted.program), {}, {}, {}};
    for (called_native& n : lifted.natives)
      result.natives.push_back(
          {std::move(n.symbol), std::move(n.name), std::move(n.parameters), std::move(n.result)});
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
        refusal = known != why.end() ? known->second
                                     : s.name + ": its pointers are not known to be arrays of numbers, or "
                                                "another definition may replace it";
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

// No compiler of C or C++ writes other symbols.
bool can_be_declared(std::string const& symbol) { return symbol.find_first_of("\"\\\n") == symbol.npos; }

// `name` is declared as a function of the symbol.
std::string declaration(
    std::string const& result, std::string const& name, std::string const& parameters,
    std::string const& symbol) {
  return "extern \"C\" " + result + ' ' + name + '(' + parameters + ") __asm__(\"" + symbol +
         "\") __attribute__((weak));\n";
}

std::string functions_source(std::vector<embedded_symbol> const& symbols) {
  constexpr std::size_t most_parameters = 64;
  std::string declared, rows;
  for (std::size_t k = 0; k < symbols.size(); ++k) {
    embedded_symbol const& s = symbols[k];
    if (!can_be_declared(s.symbol)) continue;
    std::string const f = "function_" + std::to_string(k);
    std::uint64_t returned = 0;
    for (std::size_t i = 0; i < s.returned.size() && i < most_parameters; ++i)
      if (s.returned[i]) returned |= std::uint64_t{1} << i;
    bool const is_callable = s.returned.size() <= most_parameters;
    std::string const refusal = is_callable ? s.refusal : s.function + ": it has more than 64 parameters";
    declared += declaration("void", f, "", s.symbol);
    rows += "    {&" + f + ", " + literal(is_callable ? s.function : "") + ", " + literal(refusal) + ", " +
            std::to_string(returned) + "u},\n";
  }
  return declared + "constexpr overdub::embedded_function functions[] = {\n" + rows +
         "    {nullptr, \"\", \"\", 0}};\n";
}

// A number of a program: integers of all widths are std::int64_t.
std::string number_in_program(std::string const& type) {
  return type.starts_with("std::") ? "std::int64_t" : type;
}

std::string natives_source(std::vector<embedded_native_symbol> const& natives) {
  std::string declared, rows;
  for (std::size_t k = 0; k < natives.size(); ++k) {
    embedded_native_symbol const& n = natives[k];
    if (!can_be_declared(n.symbol)) continue;
    std::string const f = "native_" + std::to_string(k);
    std::string parameters, arguments;
    for (std::size_t i = 0; i < n.parameters.size(); ++i) {
      std::string const comma = i == 0 ? "" : ", ", &type = n.parameters[i];
      parameters += comma + type;
      arguments += comma + "static_cast<" + type + ">(*static_cast<" + number_in_program(type) +
                   " const*>(x[" + std::to_string(i) + "]))";
    }
    std::string call = f + '(' + arguments + ')';
    if (n.result != "void") {
      // Integers are sign-extended from their width.
      std::string const narrow = n.result.starts_with("std::u") ? "std::" + n.result.substr(6) : n.result;
      call = "*static_cast<" + number_in_program(n.result) + "*>(r[0]) = static_cast<" + narrow + ">(" +
             call + ')';
    }
    declared += declaration(n.result, f, parameters, n.symbol) + "void call_" + std::to_string(k) +
                "(void*, [[maybe_unused]] void const* const* x, [[maybe_unused]] void* const* r) { " + call +
                "; }\n";
    rows += "    {" + literal(n.name) + ", reinterpret_cast<void (*)()>(&" + f + "), &call_" +
            std::to_string(k) + "},\n";
  }
  return declared + "overdub::embedded_native const natives[] = {\n" + rows +
         "    {\"\", nullptr, nullptr}};\n";
}

} // namespace

std::string embedding_source(ir::program const& p, lifted_files const& lifted) {
  return "// Written by overdub-opt --embed: a program for overdub::lifted.\n#include "
         "<overdub/lifted/embedded.hpp>\n\n#include <cstdint>\n\nnamespace {\n"
         "constexpr char text[] =\n" +
         literal(ir::print(p)) + ";\n" + functions_source(lifted.symbols) + natives_source(lifted.natives) +
         "overdub::embedded_program const program(text, functions, natives);\n} // namespace\n";
}

} // namespace overdub::tools
