#include <overdub/check/report.hpp>

#include <algorithm>
#include <cstddef>
#include <ostream>

namespace overdub {

std::ostream& operator<<(std::ostream& out, check_report const& r) {
  for (finding const& each : r.findings) out << each << '\n';
  return out;
}

} // namespace overdub

namespace overdub {

std::size_t check_report::count(finding_kind kind) const {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(), [&](finding const& x) { return x.kind == kind; }));
}

std::size_t check_report::count(severity how) const {
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(), [&](finding const& x) { return x.how == how; }));
}

} // namespace overdub
