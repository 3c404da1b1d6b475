// The format of literals: a number or a bool as 64 bits.
#pragma once
#include <overdub/core/requirements.hpp>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace overdub::ir {

/// The bits of a bool, an integer, a float or a double. O(1).
template <class T>
constexpr std::uint64_t bits_of_number(T x) {
  if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<std::uint64_t>(x);
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<std::uint32_t>(x);
  else
    return static_cast<std::uint64_t>(x);
}

/// The bool, integer, float or double with these bits. O(1).
template <class T>
constexpr T number_of_bits(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else
    return static_cast<T>(bits);
}

} // namespace overdub::ir
