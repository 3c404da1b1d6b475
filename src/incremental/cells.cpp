#include <overdub/execute/code.hpp>
#include <overdub/execute/values.hpp>
#include <overdub/incremental/cells.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace overdub::increments {

cells::cells(ir::type t) : type_(t), size_of_(execute::size_of(t.element)), extents_(t.rank) {}
cells::cells(cells const& other) = default;
cells::cells(cells&& other) noexcept = default;
cells& cells::operator=(cells const& other) = default;
cells& cells::operator=(cells&& other) noexcept = default;
cells::~cells() = default;

bool cells::assign(std::byte const* elements, i64 const* extents) {
  bool const is_unmoved = reshape(extents);
  if (elements == nullptr)
    std::fill(words_.begin(), words_.end(), 0);
  else if (bytes() > 0)
    std::memcpy(data(), elements, bytes());
  return is_unmoved;
}
bool cells::assign(datum const& d) {
  bool const is_unmoved = reshape(d.shape().data());
  execute::with_type(type_.element, [&]<class T>(T) {
    auto const& from = d.elements<T>();
    if (!from.empty()) std::memcpy(data(), from.data(), bytes());
  });
  return is_unmoved;
}
datum cells::as_datum() const {
  return execute::with_type(type_.element, [&]<class T>(T) {
    auto const* const first = reinterpret_cast<T const*>(data());
    return datum::of(
        {extents_.begin(), extents_.end()}, array<T>::copy_of({first, static_cast<std::size_t>(scalars())}));
  });
}

bool cells::grow(std::size_t words) {
  std::byte const* const before = data();
  words_.resize(std::max(words, words_.size() * 2));
  return data() == before;
}
void cells::reserve(cells const& other) { words_.reserve(other.words_.size()); }
void cells::set_row(i64 const* extents) { std::copy_n(extents, type_.rank - 1, extents_.begin() + 1); }

bool cells::reshape(i64 const* extents) {
  std::byte const* const before = data();
  std::size_t bytes = size_of_;
  for (std::size_t k = 0; k < type_.rank; ++k) bytes *= static_cast<std::size_t>(extents[k]);
  std::size_t const words = (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
  if (words > words_.size()) words_.resize(words); // may throw; the extents are unchanged then
  bool const is_unmoved = std::equal(extents, extents + type_.rank, extents_.begin());
  std::copy_n(extents, type_.rank, extents_.begin());
  return is_unmoved && data() == before;
}

} // namespace overdub::increments
