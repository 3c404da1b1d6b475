// The report of a check: its findings.
#pragma once

#include <overdub/contexts/check/finding.hpp>

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <vector>

namespace overdub::contexts {

/// What was found. Whatever the arguments are, as long as they are as was said, a run does nothing of these kinds that is not among
/// the findings; nor is a branch taken that is unreachable.
struct check_report {
  std::vector<finding> findings; // in the order of the program's functions and operations, the entry's first

  bool empty() const { return findings.empty(); }
  /// How many are of this kind, or certain.
  std::size_t count(finding_kind kind) const {
    return static_cast<std::size_t>(
        std::count_if(findings.begin(), findings.end(), [&](finding const& x) { return x.kind == kind; }));
  }
  std::size_t count(severity how) const {
    return static_cast<std::size_t>(
        std::count_if(findings.begin(), findings.end(), [&](finding const& x) { return x.how == how; }));
  }
};

/// A line for each finding.
inline std::ostream& operator<<(std::ostream& out, check_report const& r) {
  for (finding const& each : r.findings) out << each << '\n';
  return out;
}

} // namespace overdub::contexts
