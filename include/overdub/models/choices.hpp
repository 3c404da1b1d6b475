// Addresses of random choices, choice maps and selections.
#pragma once

#include <overdub/core/error.hpp>
#include <overdub/core/library.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/models/error.hpp>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::models {

/// The address of a choice: the name of its site, and an index for each enclosing map and loop. In text theta[3][1], or theta[3,1]. An
/// address with fewer indices than its site names all choices whose addresses begin with it.
struct address {
  std::string site;
  std::vector<i64> indices;

  address();
  address(std::string of, std::vector<i64> at);
  /// Parses an address. Throws model_error where the text is none.
  address(std::string_view text);
  address(std::string const& text) : address(std::string_view(text)) {}
  address(char const* text) : address(std::string_view(text)) {}
  address(address const& other);
  address(address&& other) noexcept;
  address& operator=(address const& other);
  address& operator=(address&& other) noexcept;
  ~address();

  friend auto operator<=>(address const&, address const&) = default;
};
/// theta[3][1]
std::string text_of(address const& a);
inline std::ostream& operator<<(std::ostream& out, address const& a) { return out << text_of(a); }

namespace detail {
// Whether `top` is a proper prefix of an address.
bool is_below(address const& a, address const& top);
// Throws model_error, with the address of the choice that cannot be drawn, and the distribution's message.
[[noreturn]] void throw_undrawable(address const& at, std::string_view why);
[[noreturn]] void throw_choice_type(address const& at, ir::type wanted, ir::type found);
// A choice as a C++ value. Throws type_error where it is of another type.
template <class T>
T choice_as([[maybe_unused]] address const& at, [[maybe_unused]] datum const& x) {
  static_assert(
      datum_type<T>,
      "overdub: get<T>(address) gives bool, i64, float, double, and arrays of them; an integer is "
      "get<overdub::i64>(address)");
  if constexpr (datum_type<T>) {
    ir::type const wanted = overdub::detail::type_of_cpp<T>;
    if (x.type() != wanted) throw_choice_type(at, wanted, x.type());
    return x.as<T>();
  } else {
    return T();
  }
}
} // namespace detail

/// The number of choices of a site of this shape; the row-major number of one of them; and the indices of a number.
inline std::size_t size_of(std::span<i64 const> shape) {
  std::size_t n = 1;
  for (i64 const extent : shape) n *= static_cast<std::size_t>(extent);
  return n;
}
inline std::size_t number_of(std::span<i64 const> shape, std::span<i64 const> at) {
  std::size_t number = 0;
  for (std::size_t k = 0; k < at.size(); ++k)
    number = number * static_cast<std::size_t>(shape[k]) + static_cast<std::size_t>(at[k]);
  return number;
}
void indices_of(std::span<i64 const> shape, std::size_t number, std::vector<i64>& out);
/// Whether the first indices of a choice are those of a site of this shape.
inline bool is_inside(std::span<i64 const> shape, std::span<i64 const> at) {
  bool inside = at.size() <= shape.size();
  for (std::size_t k = 0; inside && k < at.size(); ++k) inside = at[k] >= 0 && at[k] < shape[k];
  return inside;
}
/// Calls f(indices) for each choice, in row-major order.
template <class F>
void for_each_index(std::span<i64 const> shape, F const& f) {
  std::size_t const count = size_of(shape);
  std::vector<i64> at(shape.size(), 0);
  for (std::size_t number = 0; number < count; ++number) {
    f(std::as_const(at));
    for (std::size_t k = shape.size(); k > 0 && ++at[k - 1] == shape[k - 1]; --k) at[k - 1] = 0;
  }
}

/// A part of an array: an element, or all elements after the first indices. Throws index_error. O(elements).
datum part_of(datum const& all, std::span<i64 const> indices);
/// The same; nothing where the indices are out of range.
datum part_if_inside(datum const& all, std::span<i64 const> indices);

/// A choice map: values by address. An address without indices has an array of all choices of the site, with an axis for each index. Later
/// values replace earlier ones. A plain value.
class choice_map {
public:
  choice_map();
  /// {{"mu", 0.5}, {"theta[2]", 1.0}, {"y", array<double>{...}}}
  choice_map(std::initializer_list<std::pair<address, datum>> all);
  choice_map(choice_map const& other);
  choice_map(choice_map&& other) noexcept;
  choice_map& operator=(choice_map const& other);
  choice_map& operator=(choice_map&& other) noexcept;
  ~choice_map();

  /// O(log n + replaced addresses).
  choice_map& set(address at, datum x);
  choice_map& set(std::string site, std::vector<i64> indices, datum x) {
    return set(address(std::move(site), std::move(indices)), std::move(x));
  }
  /// The value at an address, which may be a part of an array at a prefix of it; nothing, where none was set. O(log n).
  datum find(address const& at) const;
  bool contains(address const& at) const { return static_cast<bool>(find(at)); }
  /// The value at an address. Throws model_error where there is none, and type_error where it is no T.
  template <class T>
  T get(address const& at) const {
    datum const x = find(at);
    if (!x) throw_missing(at);
    return detail::choice_as<T>(at, x);
  }
  /// The number of addresses with a value.
  std::size_t size() const { return all_.size(); }
  bool empty() const { return all_.empty(); }
  /// Pairs of an address and a value, in the order of addresses.
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

  friend bool operator==(choice_map const& a, choice_map const& b);

private:
  [[noreturn]] void throw_missing(address const& at) const;

  std::map<address, datum> all_;
};
/// A line for each address.
std::ostream& operator<<(std::ostream& out, choice_map const& all);

/// A set of choices: all at some addresses, all below a prefix ("school/"), all, none; and its complement. A plain value.
class selection {
public:
  selection();
  selection(std::initializer_list<address> all);
  selection(selection const& other);
  selection(selection&& other) noexcept;
  selection& operator=(selection const& other);
  selection& operator=(selection&& other) noexcept;
  ~selection();
  static selection all() { return !selection(); }

  selection& add(address at);
  /// All other choices.
  selection operator!() const {
    selection other = *this;
    other.is_complement_ = !is_complement_;
    return other;
  }
  /// O(addresses).
  bool contains(std::string_view site, std::span<i64 const> indices) const;
  bool contains(address const& at) const { return contains(at.site, at.indices); }
  /// Whether it has all choices of a site, some, or none: 1, 0, -1.
  int extent(std::string_view site) const;

  std::vector<address> const& addresses() const { return all_; }

private:
  static bool names(address const& a, std::string_view site) {
    return a.site.ends_with('/') ? site.starts_with(a.site) : a.site == site;
  }

  std::vector<address> all_;
  bool is_complement_ = false;
};

} // namespace overdub::models
