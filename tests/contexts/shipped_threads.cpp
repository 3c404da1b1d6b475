// Contexts in the threads of parallel_map: afterwards, they equal those after a map on one thread.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/fault.hpp>
#include <overdub/contexts/mock.hpp>
#include <overdub/contexts/precision.hpp>
#include <overdub/contexts/profile.hpp>
#include <overdub/contexts/retry.hpp>
#include <overdub/contexts/slice.hpp>
#include <overdub/control/parallel.hpp>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
namespace contexts = overdub::contexts;

std::vector<double> observed;
inline constexpr auto say = od::leaf<"say">([](double x) { observed.push_back(x); });
inline constexpr auto said = od::fn<"said">([](auto x) {
  say(x);
  say(-x);
  return x * 2.0;
});
template <int Threads>
constexpr auto on = od::fn<"on">([](auto xs) { return od::sum(od::parallel_map.on(Threads)(said, xs)); });
od::array<double> const numbers{1, 2, 3, 4, 5, 6, 7};

inline constexpr auto lossy = od::fn<"lossy">([](auto x) {
  auto const y = x + 1e9;
  return y - 1e9;
});
template <int Threads>
constexpr auto lossy_on = od::fn<"on">([](auto xs) {
  return od::sum(od::parallel_map.on(Threads)(lossy, xs));
});

} // namespace

TEST_CASE("slice replays the effects of several threads in the order of the elements") {
  (void)on<1>(numbers);
  auto const expected = std::exchange(observed, {});
  od::contexts::deferred_effects later;
  CHECK(od::run(od::contexts::slice(later), on<3>, numbers) == 56.0);
  CHECK(observed.empty());
  later.replay();
  CHECK(std::exchange(observed, {}) == expected);
}

TEST_CASE("precision reports the same losses on several threads as on one") {
  od::contexts::precision one, three;
  CHECK(od::run(one, lossy_on<1>, numbers) == od::run(three, lossy_on<3>, numbers));
  auto const a = one.losses(), b = three.losses();
  REQUIRE(a.size() == b.size());
  CHECK(a.size() == 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK((a[i].function == b[i].function && a[i].operation == b[i].operation));
    CHECK((a[i].calls == b[i].calls && a[i].losses == b[i].losses && a[i].worst == b[i].worst));
  }
}

TEST_CASE("profile has the same paths on several threads as on one") {
  auto const calls = [](auto const& on) {
    od::contexts::profile p;
    (void)od::run(p, on, numbers);
    std::string all;
    for (auto const& r : p.paths()) {
      for (auto const& name : r.path) all += std::string(name) + ' ';
      all += std::to_string(r.calls) + '\n';
    }
    for (auto const& r : p.functions()) CHECK(r.total >= r.self);
    return all;
  };
  CHECK(calls(lossy_on<3>) == calls(lossy_on<1>));
  CHECK(calls(lossy_on<1>) == "on 1\non lossy 7\n");
}

TEST_CASE("count_each has the same edges on several threads as on one") {
  od::contexts::count_each one, three;
  CHECK(od::run(one, lossy_on<1>, numbers) == od::run(three, lossy_on<3>, numbers));
  CHECK((one.edges() == three.edges() && one.callees() == three.callees()));
  CHECK(three.calls("on", "lossy") == 7);
}

TEST_CASE("fault makes parallel_map sequential: the same call fails for any number of threads") {
  contexts::fault<decltype(lossy)> one(contexts::nth_call(5)), three(contexts::nth_call(5));
  CHECK_THROWS_AS(od::run(one, lossy_on<1>, numbers), contexts::injected_fault);
  CHECK_THROWS_AS(od::run(three, lossy_on<3>, numbers), contexts::injected_fault);
  CHECK((one.calls == 5 && three.calls == 5));
}

TEST_CASE("mock and retry apply in all threads") {
  auto m = contexts::mock(lossy, [](auto x) { return x * 2.0; });
  CHECK(od::run(m, lossy_on<3>, numbers) == 56.0);
  static std::atomic<int> failures;
  failures = 6;
  constexpr auto moody = od::leaf<"moody">([](double x) {
    if (failures-- > 0) throw std::runtime_error("moody");
    return x;
  });
  constexpr auto on_threads = od::fn<"on_threads">(
      [=](auto xs) { return od::sum(od::parallel_map.on(3)([=](auto x) { return moody(x) + 1.0; }, xs)); });
  auto again = contexts::retry(contexts::times<7>, moody);
  CHECK(od::run(again, on_threads, numbers) == 35.0);
  CHECK(failures < 0);
}
