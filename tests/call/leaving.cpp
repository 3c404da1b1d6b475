// The result of a run has no contexts, in whatever container it is: a value that outlives its run would call hooks of a destroyed context.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/overdub.hpp>

#include <complex>
#include <concepts>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace od = overdub;

namespace {

// Counts in memory that it owns, so that the address sanitizer detects a hook that is called after its destruction.
struct counter : od::context {
  std::vector<int> calls = std::vector<int>(1);
  void before(od::callee auto, auto const&...) { ++calls[0]; }
};

template <class F>
auto run(F const& f) {
  return od::run(counter{}, f, 3.0);
}

} // namespace

TEST_CASE("values in optionals, variants and pointers are converted to numbers when they leave their run") {
  auto const some = run([](auto x) { return std::optional(x * x); });
  static_assert(std::same_as<decltype(some), std::optional<double> const>);
  CHECK((some.has_value() && *some == 9.0));
  CHECK_FALSE(run([](auto x) { return std::optional<decltype(x)>(); }).has_value());

  using either = std::variant<double, std::string>;
  auto const number = run([](auto x) { return std::variant<decltype(x), std::string>(x); });
  static_assert(std::same_as<decltype(number), either const>);
  CHECK(std::get<0>(number) == 3.0);
  CHECK(std::get<1>(run([](auto x) { return std::variant<decltype(x), std::string>("text"); })) == "text");

  auto const owned = run([](auto x) { return std::make_unique<decltype(x)>(x + 1.0); });
  static_assert(std::same_as<decltype(owned), std::unique_ptr<double> const>);
  CHECK(*owned == 4.0);
  CHECK(run([](auto x) { return std::unique_ptr<decltype(x)>(); }) == nullptr);
}

TEST_CASE("values in sequences, maps and nested containers are converted, too") {
  CHECK(run([](auto x) { return std::list<decltype(x)>{x, x * 2.0}; }) == std::list<double>{3.0, 6.0});
  CHECK(run([](auto x) { return std::deque<decltype(x)>{x}; }) == std::deque<double>{3.0});
  CHECK(run([](auto x) {
          return std::map<std::string, decltype(x)>{{"a", x}};
        }) == std::map<std::string, double>{{"a", 3.0}});
  CHECK(run([](auto x) {
          return std::unordered_map<int, decltype(x)>{{1, x}};
        }) == std::unordered_map<int, double>{{1, 3.0}});
  auto const nested = run([](auto x) {
    return std::tuple(
        x, std::vector{std::optional(x), std::optional<decltype(x)>()},
        std::map<int, std::list<decltype(x)>>{{2, {x}}});
  });
  static_assert(
      std::same_as<
          decltype(nested),
          std::tuple<double, std::vector<std::optional<double>>, std::map<int, std::list<double>>> const>);
  CHECK(std::get<1>(nested)[0] == 3.0);
  CHECK(std::get<2>(nested).at(2).front() == 3.0);
}

// A substitute for std::expected, which C++20 does not have.
template <class E>
struct unexpected {
  E error;
};
template <class T, class E>
class expected {
public:
  using unexpected_type = unexpected<E>;
  expected(T x) : held_(std::in_place_index<0>, std::move(x)) {}
  expected(unexpected_type x) : held_(std::in_place_index<1>, std::move(x.error)) {}
  bool has_value() const { return held_.index() == 0; }
  T const& operator*() const& { return std::get<0>(held_); }
  T&& operator*() && { return std::get<0>(std::move(held_)); }
  E& error() { return std::get<1>(held_); }

private:
  std::variant<T, E> held_;
};

TEST_CASE("values and errors in types like std::expected are converted, and so are complex numbers") {
  auto good = run([](auto x) { return expected<decltype(x), std::string>(x); });
  static_assert(std::same_as<decltype(good), expected<double, std::string>>);
  CHECK((good.has_value() && *good == 3.0));
  CHECK(run([](auto x) {
          return expected<decltype(x), std::string>(unexpected<std::string>{"no"});
        }).error() == "no");
  auto bad = run([](auto x) { return expected<int, decltype(x)>(unexpected<decltype(x)>{x}); });
  static_assert(std::same_as<decltype(bad), expected<int, double>>);
  CHECK(bad.error() == 3.0);

  auto const c = run([](auto x) { return std::complex(x, x + 1.0); });
  static_assert(std::same_as<decltype(c), std::complex<double> const>);
  CHECK(c == std::complex(3.0, 4.0));
}

using value = od::value<double, counter>;
template <class X>
constexpr bool holds = od::detail::holds_values<od::stack<>, X>;
template <class T, int Rows, int Columns>
struct matrix {
  T elements[Rows * Columns];
};
struct closure {
  double captured;
  value operator()() const;
};
struct taker {
  double captured;
  void operator()(int, value const&) noexcept;
};
struct plain_closure {
  double captured;
  double operator()(double) const;
};
struct without_members {
  value operator()(value) const;
};

TEST_CASE("a type contains values if its template arguments, size or signature show it") {
  static_assert(holds<std::shared_ptr<value>> && holds<std::reference_wrapper<value const>>);
  static_assert(holds<std::unique_ptr<value[]>> && holds<std::set<value>> && holds<value const*>);
  static_assert(holds<std::span<value>> && holds<std::span<value const, 3>> && holds<matrix<value, 2, 2>>);
  static_assert(holds<std::function<value()>> && holds<std::function<double(value const&)>>);
  static_assert(holds<closure> && holds<taker> && holds<std::optional<closure>>);
  static_assert(!holds<plain_closure> && !holds<without_members> && !holds<value (*)(value)>);
  static_assert(!holds<std::span<double>> && !holds<matrix<double, 2, 2>> && !holds<std::function<double()>>);
}

// Templates of types and values, in all orders.
template <class, unsigned>
struct small {};
template <class, std::size_t, class = int>
struct static_vector {};
template <auto, class>
struct sized {};
template <auto, class, auto>
struct placed {};
template <class, class, auto>
struct keyed {};
template <class, bool, class...>
struct several {};
template <class, char, class, int...>
struct two_runs {};
template <std::size_t, bool, class...>
struct behind_two {};
template <class, class, class, class, int, unsigned, bool>
struct behind_four {};
template <class, int, class, int, class>
struct in_turn {};

TEST_CASE("values are found among the type and non-type arguments of a template, in any order") {
  static_assert(
      holds<small<value, 2>> && holds<static_vector<value, 4>> && holds<static_vector<int, 4, value>>);
  static_assert(holds<sized<3, value>> && holds<placed<true, value const, 'a'>>);
  static_assert(holds<keyed<value, int, 1>> && holds<keyed<int, value, 1>>);
  static_assert(holds<several<int, true, int, value>> && holds<several<value, true>>);
  static_assert(holds<two_runs<int, 'a', value, 1, 2>> && holds<two_runs<value, 'a', int>>);
  static_assert(
      holds<behind_two<1, true, int, value>> && holds<behind_four<int, int, int, value, 1, 2, true>>);
  static_assert(holds<in_turn<int, 1, int, 2, value>> && holds<in_turn<int, 1, value, 2, int>>);
  static_assert(holds<std::vector<small<keyed<int, value*, 1>, 2>>> && holds<small<std::vector<value>, 2>>);
  static_assert(!holds<small<double, 2>> && !holds<static_vector<double, 4>> && !holds<sized<3, double>>);
  static_assert(
      !holds<several<int, true, double>> && !holds<behind_two<1, true>> &&
      !holds<in_turn<int, 1, int, 2, int>>);
  static_assert(!holds<std::integral_constant<int, 3>> && !holds<std::index_sequence<1, 2>>);
}

TEST_CASE("closures of plain numbers, and functions, are returned as they are") {
  auto const times = run([](auto x) { return [k = od::concrete(x)](double y) { return k * y; }; });
  CHECK(times(2.0) == 6.0);
  CHECK(run([](auto) { return std::function([k = 2.0] { return k; }); })() == 2.0);
  CHECK(run([](auto x) { return +[](decltype(x) y) { return y; }; }) != nullptr);
}

TEST_CASE("in a context with metadata, values in containers leave the run with their metadata") {
  auto const squared = od::run(
      od::contexts::forward{}, [](auto x) { return std::optional(x * x); }, od::tag(3.0, 1.0));
  CHECK((squared->inner == 9.0 && squared->metadata == 6.0));
}

TEST_CASE("a container of values of an outer run alone is unchanged") {
  counter outer;
  auto const f = od::fn<"f">([](auto x) {
    auto const inner = od::run(
        counter{}, [](auto y) { return std::optional(y * 2.0); }, x);
    static_assert(od::in_context<std::remove_cvref_t<decltype(*inner)>>);
    return *inner + 1.0;
  });
  CHECK(od::run(outer, f, 3.0) == 7.0);
}

TEST_CASE("containers without values are returned as they are") {
  auto const words = run([](auto) { return std::map<std::string, std::list<int>>{{"a", {1, 2}}}; });
  CHECK(words.at("a").size() == 2);
}
