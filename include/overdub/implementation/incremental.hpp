// What headers declare, and a library or one unit of a program defines: incremental updates. It calls programs, staging, execution and differentiation.
#pragma once

#include <overdub/implementation/only_once.hpp>

#include <overdub/contexts/incremental/incremental_bind.ipp>
#include <overdub/contexts/incremental/incremental_commit.ipp>
#include <overdub/contexts/incremental/incremental_explain.ipp>
#include <overdub/contexts/incremental/incremental_program.ipp>
#include <overdub/contexts/incremental/incremental_propose.ipp>
#include <overdub/contexts/incremental/slice_program.ipp>
#include <overdub/contexts/incremental/slices.ipp>
#include <overdub/contexts/incremental/work_program.ipp>
