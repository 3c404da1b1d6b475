// Findings in a program: kind, certainty, operation, call path, source location.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace overdub {

enum class finding_kind : std::uint8_t {
  not_a_number, // an operation returns NaN, and no operand is NaN
  infinite, // an operation returns an infinity for finite operands, at a pole, such as a division by zero or the logarithm of 0
  division_by_zero, // an integer division that throws division_by_zero
  index,            // an index that throws index_error
  wrong_size,       // size_error: sizes that differ, a negative size, or a reduction of an empty array
  assertion,        // an assertion that throws assertion_failed
  unreachable,      // a branch, or the body of a loop, that never runs
  unused            // an unused result of an operation without side effects
};

enum class severity : std::uint8_t {
  possible, // the analysis cannot exclude it
  certain   // proved for each run that terminates and does not fail before
};

/// A finding: an operation that fails or may fail, or that is superfluous.
struct finding {
  /// A call on the path from the entry to the operation.
  struct step {
    ir::function_id function; // the caller
    ir::node_id call;
    bool operator==(step const&) const = default;
  };

  finding_kind kind = finding_kind::unused;
  severity how = severity::possible;
  bool each_time = false; // it happens each time that this path reaches the operation, if it ever does
  ir::function_id function = ir::nothing;
  ir::node_id node = ir::nothing;
  std::uint32_t region = 0; // unreachable: the index of the operation's region
  std::vector<step> path;   // outermost first; empty if the finding holds for all calls
  std::string what;         // a sentence
  std::string operation;    // the operation in the program's text: "%2 = log %1 : f64"
  std::string where; // "model.cpp:12:3", and the source locations of the calls; empty if there are none
  std::string in;    // "@wave, called by @main"
};

/// "model.od:3:3: certain: log gives NaN: its operand is in [-2, -1] (%2 = log %1 : f64, in @wave, called by @main)"
std::string text_of(finding const& x);
inline std::ostream& operator<<(std::ostream& out, finding const& x) { return out << text_of(x); }

namespace checking {

std::string text_of(ir::program const& p, ir::place_id at);
std::string called(ir::program const& p, ir::function_id f);

} // namespace checking
} // namespace overdub
