// An update program bound to the memory of one incremental program: the addresses of its arguments, and what a commit copies where.
#pragma once

#include <overdub/compile/tiered_program.hpp>
#include <overdub/incremental/bound_stores.hpp>
#include <overdub/incremental/cells.hpp>
#include <overdub/incremental/pending_changes.hpp>
#include <overdub/incremental/saved_values.hpp>
#include <overdub/incremental/update_program_cache.hpp>
#include <overdub/incremental/update_results.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace overdub::increments {

/// The arguments of an update program. When code is replaced, their addresses are looked up again without allocation.
struct bound_arguments {
  std::vector<word_copy> changed_elements; // indices and new values of changed elements
  std::vector<word_copy> numbers;          // saved values that are numbers
  std::vector<word_copy> refreshed;        // those of them that a commit of this update changes
  std::vector<std::uint32_t> others;       // parameters that are passed anew in each call
  // The versions of the numbers that were copied, and of the arrays that are lent.
  saved_versions versions{.numbers = 0, .arrays = 0, .lengths = 0};
  std::vector<cells> lent_arrays;                // arrays that were made for the last call
  std::vector<std::vector<i64>> iteration_lists; // by parameter: iterations that a reverse index found

  void clear_addresses() {
    changed_elements.clear();
    numbers.clear();
    refreshed.clear();
    others.clear();
    versions.numbers = 0;
  }
};

/// Where `set_at` writes an index and an element directly to the arguments: if one element of one input changes, and that input is an array
/// of words.
struct direct_element {
  std::uint32_t input = layout::none; // none: it does not
  cells* array = nullptr;
  std::uint64_t *index = &unused, *element = &unused;
  std::uint64_t unused = 0;

  direct_element() = default;
  direct_element(direct_element const&) = delete;
  direct_element& operator=(direct_element const&) = delete;
  ~direct_element() = default;
};

/// The results of an update program.
struct bound_results {
  std::byte const* address = nullptr;            // for which the rest, and the stores, were bound
  std::vector<std::uint64_t const*> words;       // the function's results after the update,
  std::vector<std::uint64_t const*> differences; // and by how much they change, where the program computes it
  std::uint64_t const* failed_guards = nullptr;  // a bit for each guard that failed
};

struct bound_update;

/// Deoptimisation: what runs where guards failed. After so many failures in a row that led to the same fallback, that fallback runs at once,
/// for the next `retry_interval` updates.
struct guard_fallbacks {
  static constexpr std::uint32_t maximum_failures = 12, retry_interval = 1000;

  std::vector<std::pair<std::uint64_t, bound_update*>> known; // by failed guards
  bound_update *preferred = nullptr, *last = nullptr;
  std::uint32_t failures = 0, runs_until_retry = 0;

  /// The fallback for these guards, or null.
  bound_update* of(std::uint64_t failed) const {
    for (auto const& [bits, update] : known)
      if (bits == failed) return update;
    return nullptr;
  }
};

/// An update program bound to one incremental program. Addresses are looked up once and reused by later updates of the same change
/// signature.
struct bound_update {
  explicit bound_update(std::shared_ptr<runnable_update const> s);
  bound_update(bound_update const&) = delete;
  bound_update& operator=(bound_update const&) = delete;
  ~bound_update();

  change_key changes;
  std::shared_ptr<runnable_update const> update;
  tiered_call call;
  bound_arguments arguments;
  direct_element direct;
  bound_results results;
  bound_stores stores;
  guard_fallbacks fallbacks;
  std::vector<bool> is_written; // by saved value: whether a commit of this update changes it
  bool has_rows = false;        // some elements that it writes are arrays
  bool returns_lent = false;    // of a plain run: some results are parts of inputs
  // the state of the saved values for which all arguments but changed elements are current; 0: none
  std::uint64_t ready_state = 0;
  std::unique_ptr<bound_call> work; // counts the work of a run; made when it is needed

  /// A bit for each guard that failed in the last run.
  std::uint64_t failed_guards() const {
    update_value const v = update->program.failed_guards;
    return v.exists() ? call.word(v.result) : 0;
  }
  /// Calls f(path, bits) for the elements of a saved array that the last run recomputed, but for sums that differences change.
  template <class F>
  void for_each_scalar(std::uint32_t variable, cells const& committed, F const& f) const {
    for (store const& s : update->program.stores) {
      if (s.variable != variable || s.does == store::action::add) continue;
      if (s.path.empty()) {
        if (s.valid.exists() && word_of(call, s.valid) == 0) continue;
        increments::for_each_scalar(
            elements_of(call, s.value), committed.size_of_scalar(),
            {extents_of(call, s.value), committed.type().rank}, {}, f);
        continue;
      }
      std::vector<i64> inner(
          committed.extents() + s.path.size(), committed.extents() + committed.type().rank);
      std::size_t const bytes =
          static_cast<std::size_t>(committed.scalars(s.path.size())) * committed.size_of_scalar();
      for_each_part(s, call, nullptr, bytes, [&](std::span<i64 const> path, std::byte const* part) {
        increments::for_each_scalar(part, committed.size_of_scalar(), inner, path, f);
      });
    }
  }
};

/// The update programs that are bound to one incremental program.
struct bound_updates {
  bound_updates();
  /// A copy has no bound programs: it binds them when it needs them.
  bound_updates(bound_updates const& other);
  bound_updates(bound_updates&& other) noexcept;
  bound_updates& operator=(bound_updates const& other) = delete;
  bound_updates& operator=(bound_updates&& other) noexcept;
  ~bound_updates();

  /// The program for the pending changes without these guards, or null.
  bound_update* find(pending_changes const& changes, disabled_guards const& d) const;
  /// Discards all.
  void clear();

  std::vector<std::unique_ptr<bound_update>> all; // but the next three
  std::unique_ptr<bound_update> full;             // recomputes everything
  std::unique_ptr<bound_update> without_hooks;    // the same without calls of hooks; null if there are none
  std::unique_ptr<bound_update> plain;            // the function itself; null before its first run
  moved_out<bound_update*> last;                  // the last one that was used without disabled guards
  moved_out<bound_update*> direct;                // to whose arguments set_at writes directly
  moved_out<bound_update*> proposal;              // of the pending proposal
};

} // namespace overdub::increments
