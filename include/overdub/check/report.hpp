// The report of a check.
#pragma once

#include <overdub/check/finding.hpp>
#include <overdub/core/library.hpp>

#include <cstddef>
#include <ostream>
#include <vector>

namespace overdub {

/// The findings. For all arguments within the preconditions, a run does nothing of these kinds that is not among the
/// findings, and takes no branch that is reported as unreachable.
struct check_report {
  std::vector<finding> findings; // in the order of the program's functions and operations, the entry's first

  bool empty() const { return findings.empty(); }
  /// The number of findings of this kind, or certainty.
  std::size_t count(finding_kind kind) const;
  std::size_t count(severity how) const;
};

/// Prints a line for each finding.
std::ostream& operator<<(std::ostream& out, check_report const& r);

} // namespace overdub
