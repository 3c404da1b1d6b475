// Plain structs described with Hana are one value in a context; other classes are opaque.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>

#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/define_struct.hpp>

#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>

namespace od = overdub;
using od::field;
using od::i64;
using od::make;
using overdub::contexts::count;
using overdub::contexts::forward;

namespace described {

struct body {
  double mass;
  float speed;
  i64 charge;
};
struct from_within {
  BOOST_HANA_DEFINE_STRUCT(from_within, (double, x), (double, y));
};
struct pair_of_bodies {
  body first, second;
};
struct matrix {
  int rows = 0;
  std::string title;
  std::unique_ptr<int> owned;
};

} // namespace described

BOOST_HANA_ADAPT_STRUCT(described::body, mass, speed, charge);
BOOST_HANA_ADAPT_STRUCT(described::pair_of_bodies, first, second);

namespace {
using namespace described;

constexpr auto energy = od::fn<"energy">([](auto b) {
  auto const v = od::convert<double>(field<&body::speed>(b));
  return field<&body::mass>(b) * v * v * 0.5;
});
constexpr auto heavier = od::fn<"heavier">([](auto b, auto by) {
  return make<body>(field<&body::mass>(b) * by, field<&body::speed>(b), field<&body::charge>(b) + 1);
});

} // namespace

TEST_CASE("field and make read and construct a plain described struct, with and without contexts") {
  body const b{2.0, 3.0f, 4};
  CHECK(energy(b) == 9.0);
  count c;
  CHECK(od::run(c, energy, b) == 9.0);
  auto const h = od::run(c, heavier, b, 10.0);
  STATIC_REQUIRE(std::is_same_v<decltype(h), body const>);
  CHECK((h.mass == 20.0 && h.speed == 3.0f && h.charge == 5));
  from_within const p{1.0, 2.0};
  auto const mirrored = od::run(
      c, od::fn<"mirror">([](auto q) {
        return make<from_within>(field<&from_within::y>(q), field<&from_within::x>(q));
      }),
      p);
  CHECK((mirrored.x == 2.0 && mirrored.y == 1.0));
}

TEST_CASE("each member of a plain struct has metadata of its own") {
  auto const b = od::tag(body{2.0, 3.0f, 4}, std::tuple(1.0, 10.0f, od::zero{}));
  auto const r = od::run(forward{}, energy, b);
  CHECK((r.inner == 9.0 && r.metadata == 0.5 * 9.0 + 2.0 * 3.0 * 10.0));
  auto const h = od::run(forward{}, heavier, b, od::tag(5.0, 100.0));
  CHECK((h.inner.mass == 10.0 && std::get<0>(h.metadata) == 5.0 + 200.0));
  CHECK((h.inner.speed == 3.0f && std::get<1>(h.metadata) == 10.0f));
  STATIC_REQUIRE(std::is_same_v<std::remove_cvref_t<decltype(std::get<2>(h.metadata))>, od::zero>);
}

TEST_CASE("a plain struct that is passed without tags has constant members") {
  auto const r = od::run(forward{}, heavier, body{2.0, 3.0f, 4}, od::tag(5.0, 1.0));
  CHECK((r.inner.mass == 10.0 && std::get<0>(r.metadata) == 2.0 && std::get<1>(r.metadata) == 0.0f));
}

TEST_CASE("in an array of plain structs, each member has an array of metadata") {
  auto const f = od::fn<"f">([](auto bodies) {
    auto const doubled = od::map([](auto b) { return heavier(b, 2.0); }, bodies);
    return std::tuple(od::sum(od::map(energy, doubled)), od::at(doubled, 1));
  });
  od::array<body> const bodies{{1.0, 1.0f, 0}, {2.0, 3.0f, 1}};
  auto const [plain, second] = f(bodies);
  CHECK((plain == 19.0 && second.mass == 4.0 && second.charge == 2));
  count c;
  CHECK(std::get<0>(od::run(c, f, bodies)) == 19.0);
  CHECK(c.functions == 5);
  auto const tagged =
      od::tag(bodies, std::tuple(od::array<double>{1, 0}, od::array<float>{0, 1}, od::zero{}));
  auto const [r, at_1] = od::run(forward{}, f, tagged);
  CHECK((r.inner == 19.0 && r.metadata == 1.0 + 4.0 * 3.0));
  CHECK((at_1.inner.mass == 4.0 && std::get<0>(at_1.metadata) == 0.0 && std::get<1>(at_1.metadata) == 1.0f));
}

TEST_CASE("plain structs work in nested contexts, loops and branches") {
  auto const f = od::fn<"f">([](auto b) {
    auto const grown = od::loop(3, b, [](auto, auto s) { return heavier(s, 2.0); });
    return od::if_(
        energy(grown) > 1.0, [&] { return field<&body::mass>(grown); }, [&] { return energy(b); });
  });
  count outer, inner;
  auto const b = od::tag(body{2.0, 3.0f, 4}, std::tuple(1.0, 0.0f, od::zero{}));
  CHECK(od::run(od::compose(outer, forward{}), f, b).metadata == 8.0);
  CHECK(od::run(od::compose(forward{}, inner), f, b).metadata == 8.0);
  auto const slope = od::fn<"slope">([f](auto m) {
    return od::run(
               forward{}, [f](auto x) { return f(make<body>(x, 3.0f, i64{4})) * x; }, od::tag(m, 1.0))
        .metadata;
  });
  auto const second = od::run(forward{}, slope, od::tag(2.0, 1.0)); // of 8 m^2
  CHECK((second.inner == 32.0 && second.metadata == 16.0));
}

TEST_CASE("a plain struct may have plain structs as members") {
  auto const f = od::fn<"f">([](auto p) {
    return energy(field<&pair_of_bodies::first>(p)) + energy(field<&pair_of_bodies::second>(p));
  });
  pair_of_bodies const p{{2.0, 3.0f, 4}, {4.0, 1.0f, 0}};
  count c;
  CHECK(od::run(c, f, p) == 11.0);
  auto const mass = [](double dm) { return std::tuple(dm, 0.0f, od::zero{}); };
  CHECK(od::run(forward{}, f, od::tag(p, std::tuple(mass(1.0), mass(2.0)))).metadata == 4.5 + 1.0);
}

TEST_CASE("hooks receive the struct itself") {
  struct observes : od::context {
    double mass = 0;
    void before(decltype(energy), body const& b) { mass = b.mass; }
  } context;
  od::run(
      od::compose(forward{}, context), od::fn<"f">([](auto b) { return field<&body::mass>(b); }),
      body{2, 3, 4});
  CHECK(context.mass == 0.0);
  od::run(context, energy, body{2, 3, 4});
  CHECK(context.mass == 2.0);
}

TEST_CASE(
    "contexts pass opaque objects unchanged: strings, pointers, and by reference what cannot be copied") {
  auto const f = od::fn<"f">([](auto const& text, auto* m, auto x) {
    return std::tuple(text + "!", m, x * static_cast<double>(m->rows));
  });
  matrix m;
  m.rows = 3;
  count c;
  auto const [text, pointer, x] = od::run(c, f, std::string("three"), &m, 2.0);
  CHECK((text == "three!" && pointer == &m && x == 6.0));
  auto const [same, there, r] = od::run(forward{}, f, std::string("three"), &m, od::tag(2.0, 1.0));
  CHECK((same == "three!" && there == &m && r.metadata == 3.0));
}

TEST_CASE("loops, branches, tuples and native functions take opaque objects") {
  auto const name =
      od::leaf<"name">([](std::string s, double x) { return s + std::to_string(static_cast<int>(x)); });
  auto const f = od::fn<"f">([&](auto text, auto x) {
    auto const longer = od::loop(2, std::tuple(text, x), [](auto, auto s) {
      return std::tuple(std::get<0>(s) + "a", std::get<1>(s) * 2.0);
    });
    return od::if_(
        x > 0.0, [&] { return name(std::get<0>(longer), std::get<1>(longer)); }, [&] { return text; });
  });
  count c;
  CHECK(od::run(c, f, std::string("b"), 3.0) == "baa12");
  CHECK(od::run(c, f, std::string("b"), -3.0) == "b");
}

namespace described {
struct labelled {
  BOOST_HANA_DEFINE_STRUCT(labelled, (std::string, label), (double, value));
};
struct marked : od::context { // metadata without rules
  template <class T>
  using metadata = double;
  double constant(auto const&) const { return -1; }
};
} // namespace described

TEST_CASE("an opaque member of a plain struct is a constant in contexts with metadata, or has its tag") {
  auto const f = od::fn<"f">([](auto label, auto x) { return make<labelled>(label, x); });
  auto const r = od::run(marked{}, f, std::string("a"), od::tag(2.0, 5.0));
  CHECK((r.inner.label == "a" && r.inner.value == 2.0 && r.metadata == std::tuple(-1.0, 5.0)));
  auto const tagged = od::run(marked{}, f, od::tag(std::string("a"), 3.0), 2.0);
  CHECK((tagged.inner.label == "a" && tagged.metadata == std::tuple(3.0, -1.0)));
  auto const literal = od::run(marked{}, od::fn<"g">([](auto x) { return make<labelled>("b", x); }), 2.0);
  CHECK(literal.inner.label == "b");
  count c;
  CHECK(
      od::run(od::compose(marked{}, c), f, std::string("a"), od::tag(2.0, 5.0)).metadata ==
      std::tuple(-1.0, 5.0));
  CHECK(
      od::run(od::compose(c, marked{}), f, std::string("a"), od::tag(2.0, 5.0)).metadata ==
      std::tuple(-1.0, 5.0));
  auto const both =
      od::run(od::compose(marked{}, marked{}), f, std::string("a"), od::tag(od::tag(2.0, 6.0), 5.0));
  CHECK((both.inner.inner.label == "a" && both.inner.metadata == std::tuple(-1.0, 6.0)));
}
