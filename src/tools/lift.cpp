#include "lift.hpp"

#include "failure.hpp"
#include "source.hpp"

#include <overdub/ir/print.hpp>
#if OVERDUB_TOOLS_LIFT
#include <overdub/lift.hpp>
#endif

#include <algorithm>
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
          {std::move(n.symbol), std::move(n.name), std::move(n.parameters), std::move(n.results)});
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

// Fields of a struct in registers, as one type of C++.
std::string struct_of(std::vector<std::string> const& fields) {
  std::string all;
  for (std::string const& field : fields) all += (all.empty() ? "" : ", ") + field;
  return "overdub::native_struct<" + all + '>';
}

// The declaration of a native function, and the function that calls it with the numbers of a program.
class native_caller {
public:
  native_caller(embedded_native_symbol const& n, std::string const& number)
      : n_(n), f_("native_" + number), call_("call_" + number) {}

  std::string text() const {
    std::string parameters, arguments;
    std::size_t next = 0;
    for (std::string const& type : n_.parameters) {
      std::string const comma = parameters.empty() ? "" : ", ";
      if (type == "float[2]") {
        parameters += comma + struct_of({"float", "float"});
        std::string const first = argument("float", next++), second = argument("float", next++);
        arguments += comma + struct_of({"float", "float"}) + '{' + first + ", {" + second + "}}";
      } else {
        parameters += comma + type;
        arguments += comma + argument(type, next++);
      }
    }
    return declaration(result(), f_, parameters, n_.symbol) + "void " + call_ +
           "(void*, [[maybe_unused]] void const* const* x, [[maybe_unused]] void* const* r) {\n" +
           call(f_ + '(' + arguments + ')') + "}\n";
  }
  std::string row() const {
    return "    {" + literal(n_.name) + ", reinterpret_cast<void (*)()>(&" + f_ + "), &" + call_ + "},\n";
  }

private:
  static std::string argument(std::string const& type, std::size_t number) {
    return "static_cast<" + type + ">(*static_cast<" + number_in_program(type) + " const*>(x[" +
           std::to_string(number) + "]))";
  }
  std::string result() const {
    return n_.results.empty() ? "void" : n_.results.size() == 1 ? n_.results[0] : struct_of(n_.results);
  }
  // Integers are sign-extended from their width.
  static std::string widened(std::string const& type, std::string const& value) {
    std::string const narrow = type.starts_with("std::u") ? "std::" + type.substr(6) : type;
    return "static_cast<" + narrow + ">(" + value + ')';
  }
  std::string call(std::string const& value) const {
    if (n_.results.empty()) return "  " + value + ";\n";
    std::string const type = number_in_program(n_.results[0]), first = "  auto const y = " + value + ";\n";
    if (n_.results.size() == 1)
      return first + "  *static_cast<" + type + "*>(r[0]) = " + widened(n_.results[0], "y") + ";\n";
    std::string fields, field = "y.first";
    for (std::string const& each : n_.results) {
      fields += (fields.empty() ? "" : ", ") + widened(each, field);
      field.insert(1, ".rest");
    }
    std::string const array = "overdub::array<" + type + '>';
    return first + "  *static_cast<" + array + "*>(r[0]) = " + array + '{' + fields + "};\n";
  }

  embedded_native_symbol const& n_;
  std::string f_, call_;
};

std::string natives_source(std::vector<embedded_native_symbol> const& natives) {
  std::string declared, rows;
  for (std::size_t k = 0; k < natives.size(); ++k) {
    if (!can_be_declared(natives[k].symbol)) continue;
    native_caller const caller(natives[k], std::to_string(k));
    declared += caller.text();
    rows += caller.row();
  }
  return declared + "overdub::embedded_native const natives[] = {\n" + rows +
         "    {\"\", nullptr, nullptr}};\n";
}

} // namespace

std::string embedding_source(ir::program const& p, lifted_files const& lifted) {
  bool const has_structs = std::ranges::any_of(
      lifted.natives, [](embedded_native_symbol const& n) { return n.results.size() > 1; });
  return "// Written by overdub-opt --embed: a program for overdub::lifted.\n#include "
         "<overdub/lifted/embedded.hpp>\n" +
         std::string(has_structs ? "#include <overdub/array/array.hpp>\n" : "") +
         "\n#include <cstdint>\n\nnamespace {\n"
         "constexpr char text[] =\n" +
         literal(ir::print(p)) + ";\n" + functions_source(lifted.symbols) + natives_source(lifted.natives) +
         "overdub::embedded_program const program(text, functions, natives);\n} // namespace\n";
}

} // namespace overdub::tools
