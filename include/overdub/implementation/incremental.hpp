// What headers declare, and a library or one unit of a program defines: incremental updates. It calls programs, staging, execution and differentiation.
#pragma once

#include <overdub/implementation/only_once.hpp>

#include <overdub/contexts/incremental/bound_update.ipp>
#include <overdub/contexts/incremental/cells.ipp>
#include <overdub/contexts/incremental/change_list.ipp>
#include <overdub/contexts/incremental/incremental_bind.ipp>
#include <overdub/contexts/incremental/incremental_commit.ipp>
#include <overdub/contexts/incremental/incremental_explain.ipp>
#include <overdub/contexts/incremental/incremental_program.ipp>
#include <overdub/contexts/incremental/incremental_propose.ipp>
#include <overdub/contexts/incremental/invariant_shapes.ipp>
#include <overdub/contexts/incremental/make_update_program.ipp>
#include <overdub/contexts/incremental/update_program_cache.ipp>
#include <overdub/contexts/incremental/work_counter.ipp>
