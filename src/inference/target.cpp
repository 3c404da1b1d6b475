#include <overdub/inference/target.hpp>

#include <cstddef>
#include <limits>

namespace overdub::inference {

void check_count(char const* setting, std::size_t count, std::size_t maximum) {
  if (count > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()))
    throw inference_error(message(
        "overdub: %s = %lld: it is a count, and not negative", setting, static_cast<long long>(count)));
  if (count > maximum)
    throw inference_error(message("overdub: %s = %zu: it is at most %zu", setting, count, maximum));
}

void check_threads(unsigned threads) {
  if (threads > static_cast<unsigned>(std::numeric_limits<int>::max()))
    throw inference_error(message(
        "overdub: threads = %d: it is a count, and not negative; 0 is as many as there are processors",
        static_cast<int>(threads)));
}

} // namespace overdub::inference
