#include "../contexts.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/stage/evaluate.hpp>

namespace overdub::tools {

ir::program in_count(ir::program const& p, observed& seen) {
  auto& count = seen.keep<overdub::contexts::count>();
  seen.reports.push_back([&count](std::ostream& out) {
    out << "count: " + io::number_text(count.functions) + " calls of functions, " +
               io::number_text(count.primitives) + " of operations\n";
    count = {};
  });
  return overdub(count, p);
}

} // namespace overdub::tools
