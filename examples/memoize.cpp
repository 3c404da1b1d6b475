// memoize: a function is not run again for the same arguments. Here: the partitions of a number, by a
// recursion that would take hours.
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/memoize.hpp>
#include <overdub/overdub.hpp>

#include <cstdio>

namespace od = overdub;
namespace contexts = overdub::contexts;
using od::i64;

// The number of sums of n with parts of at most `largest`.
inline constexpr auto partitions =
    od::fn<"partitions">([](od::scope auto& cx, auto n, auto largest) -> decltype(n) {
      auto const without = [&] { return cx.self(n, largest - 1); };
      auto const both = [&] { return cx.self(n - largest, largest) + without(); };
      return od::if_(
          n == 0 || largest == 1, [&] { return cx.lift(i64{1}); },
          [&] { return od::if_(n < largest, without, both); });
    });

int main() {
  contexts::count plain;
  i64 const small = od::run(plain, partitions, i64{40}, i64{40});
  std::printf("partitions(40)  = %9lld, in %ld calls\n", static_cast<long long>(small), plain.functions);

  contexts::memoize memo;
  i64 const again = od::run(memo, partitions, i64{40}, i64{40});
  std::printf(
      "partitions(40)  = %9lld, memoized in %zu entries and %zu hits\n", static_cast<long long>(again),
      memo.entries, memo.hits);

  i64 const large = od::run(memo, partitions, i64{100}, i64{100}); // reuses the stored results
  std::printf(
      "partitions(100) = %9lld, memoized in %zu entries and %zu hits\n", static_cast<long long>(large),
      memo.entries, memo.hits);
  return small == 37338 && again == small && large == 190569292 && memo.entries < 10000 ? 0 : 1;
}
