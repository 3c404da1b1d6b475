#include <overdub/implementation/execute/array_words.hpp>

#include <charconv>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace overdub::execute {

void throw_no_memory(std::string_view op, i64 const* extents, offset rank, std::size_t size) {
  char shape[ir::max_rank * 24]; // without allocation
  char *end = shape, *const last = shape + sizeof shape;
  std::size_t bytes = size;
  for (offset k = 0; k < rank; ++k) {
    if (k > 0) end = static_cast<char*>(std::memcpy(end, " x ", 3)) + 3;
    end = std::to_chars(end, last, extents[k]).ptr;
    bytes *= static_cast<std::size_t>(extents[k]);
  }
  throw out_of_memory(message(
      "overdub: %.*s: there is no memory for an array of %.*s elements of %zu bytes (%zu bytes); make it "
      "smaller, or make several",
      static_cast<int>(op.size()), op.data(), static_cast<int>(end - shape), shape, size, bytes));
}

} // namespace overdub::execute
