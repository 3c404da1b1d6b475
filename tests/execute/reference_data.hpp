// Conversion between values of the reference and data.
#pragma once

#include "pass/reference.hpp"

#include <overdub/execute/datum.hpp>
#include <overdub/execute/values.hpp>

#include <cstddef>
#include <vector>

namespace reference_data {

inline overdub::datum datum_of(reference::value const& v) {
  using namespace overdub;
  if (v.rank == 0) return datum::of_bits({.element = v.element}, v.bits);
  datum::extents shape;
  for (std::size_t const extent : reference::shape(v)) shape.push_back(static_cast<i64>(extent));
  return execute::with_type(v.element, [&]<class T>(T) {
    std::vector<T> all;
    auto const gather = [&all](auto const& self, reference::value const& part) -> void {
      if (part.rank == 0) all.push_back(reference::number<T>(part));
      for (auto const& row : part.rows) self(self, row);
    };
    gather(gather, v);
    detail::array_builder<T> out(static_cast<i64>(all.size()));
    for (std::size_t i = 0; i < all.size(); ++i) out.put(static_cast<i64>(i), all[i]);
    return datum::of(shape, out.finish(static_cast<i64>(all.size())));
  });
}

inline reference::value value_of(overdub::datum const& d) {
  using namespace overdub;
  return execute::with_type(d.type().element, [&]<class T>(T) {
    if (d.type().rank == 0) return reference::of_number(d.as<T>());
    i64 at = 0;
    auto const part = [&](auto const& self, std::size_t axis) -> reference::value {
      if (axis == d.shape().size()) return reference::of_number(d.elements<T>().data()[at++]);
      reference::value v{d.type().element, static_cast<int>(d.shape().size() - axis), 0, {}, {}};
      for (i64 i = 0; i < d.shape()[axis]; ++i) v.rows.push_back(self(self, axis + 1));
      return v;
    };
    return part(part, 0);
  });
}

} // namespace reference_data
