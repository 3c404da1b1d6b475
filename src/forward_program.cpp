#include <overdub/contexts/forward/forward_along.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/implementation/stage/evaluation_in_library.hpp>

namespace overdub {

ir::program forward_of(ir::program const& p) {
  contexts::forward along;
  overdub::detail::recorder r;
  for (ir::host_binding const& h : p.hosts) // the new program makes the same host calls
    if (h.context != ir::host_binding::no_context && h.context >= r.contexts.size())
      r.contexts.resize(h.context + 1);
  staging innermost(r);
  return overdub::detail::rewritten(
      r,
      overdub::detail::make_run_stack<types<>>(
          overdub::detail::lifetime(), overdub::stack<level<staging, void>>(innermost, overdub::stack<>{}),
          along),
      p);
}

} // namespace overdub

namespace overdub::detail {
OVERDUB_EVALUATE_IN_LIBRARY(forward_alone)
OVERDUB_EVALUATE_IN_LIBRARY(forward_of_symbols)
} // namespace overdub::detail
