// The program that follows a change: what a function computes again where some of its inputs changed, and reads of what it kept.
#pragma once

#include <overdub/contexts/incremental/slice.hpp>
#include <overdub/header_only.hpp>

namespace overdub::contexts::increments {

/// The slice of a function for a schema, with the assumptions that are not in doubt; what it reads that is not kept yet becomes part of the layout. The function has no effects but
/// calls of hooks, which run again where a value that they take changed.
/// O(operations that are visited), but for copies of those inside of maps for each place.
OVERDUB_DECL slice
slice_of(ir::program const& p, ir::function_id f, layout& all, schema const& changes, doubts const& d = {});

/// The slice that runs all again, whatever changed: it takes all inputs, and gives all that is kept.
OVERDUB_DECL slice whole_of(ir::program const& p, ir::function_id f, layout& all);

} // namespace overdub::contexts::increments

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/incremental/slice_program.ipp>
#endif
