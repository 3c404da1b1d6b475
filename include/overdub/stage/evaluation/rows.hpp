// Arrays of programs are rectangular: evaluation throws size_error at the first row of another size. In symbolic contexts, sizes are not known.
#pragma once

#include <overdub/stage/evaluation/frame.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <vector>

namespace overdub::detail {

// The sizes of the rows that each output of a loop or map yields. Checks the values from `first` on.
using row_sizes = std::vector<i64>;
template <class S>
void check_rows(
    std::string_view op, row_sizes& sizes, std::vector<cell<S>> const& yielded, std::size_t first) {
  if constexpr (!is_symbolic<S>) {
    bool const is_first = sizes.empty();
    sizes.resize(yielded.size());
    for (std::size_t k = first; k < yielded.size(); ++k)
      detail::opened(yielded[k], [&]<class T>(auto const& x, std::type_identity<T>) {
        if constexpr (is_array<T>) {
          i64 const size = concrete(x).size();
          if (is_first) sizes[k] = size;
          if (size != sizes[k]) throw_sizes(op, sizes[k], size);
        }
      });
  }
}
// Checks the rows of one array.
template <class S>
void check_rows(cell<S> const& a) {
  if constexpr (!is_symbolic<S>)
    detail::opened(a, []<class T>(auto const& x, std::type_identity<T>) {
      if constexpr (is_array<T>)
        if constexpr (is_array<typename T::value_type>) {
          T const& rows = concrete(x);
          for (i64 i = 1; i < rows.size(); ++i)
            if (rows[i].size() != rows[0].size()) throw_sizes("map", rows[0].size(), rows[i].size());
        }
    });
}

} // namespace overdub::detail
