// Records of a trace, 16 bytes each: of a call, its time and the address of the callee's description; of a value, a number and its type.
// Callees that are known at compile time need no look-up.
#pragma once

#include <overdub/overdub.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>

namespace overdub::contexts::tracing {

/// The name and kind of a callee. A record has the address, whose low four bits hold its record_kind. Callees that are known only by the
/// address of their function get their names when records are read (recordings::name_callees).
struct alignas(16) callee_info {
  std::string_view name;
  std::string_view kind; // empty if readers skip the calls, since the callee's name is not chosen
};

template <callee F>
consteval std::string_view kind_name() {
  return function<F> ? "function" : native_leaf<F> ? "leaf" : "operation";
}
template <callee F>
OVERDUB_HIDDEN inline constexpr callee_info info_of{F::name(), kind_name<F>()};

/// The description of a callee whose name is known only at run time, such as a program's function. Never freed.
/// `number` is the index of its counter in call_counts, if it was counted.
struct named_callee {
  callee_info info;
  std::atomic<std::uint32_t> number{0xffff'ffff};
};
/// The description for a name, created on first use. Thread-safe; O(log(names)).
OVERDUB_HIDDEN inline named_callee& callee_named(std::string_view name, std::string_view kind) {
  static std::mutex mutex;
  static auto& all = *new std::map<std::string, named_callee, std::less<>>;
  std::lock_guard const lock(mutex);
  auto const found = all.find(name);
  if (found != all.end()) return found->second;
  auto const made = all.try_emplace(std::string(name)).first;
  made->second.info = {made->first, kind};
  return made->second;
}
template <callee F>
[[gnu::always_inline]] OVERDUB_HIDDEN inline callee_info const& info() {
  if constexpr (overdub::detail::named_at_compile_time<F>)
    return info_of<F>;
  else
    return callee_named(F::name(), kind_name<F>()).info;
}

/// What a record holds, in the low four bits of its second word.
enum class record_kind : unsigned {
  begin,
  begin_with_values, // followed by a record for each argument
  end,
  end_with_value, // followed by a record for the result
  failed,         // the end of a call that threw
  value,
  last_value
};

/// The type of a value, in bits 4 to 7 of the second word.
enum class value_type : unsigned { boolean, integer, natural, real, elements };

/// Of a call: the time in ticks, and the callee and kind. Of a value: its bits, and position << 8 | type << 4 | kind.
struct record {
  std::uint64_t first;
  std::uint64_t second;

  record_kind kind() const { return static_cast<record_kind>(second & 15); }
  /// Of the record of a call.
  callee_info const& callee() const {
    return *reinterpret_cast<callee_info const*>(static_cast<std::uintptr_t>(second & ~std::uint64_t{15}));
  }
  /// Of the record of a value. The position is the index of the argument, and 0 for a result.
  value_type type() const { return static_cast<value_type>(second >> 4 & 15); }
  unsigned position() const { return static_cast<unsigned>(second >> 8); }
};

/// The second word of the record of a call.
template <callee F>
[[gnu::always_inline]] inline std::uint64_t word_of(record_kind kind) {
  return reinterpret_cast<std::uintptr_t>(&info<F>()) + static_cast<unsigned>(kind);
}

/// Whether values of a type are recorded: numbers of at most 8 bytes, and arrays, by their size.
template <class X>
inline constexpr bool is_recorded = std::is_arithmetic_v<X> && sizeof(X) <= 8;
template <class T>
inline constexpr bool is_recorded<array<T>> = true;

template <class X>
value_type type_of(X const&) {
  if constexpr (!std::is_arithmetic_v<X>)
    return value_type::elements;
  else if constexpr (std::is_same_v<X, bool>)
    return value_type::boolean;
  else if constexpr (std::is_floating_point_v<X>)
    return value_type::real;
  else
    return std::is_signed_v<X> ? value_type::integer : value_type::natural;
}
template <class X>
std::uint64_t bits_of(X const& x) {
  if constexpr (!std::is_arithmetic_v<X>)
    return static_cast<std::uint64_t>(x.size());
  else if constexpr (std::is_floating_point_v<X>)
    return __builtin_bit_cast(std::uint64_t, static_cast<double>(x));
  else
    return static_cast<std::uint64_t>(x);
}

} // namespace overdub::contexts::tracing
