// The turns in which an index has a value: what a change of an element reaches, where a map reads an array at an index that it
// reads, or computes.
#pragma once

#include <overdub/call/error.hpp>

#include <cstdint>
#include <new>
#include <span>
#include <tsl/robin_map.h>
#include <utility>
#include <vector>

namespace overdub::contexts::increments {

/// The places of each number in an array of integers. It is built when it is first asked, and follows the array by a journal of
/// places that were written: what was written since the last question is looked at when the next one comes, and so is what came
/// behind the array's end. O(1) for each such place; O(length) where it is built, and where the journal got long.
class inverse_index {
public:
  /// The array's element at this place may be another one now.
  void written(std::int64_t place) noexcept {
    ++writes_;
    if (!is_built_) return;
    if (journal_.size() * 4 > key_of_.size() + 64) return forget();
    try {
      journal_.push_back(place);
    } catch (std::bad_alloc const&) { // it is built anew
      forget();
    }
  }
  /// All of them may.
  void forget() noexcept {
    ++writes_;
    is_built_ = false;
    journal_.clear();
  }

  /// The places where the array holds a number, in no particular order: valid until the next question. The array is the one whose
  /// writes were told.
  std::span<std::int64_t const> places(std::int64_t number, std::span<std::int64_t const> array) {
    bool const was_built =
        std::exchange(is_built_, false) && key_of_.size() <= array.size(); // where memory is gone, it is not
    if (!was_built) build(array);
    for (std::size_t i = key_of_.size(); i < array.size(); ++i) {
      key_of_.push_back(array[i]);
      position_.push_back(0);
      add(static_cast<std::int64_t>(i), array[i]);
    }
    for (std::int64_t const place : journal_) move(place, array[static_cast<std::size_t>(place)]);
    journal_.clear();
    is_built_ = true;
    places_of_number const* const all = find(number);
    return all == nullptr ? std::span<std::int64_t const>() : std::span<std::int64_t const>(*all);
  }
  bool is_built() const { return is_built_; }
  /// Another number where the array may be another one, but for what came behind its end.
  std::uint64_t writes() const { return writes_; }

private:
  using places_of_number = std::vector<std::int64_t>;

  places_of_number const* find(std::int64_t number) const {
    if (number >= 0 && static_cast<std::uint64_t>(number) < small_.size())
      return &small_[static_cast<std::size_t>(number)];
    auto const at = others_.find(number);
    return at == others_.end() ? nullptr : &at->second;
  }
  places_of_number& list(std::int64_t number) {
    if (number >= 0 && static_cast<std::uint64_t>(number) < small_.size())
      return small_[static_cast<std::size_t>(number)];
    return others_[number];
  }
  void build(std::span<std::int64_t const> array) {
    std::size_t const n = array.size();
    key_of_.assign(array.begin(), array.end());
    position_.resize(n);
    journal_.clear();
    others_.clear();
    for (auto& each : small_) each.clear();
    // Numbers that are indices of something not much longer than the array; others are hashed.
    std::int64_t most = -1;
    for (std::int64_t const k : array)
      if (k > most && static_cast<std::uint64_t>(k) <= 2 * n + 16) most = k;
    if (static_cast<std::size_t>(most + 1) > small_.size()) small_.resize(static_cast<std::size_t>(most + 1));
    for (std::size_t i = 0; i < n; ++i) add(static_cast<std::int64_t>(i), array[i]);
  }
  void add(std::int64_t place, std::int64_t number) {
    auto& to = list(number);
    position_[static_cast<std::size_t>(place)] = to.size();
    to.push_back(place);
  }
  void move(std::int64_t place, std::int64_t number) {
    auto const p = static_cast<std::size_t>(place);
    if (key_of_[p] == number) return;
    auto& from = list(key_of_[p]);
    std::int64_t const last = from.back();
    from[position_[p]] = last;
    position_[static_cast<std::size_t>(last)] = position_[p];
    from.pop_back();
    key_of_[p] = number;
    add(place, number);
  }

  bool is_built_ = false;
  std::uint64_t writes_ = 0;
  std::vector<std::int64_t> key_of_;    // by place: the number that it is listed under
  std::vector<std::size_t> position_;   // by place: where in that list
  std::vector<places_of_number> small_; // by number
  tsl::robin_map<std::int64_t, places_of_number> others_;
  std::vector<std::int64_t> journal_;
};

} // namespace overdub::contexts::increments
