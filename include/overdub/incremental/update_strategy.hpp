// Chooses between an update program and a plain run of the function, by counted work. Time is not measured: a sum that is updated by
// differences differs from the sum of a run in its last bits, so values would depend on clocks.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/incremental/update_program.hpp>

#include <cstdint>
#include <utility>

namespace overdub::increments {

/// The choice for the updates of one change signature, of one incremental program. The first 16 updates run the update program; the work
/// of some of them is counted. A plain run saves nothing but results, so the next update of another change signature recomputes all saved
/// values.
class update_strategy {
public:
  static constexpr std::uint32_t window = 16, first_counted = 4;
  /// Work in additions. An update program of less work, about a microsecond of machine code, is not counted any more.
  static constexpr std::uint64_t minimum_work = 4000;
  /// After so many plain runs the update program is tried again. The interval doubles each time.
  static constexpr std::uint32_t first_retry_interval = 1000, maximum_retry_interval = 1u << 20;

  update_strategy(change_signature changes, std::uint64_t code) : changes_(std::move(changes)), code_(code) {}

  bool is_of(std::uint64_t code) const { return code_ == code; }
  change_signature const& changes() const { return changes_; }

  bool is_plain() const { return state_ == state::plain; }
  /// Whether later updates run the update program, and are not counted.
  bool is_decided() const { return state_ == state::small || state_ == state::update; }
  /// Whether the choice is not made yet.
  bool is_open() const { return state_ == state::open; }
  /// Whether the work of the next update is counted: of the fourth to the sixteenth.
  bool counts_next() const { return is_open() && uses_ + 1 >= first_counted; }
  /// Whether the work of a plain run must be counted before the next update.
  bool needs_plain_work() const { return is_open() && uses_ + 1 == first_counted; }
  void set_plain_work(std::uint64_t work, std::uint64_t size, std::uint64_t minimum) {
    plain_ = work;
    size_ = size;
    if (work < minimum) state_ = state::small;
  }
  /// An update program was run. `work` is its work if it was counted. Returns whether `choose` must be called now.
  bool proposed(bool was_counted, std::uint64_t work) {
    if (state_ == state::saved_values_needed && --until_retry_ == 0) open_again();
    if (!is_open()) return false;
    ++uses_;
    if (was_counted) {
      work_ += work;
      ++counted_;
    }
    return uses_ >= window;
  }
  /// Makes the choice. `plain` is the work of a plain run, `whole` that of a run that recomputes all saved values.
  void choose(std::uint64_t plain, std::uint64_t whole);
  /// An update was run plainly. After the retry interval the update program is tried again. It is used, too, where updates of other
  /// change signatures need the saved values so often that plain runs cost more.
  void ran_plainly() {
    if (--until_retry_ == 0) return open_again();
    if (++uses_ < window) return;
    if (with_breaks() > mean_ * window) state_ = state::saved_values_needed;
    begin_window();
  }
  /// The values that plain runs did not save were needed by an update of another change signature.
  void was_needed() { ++breaks_; }
  /// `size` is the number of elements of all inputs, `saved` the number of saved values. If the inputs are twice or half as large as when
  /// the choice was made, or more values are saved, the choice is made again.
  void has_size(std::uint64_t size, std::uint32_t saved) {
    if (!is_open() && (size > 2 * size_ + 16 || size * 2 + 16 < size_ || saved != saved_)) open_again();
    saved_ = saved;
  }

  /// Whether `work` and `plain_work` are known: the mean work of an update program, and the work of a plain run.
  bool has_figures() const { return !is_open() && state_ != state::small; }
  /// Whether a plain run is less work, but updates of other change signatures need the saved values.
  bool is_needed() const { return state_ == state::saved_values_needed; }
  std::uint64_t work() const { return mean_; }
  std::uint64_t plain_work() const { return plain_; }

private:
  // `update` and `saved_values_needed` both run the update program: since it is less work, or since other updates need what it saves.
  enum class state : std::uint8_t { open, small, update, saved_values_needed, plain };

  // The work of the updates of a window if they are run plainly, and of recomputing saved values when other updates needed them.
  std::uint64_t with_breaks() const { return plain_ * window + whole_ * breaks_; }
  void begin_window() { uses_ = breaks_ = 0; }
  void open_again() {
    state_ = state::open;
    begin_window();
    counted_ = 0;
    work_ = 0;
  }

  change_signature changes_;
  std::uint64_t code_;
  state state_ = state::open;
  std::uint32_t uses_ = 0, counted_ = 0, breaks_ = 0;
  std::uint32_t retry_interval_ = first_retry_interval, until_retry_ = first_retry_interval;
  std::uint32_t saved_ = 0; // the number of saved values
  std::uint64_t work_ = 0, mean_ = 0, plain_ = 0, whole_ = 0, size_ = 0;
};

} // namespace overdub::increments
