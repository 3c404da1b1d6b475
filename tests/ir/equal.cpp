// Equality of programs.
#include "catch.hpp"
#include "ir/samples.hpp"

#include <overdub/implementation/ir/hash.hpp>

#include <limits>
#include <string>

namespace {

using namespace samples;
using overdub::effect;

// f(x, n) calls g; each part can be varied.
struct choices {
  bool names = false;
  char const* function_name = "f";
  op code = op::mul;
  double number = 1.0;
  bool swapped = false;
  bool calls_other = false;
  bool reversed = false;
  effect host_effect = effect::ordered;
  char const* host_name = "print";
  char const* opaque = "file";
  convention calls = convention::direct;
  bool nested = false;
  bool erased_first = false;
  bool structure = false;
  bool no_entry = false;
};

program make(choices const& k = {}) {
  program p;
  if (k.names) (void)p.intern("something else"), (void)p.add_place("a.cpp", 1);
  if (k.names) p.notes.push_back({.text = "a note"});
  type const unary = p.function_type({.calls = k.calls, .parameters = {f64}, .results = {f64}});
  if (k.erased_first) p.erase(define(p, "gone", {}, {}, [](cursor&, values) { return values{}; }));
  auto const two = [](cursor& c, values x) { return values{c.add(op::add, x[0], x[0])}; };
  function_id const g = define(p, "g", {f64}, {f64}, two);
  function_id const h = define(p, "h", {f64}, {f64}, two);
  type const handle = p.opaque_type(k.opaque);
  symbol const host = p.intern(k.host_name);
  function_id const f =
      define(p, k.function_name, {f64, i64, handle, unary}, {f64, f64}, [&](cursor& c, values x) {
        if (k.erased_first) {
          c.erase(c.insert(op::sin, {x[0]}));
          (void)c.literal(17.0);
        }
        value_id const y = c.add(k.code, x[0], c.literal(k.number));
        if (k.names) c.set_name(y, p.intern("y"));
        value_id const z = c->result(c.insert(op::call, {y}, attributes::of(k.calls_other ? h : g)));
        c.insert(op::host, values{x[0]}, types{}, {.subject = index_of(host), .effects = k.host_effect});
        std::uint8_t const flags = k.reversed ? attributes::reversed : 0;
        node_id const loop = with_regions(c, op::loop, {x[1], z}, {f64}, {{i64, f64}}, {.flags = flags});
        fill(c, c->region_at(loop, 0), [&](cursor& in, values a) {
          value_id const s = in.add(op::sin, a[1]);
          if (k.nested) in.add(op::cos, s);
          return values{s};
        });
        return k.swapped ? values{c->result(loop), z} : values{z, c->result(loop)};
      });
  if (k.structure) p[f].structure = p.intern("(f64, f64)");
  p.entry = k.no_entry ? function_id(nothing) : f;
  return p;
}

} // namespace

TEST_CASE("a program equals itself, its copy, and another one with the same operations in the same order") {
  for (program const& p : all()) {
    CHECK(p == p);
    CHECK(p == program(p));
  }
  CHECK(make() == make());
  CHECK(norm() != loops());
}

TEST_CASE("names of values, locations, notes, numbering and erased operations do not affect equality") {
  CHECK(make() == make({.names = true}));
  CHECK(make() == make({.erased_first = true}));
}

TEST_CASE("everything else affects equality") {
  program const p = make();
  CHECK(p != make({.function_name = "f2"}));
  CHECK(p != make({.code = op::add}));
  CHECK(p != make({.number = 2.0}));
  CHECK(p != make({.swapped = true}));
  CHECK(p != make({.calls_other = true}));
  CHECK(p != make({.reversed = true}));
  CHECK(p != make({.host_effect = effect::reads_context}));
  CHECK(p != make({.host_name = "write"}));
  CHECK(p != make({.opaque = "socket"}));
  CHECK(p != make({.calls = convention::boxed}));
  CHECK(p != make({.nested = true}));
  CHECK(make({.nested = true}) != p);
  CHECK(p != make({.structure = true}));
  CHECK(p != make({.no_entry = true}));
}

TEST_CASE("equal programs have equal hashes; others usually do not") {
  std::size_t const hash = overdub::ir::hash_of(make());
  CHECK(hash == overdub::ir::hash_of(make({.names = true})));
  CHECK(hash == overdub::ir::hash_of(make({.erased_first = true})));
  for (program const& p : all()) CHECK(overdub::ir::hash_of(p) == overdub::ir::hash_of(program(p)));
  for (choices const& other :
       {choices{.function_name = "f2"}, choices{.code = op::add}, choices{.number = 2.0},
        choices{.swapped = true}, choices{.calls_other = true}, choices{.reversed = true},
        choices{.host_name = "write"}, choices{.nested = true}, choices{.no_entry = true}})
    CHECK(hash != overdub::ir::hash_of(make(other)));
}

TEST_CASE("literals are equal by their bits: zeros of two signs differ, and NaN equals itself") {
  double const nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(make({.number = 0.0}) != make({.number = -0.0}));
  CHECK(make({.number = nan}) == make({.number = nan}));
}

TEST_CASE("types of parameters, results and conversions affect equality") {
  auto const convert = [](type to) {
    program p;
    define(p, "f", {f64}, {to}, [&](cursor& c, values x) { return values{c.convert(x[0], to)}; });
    return p;
  };
  auto const takes = [](type t) {
    program p;
    define(p, "f", {t}, {}, [](cursor&, values) { return values{}; });
    return p;
  };
  CHECK(convert(f32) == convert(f32));
  CHECK(convert(f32) != convert(i64));
  CHECK(takes(f64) != takes(f32));
  CHECK(takes(f64) != takes(f64s));
  CHECK(takes(f64s) != takes(f64s.array_of()));
}

TEST_CASE("types of functions are compared by their parameters and results, not by their numbering") {
  auto const takes = [](bool other_first, std::vector<type> const& results) {
    program p;
    if (other_first) (void)p.function_type({.parameters = {i64}, .results = {}});
    type const inner = p.function_type({.parameters = {f64}, .results = results});
    type const outer = p.function_type({.parameters = {inner}, .results = {}});
    define(p, "f", {outer}, {}, [](cursor&, values) { return values{}; });
    return p;
  };
  CHECK(takes(false, {f64}) == takes(true, {f64}));
  CHECK(takes(false, {f64}) != takes(false, {}));
  CHECK(takes(false, {f64}) != takes(true, {f32}));
}

TEST_CASE("programs with another function, or another order of functions, are not equal") {
  program p = norm();
  program q = norm();
  define(q, "more", {}, {}, [](cursor&, values) { return values{}; });
  CHECK(p != q);
  q.erase(*q.find("more"));
  CHECK(p == q);
  program r, s;
  for (auto const name : {"a", "b"}) define(r, name, {}, {}, [](cursor&, values) { return values{}; });
  for (auto const name : {"b", "a"}) define(s, name, {}, {}, [](cursor&, values) { return values{}; });
  CHECK(r != s);
}

TEST_CASE("mutually recursive calls are compared by their callees") {
  auto const mutual = [](bool crossed) {
    program p;
    for (auto const name : {"a", "b"}) (void)p.add(name, types{});
    for (std::uint32_t i = 0; i < 2; ++i) {
      cursor c(p, function_id{i}, function::body);
      c.insert(op::call, {}, attributes::of(function_id{crossed ? 1 - i : i}));
      c.yield({});
    }
    return p;
  };
  CHECK(mutual(true) == mutual(true));
  CHECK(mutual(true) != mutual(false));
}
