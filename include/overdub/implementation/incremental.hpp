// What headers declare, and a library or one unit of a program defines: incremental updates. It calls programs, staging, execution and differentiation.
#pragma once

#include <overdub/implementation/only_once.hpp>

#include <overdub/incremental/bound_update.ipp>
#include <overdub/incremental/cells.ipp>
#include <overdub/incremental/change_list.ipp>
#include <overdub/incremental/incremental_bind.ipp>
#include <overdub/incremental/incremental_commit.ipp>
#include <overdub/incremental/incremental_explain.ipp>
#include <overdub/incremental/incremental_program.ipp>
#include <overdub/incremental/incremental_propose.ipp>
#include <overdub/incremental/invariant_shapes.ipp>
#include <overdub/incremental/make_update_program.ipp>
#include <overdub/incremental/update_program_cache.ipp>
#include <overdub/incremental/work_counter.ipp>
