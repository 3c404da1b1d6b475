// Which way updates of one kind take: by their update program, or by a plain run of the function. The choice counts work, and never time:
// sums that differences are added to have other last bits than those of a run, so values would depend on clocks.
#pragma once

#include <overdub/contexts/incremental/slice.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace overdub::contexts::increments {

/// Updates of one change signature, of one incremental program. The first 16 are done by the update program, whose work is counted in
/// some of them. A plain run keeps nothing but results, so the next update of another kind computes what is kept anew.
class update_kind {
public:
  static constexpr std::uint32_t window = 16, first_counted = 4;
  /// A program of less work, about a microsecond of machine code, is not counted any further.
  static constexpr std::uint64_t least_work = 4000;
  /// Updates that are run plainly before the update program is tried again; each time, twice as many.
  static constexpr std::uint32_t first_patience = 1000, most_patience = 1u << 20;

  update_kind(schema changes, std::uint64_t signature)
      : changes_(std::move(changes)), signature_(signature) {}

  bool is_of(std::uint64_t signature) const { return signature_ == signature; }
  schema const& changes() const { return changes_; }

  bool is_plain() const { return state_ == state::plain; }
  /// Whether the kind is done with: its updates need not be told.
  bool is_settled() const { return state_ == state::small || state_ == state::slices; }
  /// Whether the choice is still open.
  bool is_open() const { return state_ == state::open; }
  /// Whether the work of the update that is next is to be counted: from the fourth to the sixteenth.
  bool counts_next() const { return is_open() && uses_ + 1 >= first_counted; }
  /// Whether that of a plain run is to be known first.
  bool asks_for_plain() const { return is_open() && uses_ + 1 == first_counted; }
  void set_plain_work(std::uint64_t work, std::uint64_t size, std::uint64_t least) {
    plain_ = work;
    size_ = size;
    if (work < least) state_ = state::small;
  }
  /// An update was proposed by its update program, with so much work, if that was counted. Whether the choice is to be made now.
  bool proposed(bool was_counted, std::uint64_t work) {
    if (state_ == state::needed && --until_tried_ == 0) open_again();
    if (!is_open()) return false;
    ++uses_;
    if (was_counted) {
      work_ += work;
      ++counted_;
    }
    return uses_ >= window;
  }
  /// Makes the choice: a plain run costs this, and one that computes all that is kept, that.
  void choose(std::uint64_t plain, std::uint64_t whole) {
    plain_ = plain;
    whole_ = whole;
    mean_ = work_ / std::max<std::uint32_t>(counted_, 1);
    auto const is_less = [&](std::uint64_t others) { return others * 21 < mean_ * window * 20; };
    state_ = plain_ == 0 || !is_less(plain_ * window) ? state::slices // 0, where it cannot be counted
             : is_less(with_breaks())                 ? state::plain
                                                      : state::needed;
    begin_window();
    until_tried_ = patience_;
    patience_ = std::min(patience_ * 2, most_patience);
  }
  /// An update ran plainly. The update program is tried again after a while, and taken where updates of other kinds need what is kept so
  /// often that a plain run does not pay.
  void ran_plainly() {
    if (--until_tried_ == 0) return open_again();
    if (++uses_ < window) return;
    if (with_breaks() > mean_ * window) state_ = state::needed;
    begin_window();
  }
  /// What it committed was needed by an update of another kind.
  void was_needed() { ++breaks_; }
  /// Inputs have so many elements, and so many variables are kept. Where inputs have twice as many or half as many as when the choice was
  /// made, or more is kept, it is open again.
  void has_size(std::uint64_t size, std::uint32_t kept) {
    if (!is_open() && (size > 2 * size_ + 16 || size * 2 + 16 < size_ || kept != kept_)) open_again();
    kept_ = kept;
  }

  /// What was counted: the work of an update by its program, in the mean, and of a plain run. None, as long as the choice is open, and for
  /// small programs.
  bool has_figures() const { return !is_open() && state_ != state::small; }
  /// Whether a plain run would be less work, but for other kinds of updates.
  bool is_needed() const { return state_ == state::needed; }
  std::uint64_t work() const { return mean_; }
  std::uint64_t plain_work() const { return plain_; }

private:
  // By the update program: since it is less work, or since others need what it keeps.
  enum class state : std::uint8_t { open, small, slices, needed, plain };

  // The work of a window's updates that are run plainly, and of computing what is kept when it was needed.
  std::uint64_t with_breaks() const { return plain_ * window + whole_ * breaks_; }
  void begin_window() { uses_ = breaks_ = 0; }
  void open_again() {
    state_ = state::open;
    begin_window();
    counted_ = 0;
    work_ = 0;
  }

  schema changes_;
  std::uint64_t signature_;
  state state_ = state::open;
  std::uint32_t uses_ = 0, counted_ = 0, breaks_ = 0;
  std::uint32_t patience_ = first_patience, until_tried_ = first_patience;
  std::uint32_t kept_ = 0; // variables
  std::uint64_t work_ = 0, mean_ = 0, plain_ = 0, whole_ = 0, size_ = 0;
};

} // namespace overdub::contexts::increments
