// Dense ids of the parts of a program. An id is valid in its function, or in its program.
#pragma once

#include <overdub/core/requirements.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace overdub::ir {

enum class value_id : std::uint32_t {};    // a parameter, an argument of a region, a result or a literal
enum class node_id : std::uint32_t {};     // an operation
enum class region_id : std::uint32_t {};   // a sequence of operations
enum class use_id : std::uint32_t {};      // an operand
enum class function_id : std::uint32_t {}; // a function of a program
enum class symbol : std::uint32_t {};      // an interned text
enum class place_id : std::uint32_t {};    // a location in the user's source, or several

template <class T>
concept id = std::same_as<T, value_id> || std::same_as<T, node_id> || std::same_as<T, region_id> ||
    std::same_as<T, use_id> || std::same_as<T, function_id> || std::same_as<T, symbol> ||
    std::same_as<T, place_id>;

template <id Id>
constexpr std::uint32_t index_of(Id number) {
  return static_cast<std::uint32_t>(number);
}

/// The null id.
struct nothing_t {
  template <id Id>
  constexpr operator Id() const {
    return Id{~std::uint32_t{}};
  }
  template <id Id>
  friend constexpr bool operator==(Id a, nothing_t) {
    return index_of(a) == ~std::uint32_t{};
  }
};
inline constexpr nothing_t nothing{};

/// A range of consecutive ids.
template <id Id>
class id_range {
public:
  constexpr id_range(std::uint32_t first, std::uint32_t count) : first_(first), count_(count) {}

  struct iterator {
    std::uint32_t at;
    using value_type = Id;
    using difference_type = std::ptrdiff_t;
    constexpr Id operator*() const { return Id{at}; }
    constexpr iterator& operator++() { return ++at, *this; }
    constexpr iterator operator++(int) { return {at++}; }
    constexpr bool operator==(iterator const&) const = default;
  };
  constexpr iterator begin() const { return {first_}; }
  constexpr iterator end() const { return {first_ + count_}; }
  constexpr std::size_t size() const { return count_; }
  constexpr bool empty() const { return count_ == 0; }
  constexpr Id operator[](std::size_t i) const { return Id{first_ + static_cast<std::uint32_t>(i)}; }

private:
  std::uint32_t first_;
  std::uint32_t count_;
};

} // namespace overdub::ir
