#include <overdub/implementation/incremental/update_program_text.hpp>
#include <overdub/implementation/ir/names_of_values.hpp>
#include <overdub/incremental/update_program.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/regions.hpp>

#include <string_view>

namespace overdub::increments {

std::string_view name_of_extent(step::extent ran) {
  switch (ran) {
  case step::extent::scalar:
    return "recomputed";
  case step::extent::one_iteration:
    return "one iteration";
  case step::extent::some_iterations:
    return "a list of iterations";
  case step::extent::appended_iteration:
    return "one appended iteration";
  case step::extent::appended_iterations:
    return "the appended iterations";
  case step::extent::difference:
    return "updated by the difference";
  case step::extent::path:
    return "updated along a path of its tree";
  case step::extent::from_the_first_affected:
    return "from the first affected iteration on";
  case step::extent::branch:
    return "the affected operations of its branch";
  case step::extent::unchanged:
    return "unchanged";
  case step::extent::whole:
    return "recomputed in full";
  }
  return {};
}

} // namespace overdub::increments
