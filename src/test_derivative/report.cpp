#include <overdub/test_derivative/report.hpp>

#include <string>

namespace overdub {

std::string derivative_report::text() const {
  if (failures.empty()) return std::to_string(checks) + " comparisons hold\n";
  std::string all;
  for (std::string const& each : failures) all += each + '\n';
  return all;
}

} // namespace overdub
