// The second part of the verifier: the tables of a program, and every type that refers to them.
#pragma once

#include <overdub/implementation/ir/program_tables.hpp>
#include <overdub/implementation/ir/verify/findings.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace overdub::ir::detail {

/// The error of a type by itself; empty if it can be read and printed. Only the first `signatures` function types are
/// known.
inline std::string fault_of(program const& p, type t, std::size_t signatures) {
  switch (t.element) {
  case scalar::none:
    return "has no type; give it one";
  case scalar::opaque:
    if (t.index >= p.opaque_count()) return "has the type of an opaque object that is not in the program";
    break;
  case scalar::function:
    if (t.index >= signatures) return "has the type of a function that is not in the program";
    break;
  case scalar::boolean:
  case scalar::i64:
  case scalar::f32:
  case scalar::f64:
  case scalar::key:
    if (t.index != 0) return "has the type of a number with an index; leave it 0";
    break;
  default:
    return "has a type that does not exist";
  }
  type element = t.accumulated();
  element.rank = 0;
  if (t.is_accumulator && (t.rank == 0 || !element.is_number()))
    return "is an accumulator of something that is no array of numbers";
  return {};
}

/// Checks the tables that functions share.
class table_check {
public:
  table_check(program const& p, findings& out) : program_(p), out_(out) {}

  /// Returns false if nothing else can be read safely.
  bool run() {
    std::size_t const before = out_.size();
    check_texts();
    for (std::uint32_t i = 0; i < program_.signature_count(); ++i) check_signature(i);
    check_places();
    for (host_binding const& h : program_.hosts)
      if (!out_.has(h.name) || h.run == nullptr)
        out_.add("a native function has no name, or is none; give the program its name and its address");
    return out_.size() == before;
  }

private:
  static std::string numbered(char const* what, std::size_t i, char const* of = "") {
    return what + std::to_string(i) + of;
  }
  void check_texts() {
    program const& p = program_;
    for (std::uint32_t i = 0; i < p.symbol_count(); ++i)
      if (p.find_symbol(p.text(symbol{i})) != symbol{i})
        out_.add(numbered("text ", i, " of the program is not found again; its storage is broken"));
    for (std::uint32_t i = 0; i < p.opaque_count(); ++i)
      if (!out_.has(p.opaque_[i]) || !finds(&program_tables::opaque_types, p.opaque_[i], i))
        out_.add(numbered(
            "type ", i, " of opaque objects has no name, or is not found by it; its storage is broken"));
  }
  template <class Table, class Key>
  bool finds(Table const program_tables::*table, Key const& key, std::uint32_t i) const {
    program_tables const* const tables = program_.tables_.get_if();
    if (tables == nullptr) return false;
    auto const at = (tables->*table).find(key);
    return at != (tables->*table).end() && at->second == i;
  }
  void check_signature(std::uint32_t i) {
    std::string const name = numbered("type ", i, " of functions");
    signature const& s = program_.signatures_[i];
    if (s.calls > convention::boxed)
      out_.add(name + " is called in a way that does not exist; choose another");
    auto check = [&](std::vector<type> const& types, char const* what) {
      for (type const t : types) {
        // Types refer to earlier types only, so that no type contains itself.
        std::string const fault =
            t.is_accumulator ? "is an accumulator; take the array" : fault_of(program_, t, i);
        if (!fault.empty()) out_.add(name + ": " + what + ' ' + fault);
      }
    };
    check(s.parameters, "a parameter");
    check(s.results, "a result");
    if (!finds(&program_tables::signatures, s, i))
      out_.add(name + " is not found again; its storage is broken");
  }
  void check_places() {
    program const& p = program_;
    for (std::uint32_t i = 0; i < p.place_count(); ++i) {
      place const& x = p[place_id{i}];
      if (x.file != nothing && !out_.has(x.file))
        out_.add(numbered("place ", i, " is in a file without a name; its storage is broken"));
      if (x.next != nothing && index_of(x.next) >= i)
        out_.add(numbered("place ", i, " is followed by one that did not come before; lists of places end"));
    }
    for (note const& n : p.notes)
      if (n.at != nothing && index_of(n.at) >= p.place_count())
        out_.add("the note \"" + n.text + "\" has a source location that does not exist; add that first");
  }

  program const& program_;
  findings& out_;
};

} // namespace overdub::ir::detail
