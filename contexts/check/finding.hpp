// What is found in a program: a kind, how sure it is, the operation, the calls that lead there, the place in the source.
#pragma once

#include <overdub/ir/program.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::contexts {

enum class finding_kind : std::uint8_t {
  not_a_number, // an operation gives NaN of operands that are none
  infinite, // an operation gives an infinity of finite operands, at a pole: division by zero, the logarithm of 0
  division_by_zero, // of integers, which throws division_by_zero
  index,            // index_error
  size,             // size_error: different sizes, a negative one, nothing to reduce
  assertion,        // assertion_failed
  unreachable,      // a branch, or the body of a loop, that never runs
  unused            // a result that nobody uses, of an operation that does nothing else
};

enum class severity : std::uint8_t {
  possible, // by what is known, it may happen
  certain   // it is proved to happen in each run that does not fail before, and does not go on for ever
};

/// One finding.
struct finding {
  /// A call on the way from the entry to the operation.
  struct step {
    ir::function_id function; // that calls
    ir::node_id call;
    bool operator==(step const&) const = default;
  };

  finding_kind kind = finding_kind::unused;
  severity how = severity::possible;
  bool each_time = false; // it happens whenever the operation is reached by this path: which it need not be
  ir::function_id function = ir::nothing;
  ir::node_id node = ir::nothing;
  std::uint32_t region = 0; // unreachable: which one of the operation's
  std::vector<step> path;   // outermost first; empty where the operation is judged for all calls at once
  std::string what;         // the sentence
  std::string operation;    // as it is printed in the program's text: "%2 = log %1 : f64"
  std::string where;        // "model.cpp:12:3", and those of the calls; empty where places are not known
  std::string in;           // "@wave, called by @main"
};

/// "model.od:3:3: certain: log gives NaN: its operand is in [-2, -1] (%2 = log %1 : f64, in @wave, called by @main)"
inline std::string text_of(finding const& x) {
  std::string text = x.where.empty() ? "" : x.where + ": ";
  text += x.how == severity::certain ? "certain: " : "possible: ";
  text += x.what;
  text += " (" + x.operation + ", in " + x.in + ")";
  return text;
}
inline std::ostream& operator<<(std::ostream& out, finding const& x) { return out << text_of(x); }

namespace checking {

inline std::string text_of(ir::program const& p, ir::place_id at) {
  std::string text;
  for (ir::place_id i = at; i != ir::nothing; i = p[i].next) {
    if (!text.empty()) text.append(", ");
    text.append(p.text(p[i].file)).append(":").append(std::to_string(p[i].line));
    if (p[i].column != 0) text.append(":").append(std::to_string(p[i].column));
  }
  return text;
}
inline std::string called(ir::program const& p, ir::function_id f) {
  std::string text = "@";
  return text += p.name_of(f);
}

} // namespace checking
} // namespace overdub::contexts
