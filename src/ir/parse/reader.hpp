// The common syntax of a program's text: names of functions, types, source locations.
#pragma once

#include <overdub/implementation/ir/parse/names.hpp>
#include <overdub/implementation/ir/parse/scanner.hpp>
#include <overdub/implementation/ir/parse/spelling.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/ir/type_text.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::ir::detail {

/// Parses into a program. Throws syntax_fault if parsing cannot continue.
class reader {
public:
  /// `file`: the file of implicit locations, or empty.
  explicit reader(std::string_view text, std::string_view file = {})
      : in_(text), names_(text), text_(text), file_(file) {}

protected:
  using type_list = std::vector<type>;

  void wrong(std::size_t at, std::string sentence) { in_.faults().add(at, std::move(sentence)); }
  std::string on_line(std::size_t at) { return "on line " + std::to_string(in_.faults().line_of(at)); }
  std::uint32_t offset() const { return static_cast<std::uint32_t>(in_.offset()); }

  // ---- functions by name, which may be used before their definition
  struct function_entry {
    function_id id = nothing;
    std::uint32_t where = 0;
    bool is_broken = false; // its signature cannot be parsed
  };
  function_entry& entry_of(symbol name) {
    if (index_of(name) >= functions_.size()) functions_.resize(index_of(name) + std::size_t{1});
    return functions_[index_of(name)];
  }
  symbol function_name() {
    if (in_.peek() != '@') in_.fail_expected("the name of a function, as in @norm");
    if (in_.is_at_quoted_name()) return p_.intern(in_.quoted_name());
    std::size_t const at = in_.offset();
    std::string_view const text = in_.name();
    if (!is_identifier(text))
      in_.fail(at, "the name of a function begins with a letter; others are quoted: @\"2\"");
    return symbol_of(names_[names_.find(text)]);
  }
  symbol symbol_of(name_binding& b) {
    if (b.name == nothing) b.name = p_.intern(b.text);
    return b.name;
  }
  std::string text_of_name(symbol name) const {
    std::string text = "@";
    if (std::string_view const s = p_.text(name); is_identifier(s))
      text += s.substr(0, 100);
    else
      text += quoted(s);
    return text;
  }
  std::string no_function(symbol name) const {
    nearest_word nearest(p_.text(name));
    for (function const& f : p_.functions) nearest.try_word(p_.text(f.name));
    return "there is no function " + text_of_name(name) + nearest.suggestion("@");
  }

  // ---- types
  type read_type() {
    std::size_t const at = in_.offset();
    if (in_.take('(')) {
      deeper(at);
      type const t = read_type();
      --depth_;
      in_.expect(')');
      return with_axes(at, t);
    }
    if (!is_a(in_.peek(), is_letter)) in_.fail_expected("a type");
    std::string_view const word = in_.word();
    if (word == "f64") return with_axes(at, f64);
    if (word == "i64") return with_axes(at, i64);
    if (word == "bool") return with_axes(at, boolean);
    if (word == "f32") return with_axes(at, f32);
    if (word == "key") return with_axes(at, key);
    if (word == "acc") {
      deeper(at);
      type const t = read_type();
      --depth_;
      if (!t.is_array()) in_.fail(at, "an accumulator is of an array, as in acc f64[]");
      return t.accumulator();
    }
    if (word == "opaque") return with_axes(at, interned(at, [&] { return p_.opaque_type(in_.text()); }));
    if (word == "fn") return read_signature(at, convention::direct);
    if (word == "indirect" || word == "boxed") {
      if (!in_.take("fn")) in_.fail_expected("\"fn\"");
      return read_signature(at, word == "boxed" ? convention::boxed : convention::indirect);
    }
    nearest_word nearest(word);
    for (std::string_view const known :
         {"f64", "i64", "bool", "f32", "key", "acc", "opaque", "fn", "indirect", "boxed"})
      nearest.try_word(known);
    in_.fail(at, "expected a type, found " + quoted(word) + nearest.suggestion());
  }
  /// Reads the types after an arrow: one type, or any number in parentheses.
  void read_results(type_list& types) {
    if (!in_.take('(')) return types.push_back(read_type());
    if (in_.take(')')) return;
    read_types(types);
    in_.expect(')');
  }
  void read_types(type_list& types) {
    do types.push_back(read_type());
    while (in_.take(','));
  }
  type row_array(std::size_t at, type row) {
    if (row.is_accumulator || row.rank == max_rank)
      in_.fail(at, "there are no arrays of " + ir::text_of(p_, row));
    return row.array_of();
  }
  /// The text of types, in parentheses unless it is one type.
  std::string text_of(std::span<type const> types) const {
    if (types.size() == 1) return ir::text_of(p_, types[0]);
    std::string text = "(";
    for (std::size_t i = 0; i < types.size(); ++i)
      text.append(i ? ", " : "").append(ir::text_of(p_, types[i]));
    return text + ")";
  }

  // ---- source locations
  /// The location of an operation that begins at `at`.
  place_id read_places(std::uint32_t at) {
    if (!in_.is_at_place()) return place_in_text(at);
    (void)in_.word();
    places_.clear();
    do {
      place x{.file = p_.intern(in_.text())};
      in_.expect(':');
      x.line = in_.count();
      if (in_.take(':')) x.column = in_.count();
      places_.push_back(x);
    } while (in_.take(','));
    place_id all = nothing;
    for (std::size_t i = places_.size(); i-- > 0;)
      all = p_.add_place(p_.text(places_[i].file), places_[i].line, places_[i].column, all);
    return all;
  }

  scanner in_;
  program p_;
  value_names names_;

private:
  static constexpr int max_depth = 100;

  // Counts lines from the previous location on, since locations are requested nearly in the order of the text.
  place_id place_in_text(std::uint32_t at) {
    if (file_.empty()) return nothing;
    if (at < counted_to_) counted_to_ = 0, line_ = 1, line_start_ = 0;
    for (; counted_to_ < at; ++counted_to_)
      if (text_[counted_to_] == '\n') ++line_, line_start_ = counted_to_ + 1;
    return p_.add_place(file_, line_, at - line_start_ + 1);
  }
  void deeper(std::size_t at) {
    if (depth_ == max_depth)
      in_.fail(
          at,
          "types are nested more than " + std::to_string(max_depth) + " deep; name a part of them opaque");
    ++depth_;
  }
  type with_axes(std::size_t at, type t) {
    while (in_.take('[')) {
      in_.expect(']');
      t = row_array(at, t);
    }
    return t;
  }
  type read_signature(std::size_t at, convention calls) {
    deeper(at);
    signature s{.calls = calls, .parameters = {}, .results = {}};
    in_.expect('(');
    if (!in_.take(')')) {
      read_types(s.parameters);
      in_.expect(')');
    }
    if (!in_.take_arrow()) in_.fail_expected("\"->\" and the result types");
    read_results(s.results);
    --depth_;
    return interned(at, [&] { return p_.function_type(s); });
  }
  // Interns a type. Fails if the program has no more ids for types.
  template <class Intern>
  type interned(std::size_t at, Intern intern) {
    try {
      return intern();
    } catch (error const& e) {
      in_.fail(at, std::string(e.what()).substr(std::string_view("overdub: ").size()));
    }
  }

  std::vector<function_entry> functions_; // for each symbol
  std::vector<place> places_;
  std::string_view text_;
  std::string_view file_;
  std::uint32_t counted_to_ = 0; // an offset on the current line
  std::uint32_t line_ = 1;
  std::uint32_t line_start_ = 0;
  int depth_ = 0; // of the current type
};

} // namespace overdub::ir::detail
