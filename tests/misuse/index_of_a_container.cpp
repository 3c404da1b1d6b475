// A value is the index of a container of the standard library.
// expect first: overdub: a value of a context is used as a plain index or size, which contexts do not see
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

#include <cstddef>
#include <vector>

constexpr auto pick = overdub::fn<"pick">([](auto const& v, auto i) {
#ifdef OVERDUB_MENDED
  return v[static_cast<std::size_t>(i)];
#else
  return v[i];
#endif
});

double run(std::vector<double> const& v, int i) {
  overdub::contexts::count count;
  return overdub::run(count, pick, v, i);
}
