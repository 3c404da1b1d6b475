#include <overdub/incremental/error.hpp>
#include <overdub/incremental/incremental_state.hpp>

namespace overdub::increments {

[[noreturn, gnu::cold]] void incremental_state::throw_moved() {
  throw incremental_error(
      message("overdub: this incremental computation was moved from, and has no value any more; "
              "assign to it before it is "
              "used"));
}

} // namespace overdub::increments
