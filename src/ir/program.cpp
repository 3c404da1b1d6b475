#include <overdub/core/error.hpp>
#include <overdub/implementation/ir/program_tables.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace overdub::ir {

program::program() = default;
program::program(program const& other) = default;
program::program(program&& other) noexcept = default;
program& program::operator=(program const& other) = default;
program& program::operator=(program&& other) noexcept = default;
program::~program() = default;

function_id program::add(std::string_view name, std::span<type const> parameters) {
  function_id const f{static_cast<std::uint32_t>(functions.size())};
  functions.emplace_back(intern(name), parameters);
  return f;
}
void program::erase(function_id f) { functions[index_of(f)] = function(); }
std::optional<function_id> program::find(std::string_view name) const {
  auto const s = find_symbol(name);
  for (std::uint32_t i = 0; s && i < functions.size(); ++i)
    if (functions[i].name == *s) return function_id{i};
  return {};
}

symbol program::intern(std::string_view text) {
  auto const [at, added] = tables_.get_or_create().texts.try_emplace(
      std::string(text), symbol{static_cast<std::uint32_t>(texts_.size())});
  if (added) texts_.emplace_back(text);
  return at->second;
}
std::optional<symbol> program::find_symbol(std::string_view text) const {
  if (tables_.get_if() == nullptr) return {};
  auto const& texts = tables_.get_if()->texts;
  auto const at = texts.find(std::string(text));
  return at == texts.end() ? std::nullopt : std::optional(at->second);
}

namespace detail {

std::size_t type_hash::operator()(signature const& s) const {
  auto const mixed = [](std::size_t h, std::size_t x) {
    return (h ^ x ^ (h >> 29)) * std::size_t{0x9e3779b97f4a7c15};
  };
  std::size_t h = mixed(static_cast<std::size_t>(s.calls), s.parameters.size());
  for (auto const* const all : {&s.parameters, &s.results})
    for (type const t : *all)
      h = mixed(
          h, std::size_t{t.index} << 16 | std::size_t{t.rank} << 8 | std::size_t{t.is_accumulator} << 7 |
                 static_cast<std::size_t>(t.element));
  return h ^ (h >> 32);
}
// The index of an entry in a table, which is inserted if it is new.
template <class T>
std::uint16_t index_in(std::vector<T>& all, tsl::robin_map<T, std::uint16_t, type_hash>& index, T const& x) {
  if (auto const at = index.find(x); at != index.end()) return at->second;
  if (all.size() > 0xffff)
    throw rejected_program(
        message("overdub: a program has more than 65536 types of functions, or of opaque objects"));
  auto const number = static_cast<std::uint16_t>(all.size());
  all.push_back(x);
  index.emplace(x, number);
  return number;
}

} // namespace detail

type program::function_type(signature const& s) {
  return {
      .element = scalar::function,
      .index = detail::index_in(signatures_, tables_.get_or_create().signatures, s)};
}
type program::opaque_type(std::string_view name) {
  return {
      .element = scalar::opaque,
      .index = detail::index_in(opaque_, tables_.get_or_create().opaque_types, intern(name))};
}

place_id program::add_place(std::string_view file, std::uint32_t line, std::uint32_t column, place_id next) {
  places_.push_back({.file = intern(file), .line = line, .column = column, .next = next});
  return place_id{static_cast<std::uint32_t>(places_.size() - 1)};
}
place_id program::join(place_id a, place_id b) {
  auto const is_same = [](place const& x, place const& y) {
    return x.file == y.file && x.line == y.line && x.column == y.column;
  };
  place_id joined = b;
  for (place_id p = a; p != nothing; p = (*this)[p].next) {
    bool known = false;
    for (place_id q = b; q != nothing; q = (*this)[q].next) known = known || is_same((*this)[p], (*this)[q]);
    if (known) continue;
    place copy = (*this)[p];
    copy.next = joined;
    places_.push_back(copy);
    joined = place_id{static_cast<std::uint32_t>(places_.size() - 1)};
  }
  return joined;
}

} // namespace overdub::ir
