// Where the values of a function are in its frame, and until when.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/implementation/execute/frame_words.hpp>
#include <overdub/implementation/ir/last_uses.hpp>
#include <overdub/ir/function.hpp>

#include <span>
#include <utility>
#include <vector>

namespace overdub::execute {

/// Where a value is.
struct frame_slot {
  offset at = no_word;
  bool owns_words = false; // they are freed when the value ends
  offset row = no_word;    // of lanes: the row that `at` points to, if the value owns it
  offset owner = no_word;  // of lanes in an array: the word that owns a reference to its buffer
  offset first = no_word;  // of a strided value: the word of the first lane's number
  offset step = no_word;   // the word of the stride
};

/// Allocates the words of a frame, and knows the slot of each value. Emits nothing.
class frame_slots {
public:
  using value_id = ir::value_id;
  using node_id = ir::node_id;

  frame_slots(ir::function const& f, ir::use_order const& order)
      : f_(f), ends_(f, order), slots_(f.value_count()), hints_(f.value_count(), no_word) {}

  // ---- words

  offset allocate(offset words) { return words_.allocate(words); }
  /// A word that no other value has.
  offset allocate_untouched() { return words_.allocate_untouched(); }
  void free(offset at, offset words) { words_.free(at, words); }
  offset frame_bytes() const { return words_.bytes(); }

  // ---- where values are

  frame_slot const& operator[](value_id v) const { return slots_[index_of(v)]; }
  offset at(value_id v) const { return slots_[index_of(v)].at; }
  /// The number of words of a value. Numbers in lanes have one, the pointer to them.
  offset words_of(value_id v) const { return execute::words_of(f_.type_of(v)); }
  /// The word of the reference that a counted value owns.
  offset owner_word(value_id v) const { return at(v) + (f_.type_of(v).rank > 0 ? word_size : 0); }
  /// Whether a value is counted, and has words: an array that is not created has none.
  bool has_count(value_id v) const { return holds_reference(f_.type_of(v)) && at(v) != no_word; }

  void assign(value_id v, frame_slot const& where) { slots_[index_of(v)] = where; }
  void assign(value_id v, offset where) { assign(v, frame_slot{.at = where}); }
  /// Assigns new words to a value, or those of its hint. Returns the first.
  offset assign_new(value_id v);

  /// A word that a result is computed in, which is decided before the operation is lowered.
  void hint(value_id v, offset where) { hints_[index_of(v)] = where; }
  bool is_hinted(value_id v) const { return hints_[index_of(v)] != no_word; }
  /// Returns the hint of a value, and removes it.
  offset take_hint(value_id v) { return std::exchange(hints_[index_of(v)], no_word); }

  // ---- until when

  /// The values that an operation uses last.
  std::span<value_id const> ending_at(node_id n) const { return ends_.at(n); }
  /// Whether a value that an operation uses last owns its words: they are the caller's then.
  bool take_words(value_id v, node_id n);
  /// Frees the words of a value that ends. Returns its slot before: a row and a reference are the caller's to free and to release. Does
  /// nothing if the value ended already.
  frame_slot end(value_id v);

private:
  ir::function const& f_;
  ir::last_uses const ends_;
  frame_words words_{first_parameter};
  std::vector<frame_slot> slots_; // for each value
  std::vector<offset> hints_;     // for each value
};

} // namespace overdub::execute
