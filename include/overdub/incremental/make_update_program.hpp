// Makes the update program of a function for a change signature.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/incremental/update_program.hpp>

namespace overdub::increments {

/// The update program of a function for a change signature, which speculates where its guards are not disabled. Values that it reads and
/// that are not saved yet are added to `all`. The function has no side effects but calls of hooks, which are repeated where one of their
/// arguments changed. O(operations that are affected); operations in maps are copied for each changed element.
update_program make_update_program(
    ir::program const& p, ir::function_id f, layout& all, change_signature const& changes,
    disabled_guards const& d = {});

/// The program that recomputes everything. Its arguments are all inputs; it returns all values that are saved.
update_program make_full_update(ir::program const& p, ir::function_id f, layout& all);

} // namespace overdub::increments
