// What a program costs where it runs: a program of the same arguments, which counts instead of computing.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

namespace overdub::contexts::increments {

/// The program that gives the work of the entry of another one, as an i64 in additions: operations by the costs in the table of
/// operations, each as often as it runs for these arguments, and the elements of arrays that are written. What is computed beside that
/// and does not say how often something runs is no part of it, so it takes little where the numbers of iterations do not depend on data.
/// The count depends on the arguments alone, not on clocks, tiers or machines. O(operations).
OVERDUB_DECL ir::program work_of(ir::program const& p);

} // namespace overdub::contexts::increments

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/incremental/work_program.ipp>
#endif
