// Formats text and numbers for reports.
#pragma once

#include <overdub/core/error.hpp>
#include <overdub/core/library.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace overdub::report {

/// Thrown if a block of a report is invalid, or a report cannot be written.
struct OVERDUB_EXPORTED report_error : error {
  using error::error;
};

/// Escapes text for elements and quoted attributes of HTML and SVG. Control characters become spaces, and invalid UTF-8 the replacement
/// character.
std::string escaped(std::string_view text);

/// The number of characters of a text.
std::size_t length(std::string_view text);

/// The text; if it has more than `limit` characters, its beginning and "…".
std::string shortened(std::string_view text, std::size_t limit);

namespace writing {

/// A number with this number of decimals; never a negative zero.
std::string fixed(double x, int decimals);

/// A number in scientific notation, such as 1.5e7.
std::string scientific(double x, int digits);

} // namespace writing

/// A number for readers: an integer with all its digits, another number with `digits` significant digits, and at least all digits before
/// the decimal point; very large and very small numbers in scientific notation.
std::string number(double x, int digits = 3);

/// A number rounded to about a hundredth of `spread`, the scale of its variation, such as a standard deviation.
std::string number_beside(double x, double spread);

/// A count and a noun, which is in the plural unless n is 1: "1 draw", "4000 draws".
std::string counted(std::size_t n, std::string_view what);

} // namespace overdub::report
