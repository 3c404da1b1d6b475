#include <overdub/execute/values.hpp>
#include <overdub/implementation/execute/array_words.hpp>

#include <utility>

namespace overdub::execute {

std::byte* make_host_array(
    machine& m, std::byte* frame, offset at, i64 const* extents, offset rank, std::size_t element_bytes) {
  return make_array(m, frame, at, extents, rank, element_bytes, "host");
}

void lend(std::byte* frame, offset at, datum const& d) {
  if (d.type().rank == 0) return put(frame, at, d.bits());
  with_type(d.type().element, [&]<class T>(T) {
    auto const& elements = d.elements<T>();
    put<void const*>(frame, at, elements.data());
    put<buffer*>(frame, at + word_size, nullptr);
  });
  for (std::size_t k = 0; k < d.shape().size(); ++k)
    put<i64>(frame, at + (2 + static_cast<offset>(k)) * word_size, d.shape()[k]);
}
void deliver_datum(machine& m, std::byte* frame, offset at, datum const& d) {
  if (d.type().rank == 0) return put(frame, at, d.bits());
  with_type(d.type().element, [&]<class T>(T) {
    auto* to = make_host_array(m, frame, at, d.shape().data(), d.type().rank, sizeof(T));
    flatten(d.elements<T>(), to);
  });
}
datum datum_at(std::byte const* frame, offset at, ir::type t) {
  return with_type(t.element, [&]<class T>(T) -> datum {
    if (t.rank == 0) return get<T>(frame, at);
    datum::extents shape(t.rank);
    i64 n = 1;
    for (offset k = 0; k < t.rank; ++k) n *= shape[k] = extent(frame, at, k);
    auto const* const first = reinterpret_cast<T const*>(get<std::byte const*>(frame, at));
    return datum::of(std::move(shape), array<T>::copy_of({first, static_cast<std::size_t>(n)}));
  });
}

} // namespace overdub::execute
