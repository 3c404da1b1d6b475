#include <overdub/implementation/execute/frame_slots.hpp>

#include <algorithm>

namespace overdub::execute {

offset frame_slots::assign_new(value_id v) {
  if (offset const hint = take_hint(v); hint != no_word) {
    assign(v, hint);
    return hint;
  }
  offset const where = allocate(words_of(v));
  assign(v, {.at = where, .owns_words = true});
  return where;
}

bool frame_slots::take_words(value_id v, node_id n) {
  auto const ending = ending_at(n);
  bool const ends = std::find(ending.begin(), ending.end(), v) != ending.end();
  return ends && std::exchange(slots_[index_of(v)].owns_words, false);
}

frame_slot frame_slots::end(value_id v) {
  frame_slot& slot = slots_[index_of(v)];
  frame_slot const was = slot;
  slot = {.at = was.at};
  if (was.first != no_word && f_.is_result(v)) free(was.first, 1);
  if (was.owner != no_word) free(was.owner, 1);
  if (was.row == no_word && was.owns_words) free(was.at, words_of(v));
  return was;
}

} // namespace overdub::execute
