#include <overdub/incremental/change_list.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

namespace overdub::increments {

change_list::change_list(ir::type t) : rows_(t), sorted_(t) {}
change_list::change_list(change_list const& other) = default;
change_list::change_list(change_list&& other) noexcept = default;
change_list& change_list::operator=(change_list const& other) = default;
change_list& change_list::operator=(change_list&& other) noexcept = default;
change_list::~change_list() = default;

void change_list::begin(cells const& of) {
  clear();
  positions_.resize(static_cast<std::size_t>(of.extent(0)), none);
  rows_.extend(-rows_.extent(0));
  rows_.set_row(of.extents() + 1);
}

std::byte* change_list::at(i64 index, cells const& of) {
  i64& position = positions_[static_cast<std::size_t>(index)];
  std::size_t const bytes = of.bytes_of_row();
  if (position == none) {
    std::size_t const last = size();
    rows_.reserve_rows(1);
    indices_.push_back(index);
    if (bytes > 0)
      std::memcpy(rows_.data() + last * bytes, of.data() + static_cast<std::size_t>(index) * bytes, bytes);
    rows_.extend(1);
    is_sorted_ = is_sorted_ && (last == 0 || indices_[last - 1] < index);
    position = static_cast<i64>(last);
  }
  return rows_.data() + static_cast<std::size_t>(position) * bytes;
}

void change_list::sort() {
  if (is_sorted_) return;
  std::size_t const words = positions_.size() / 64 + 1;
  marks_.resize(words);
  sorted_.assign(rows_.data(), rows_.extents());
  if (size() * 16 < words)
    std::sort(indices_.begin(), indices_.end());
  else
    sort_by_marks();
  std::size_t const bytes = rows_.bytes_of_row();
  for (std::size_t k = 0; k < size(); ++k) {
    i64& position = positions_[static_cast<std::size_t>(indices_[k])];
    std::byte const* const from = rows_.data() + static_cast<std::size_t>(position) * bytes;
    if (bytes == sizeof(std::uint64_t))
      std::memcpy(sorted_.data() + k * sizeof(std::uint64_t), from, sizeof(std::uint64_t));
    else if (bytes > 0)
      std::memcpy(sorted_.data() + k * bytes, from, bytes);
    position = static_cast<i64>(k);
  }
  std::swap(rows_, sorted_);
  is_sorted_ = true;
}

void change_list::clear() {
  for (i64 const index : indices_) positions_[static_cast<std::size_t>(index)] = none;
  indices_.clear();
  is_sorted_ = true;
}

// Sorts by a bit set of indices.
void change_list::sort_by_marks() {
  for (i64 const index : indices_)
    marks_[static_cast<std::size_t>(index) / 64] |= std::uint64_t{1}
                                                    << (static_cast<std::size_t>(index) % 64);
  std::size_t k = 0;
  for (std::size_t word = 0; k < size(); ++word)
    for (std::uint64_t& bits = marks_[word]; bits != 0; bits &= bits - 1)
      indices_[k++] = static_cast<i64>(word * 64) + std::countr_zero(bits);
}

} // namespace overdub::increments
