// count: the number of calls of a program. Here: the cost of the binomial recursion, against the closed product.
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

#include <cstdio>

namespace od = overdub;
namespace contexts = overdub::contexts;
using od::i64;

// A recursive function takes the scope, and declares its result type.
inline constexpr auto recursive = od::fn<"recursive">([](od::scope auto& cx, auto n, auto k) -> decltype(n) {
  return od::if_(
      k == 0 || k == n, [&] { return cx.lift(i64{1}); },
      [&] {
        auto const with = cx.self(n - 1, k - 1);
        auto const without = cx.self(n - 1, k);
        return with + without;
      });
});

inline constexpr auto product = od::fn<"product">([](od::scope auto& cx, auto n, auto k) {
  return od::loop(k, cx.lift(i64{1}), [&](auto i, auto result) { return result * (n - i) / (i + 1); });
});

int main() {
  contexts::count slow, fast;
  i64 const a = od::run(slow, recursive, i64{16}, i64{8});
  i64 const b = od::run(fast, product, i64{16}, i64{8});
  std::printf("16 choose 8       result  functions  primitives\n");
  std::printf(
      "by recursion      %6lld  %9ld  %10ld\n", static_cast<long long>(a), slow.functions, slow.primitives);
  std::printf(
      "by the product    %6lld  %9ld  %10ld\n", static_cast<long long>(b), fast.functions, fast.primitives);

  // Counts chosen callees only: a function, and a primitive by its type.
  contexts::count_of<decltype(recursive), od::add_t> chosen;
  od::run(chosen, recursive, i64{16}, i64{8});
  std::printf(
      "the recursion calls itself %ld times, and adds %ld times\n", chosen(recursive), chosen(od::add));

  // Counts all callees, and the edges from callers to callees.
  contexts::count_each each;
  od::run(each, recursive, i64{16}, i64{8});
  for (auto const& [edge, calls] : each.edges())
    if (calls > 12000) std::printf("%s calls %s %ld times\n", edge.first.data(), edge.second.data(), calls);

  bool const right = a == 12870 && b == a && slow.functions == 2 * 12870 - 1 && fast.functions == 1 &&
                     chosen(recursive) == slow.functions &&
                     each.calls("recursive", "recursive") == slow.functions - 1 &&
                     chosen(od::add) == 12870 - 1;
  return right ? 0 : 1;
}
