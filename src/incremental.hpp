// Non-inline definitions, for the compiled library or for one translation unit of a header-only program:
// incremental updates. Uses programs, staging and execution.
#pragma once

#ifndef OVERDUB_IMPLEMENTATION
#error "overdub: this header defines functions; define OVERDUB_IMPLEMENTATION in the one unit of the program that includes it"
#endif

// Local variables in these sources shadow functions of overdub, such as `at` and `sum`.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"

#include <overdub/implementation/incremental/added_sums.cpp>
#include <overdub/implementation/incremental/affected_iterations.cpp>
#include <overdub/implementation/incremental/bind_update.cpp>
#include <overdub/implementation/incremental/bound_stores.cpp>
#include <overdub/implementation/incremental/bound_update.cpp>
#include <overdub/implementation/incremental/branch_updates.cpp>
#include <overdub/implementation/incremental/cells.cpp>
#include <overdub/implementation/incremental/change_list.cpp>
#include <overdub/implementation/incremental/changed_lists.cpp>
#include <overdub/implementation/incremental/commit_changes.cpp>
#include <overdub/implementation/incremental/emitted_iterations.cpp>
#include <overdub/implementation/incremental/emitted_stores.cpp>
#include <overdub/implementation/incremental/incremental_commit.cpp>
#include <overdub/implementation/incremental/incremental_explain.cpp>
#include <overdub/implementation/incremental/incremental_program.cpp>
#include <overdub/implementation/incremental/incremental_propose.cpp>
#include <overdub/implementation/incremental/incremental_state.cpp>
#include <overdub/implementation/incremental/loop_updates.cpp>
#include <overdub/implementation/incremental/make_update_program.cpp>
#include <overdub/implementation/incremental/map_updates.cpp>
#include <overdub/implementation/incremental/pending_changes.cpp>
#include <overdub/implementation/incremental/planned_stores.cpp>
#include <overdub/implementation/incremental/read_updates.cpp>
#include <overdub/implementation/incremental/recomputation.cpp>
#include <overdub/implementation/incremental/reduction_updates.cpp>
#include <overdub/implementation/incremental/reverse_indices.cpp>
#include <overdub/implementation/incremental/saved_values.cpp>
#include <overdub/implementation/incremental/saves.cpp>
#include <overdub/implementation/incremental/speculation.cpp>
#include <overdub/implementation/incremental/sum_errors.cpp>
#include <overdub/implementation/incremental/update_code.cpp>
#include <overdub/implementation/incremental/update_operations.cpp>
#include <overdub/implementation/incremental/update_program_cache.cpp>
#include <overdub/implementation/incremental/update_program_text.cpp>
#include <overdub/implementation/incremental/update_strategies.cpp>
#include <overdub/implementation/incremental/update_strategy.cpp>
#include <overdub/implementation/incremental/value_changes.cpp>
#include <overdub/implementation/incremental/work_counter.cpp>

#pragma GCC diagnostic pop
