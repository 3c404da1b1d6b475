// The second part of the verifier: the texts and types that a program keeps, and every type that is named in it.
#pragma once

#include <overdub/ir/verify/findings.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace overdub::ir::detail {

/// What is wrong with a type by itself; nothing when it can be read and printed. Only the first `signatures` types of
/// functions are known.
inline std::string fault_of(program const& p, type t, std::size_t signatures) {
  switch (t.element) {
  case scalar::none:
    return "has no type";
  case scalar::opaque:
    if (t.index >= p.opaque_count()) return "has the type of an opaque object that the program does not know";
    break;
  case scalar::function:
    if (t.index >= signatures) return "has the type of a function that the program does not know";
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

/// Checks what all functions share. False when nothing else can be read safely.
inline bool check_tables(program const& p, findings& out) {
  std::size_t const before = out.size();
  for (std::uint32_t i = 0; i < p.symbol_count(); ++i)
    if (p.find_symbol(p.text(symbol{i})) != symbol{i})
      out.add("text " + std::to_string(i) + " of the program is not found again; its storage is broken");
  for (std::uint32_t i = 0; i < p.opaque_count(); ++i)
    if (!out.has(p.opaque_symbol({.element = scalar::opaque, .index = static_cast<std::uint16_t>(i)})))
      out.add("type " + std::to_string(i) + " of opaque objects has no name; its storage is broken");
  for (std::uint32_t i = 0; i < p.signature_count(); ++i) {
    std::string const name = "type " + std::to_string(i) + " of functions";
    signature const& s =
        p.signature_of({.element = scalar::function, .index = static_cast<std::uint16_t>(i)});
    if (s.calls > convention::boxed) out.add(name + " is called in a way that does not exist");
    auto check = [&](std::vector<type> const& types, char const* what) {
      for (type const t : types) {
        // One that came before: no type is inside itself.
        std::string const fault = t.is_accumulator ? "is an accumulator" : fault_of(p, t, i);
        if (!fault.empty()) out.add(name + ": " + what + " that " + fault);
      }
    };
    check(s.parameters, "it takes something");
    check(s.results, "it gives something");
  }
  for (std::uint32_t i = 0; i < p.place_count(); ++i) {
    place const& x = p[place_id{i}];
    if (x.file != nothing && !out.has(x.file))
      out.add("place " + std::to_string(i) + " is in a file without a name; its storage is broken");
    if (x.next != nothing && index_of(x.next) >= i)
      out.add(
          "place " + std::to_string(i) + " is followed by one that did not come before; lists of places end");
  }
  for (note const& n : p.notes)
    if (n.at != nothing && index_of(n.at) >= p.place_count())
      out.add("the note \"" + n.text + "\" is at a place that does not exist; add the place first");
  return out.size() == before;
}

} // namespace overdub::ir::detail
