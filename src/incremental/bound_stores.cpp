#include <overdub/incremental/bound_stores.hpp>

namespace overdub::increments {

void direct_stores::clear() {
  numbers.clear();
  words.clear();
  additions.clear();
  ranges.clear();
  lists.clear();
  inputs.clear();
  final_copies.clear();
}
void other_stores::clear() {
  elements.clear();
  appended_elements.clear();
  checked_sums.clear();
  stores.clear();
  inputs.clear();
}

} // namespace overdub::increments
