// The type of a unique pointer to an array does not determine the number of values.
// expect: overdub: what this run returns holds values of its context in a type that overdub does not look into
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

#include <memory>
#include <vector>

void run() {
  overdub::contexts::count counted;
#ifdef OVERDUB_MENDED
  (void)overdub::run(
      counted, [](auto const& x) { return std::vector<std::remove_cvref_t<decltype(x)>>(2, x); }, 2.0);
#else
  (void)overdub::run(
      counted,
      [](auto const& x) {
        using number = std::remove_cvref_t<decltype(x)>;
        return std::unique_ptr<number[]>(new number[1]{x});
      },
      2.0);
#endif
}
