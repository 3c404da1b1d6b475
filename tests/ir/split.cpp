// Outlining.
#include "ir/invariants.hpp"
#include "ir/samples.hpp"
#include "property.hpp"

#include <overdub/ir/split.hpp>
#include <overdub/ir/verify.hpp>

#include <string>

namespace {

// Splits with a new cursor.
template <class... A>
overdub::ir::node_id split_in(overdub::ir::cursor c, A const&... a) {
  return overdub::ir::split(c, a...);
}

using namespace samples;

std::string walked(function const& f) {
  std::string text;
  walk(
      f, function::body, [&](node_id n) { text.append(text.empty() ? "" : " ").append(name_of(f[n].code)); });
  return text;
}
void check_valid(program const& p) {
  for (auto const& f : p.functions) CHECK(invariants::broken(f) == "");
  for (auto const& d : faults_of(p)) CHECK(d.text == "");
}

// f(x) = exp(log(sin(x) + cos(x)) * 2)
struct chain {
  program p;
  values v;
  function_id f = define(p, "f", {f64}, {f64}, [this](cursor& c, values x) {
    v = {x[0], c.add(op::sin, x[0]), c.add(op::cos, x[0])};
    v.push_back(c.add(op::add, v[1], v[2]));
    v.push_back(c.add(op::log, v[3]));
    v.push_back(c.add(op::mul, v[4], c.literal(2.0)));
    v.push_back(c.add(op::exp, v[5]));
    return values{v[6]};
  });
  node_id node(std::size_t i) const { return p[f].node_of(v[i]); }
};

} // namespace

TEST_CASE(
    "a part becomes a function: values that it uses are parameters, values that are used later are results") {
  chain a;
  cursor c(a.p, a.f);
  c.set_name(a.v[1], a.p.intern("s"));
  node_id const call = split(c, a.node(2), a.node(4), "part");
  CHECK(walked(a.p[a.f]) == "sin call mul exp yield");
  function_id const part = a.p[a.f][call].attributes.callee();
  CHECK(a.p.name_of(part) == "part");
  CHECK(walked(a.p[part]) == "cos add log yield");
  REQUIRE(a.p[part].parameters().size() == 2);
  CHECK(a.p[a.f].operand(call, 0) == a.v[0]);
  CHECK(a.p[a.f].operand(call, 1) == a.v[1]);
  CHECK(a.p.text(a.p[part][a.p[part].parameters()[1]].name) == "s");
  CHECK(a.p[part].results == types{f64});
  check_valid(a.p);
}

TEST_CASE("results have the order of their definitions, and literals are copied") {
  chain a;
  split_in(cursor(a.p, a.f), a.node(1), a.node(2), "both");
  split_in(cursor(a.p, a.f), a.node(5), a.node(5), "twice");
  CHECK(walked(a.p[a.f]) == "call add log call exp yield");
  CHECK(a.p[*a.p.find("both")].results.size() == 2);
  CHECK(a.p[*a.p.find("twice")].parameters().size() == 1);
  check_valid(a.p);
}

TEST_CASE("regions are split with the values that they use from outside, and a part of a region can be split "
          "as well") {
  program p = norm();
  function_id const f = *p.find("norm");
  node_id map = nothing;
  walk(p[f], function::body, [&](node_id n) {
    if (p[f][n].code == op::map) map = n;
  });
  split_in(cursor(p, f), map, map, "squares");
  check_valid(p);
  function_id const squares = *p.find("squares");
  CHECK(walked(p[squares]) == "map at call yield yield");
  CHECK(p[squares].parameters().size() == 2);
  region_id const region = p[squares].region_at(p[squares][function::body].first, 0);
  node_id const at = p[squares][region].first;
  split_in(cursor(p, squares), at, p[squares][at].next, "square_of");
  CHECK(walked(p[squares]) == "map call yield yield");
  check_valid(p);
}

TEST_CASE("a whole accumulate can be split, and a part that adds to an outer accumulator is rejected") {
  program p = histogram();
  function_id const f = p.entry;
  node_id const all = p[f][function::body].first;
  node_id const map = p[f][p[f][p[f].region_at(all, 0)].first].next;
  REQUIRE(p[f][map].code == op::map);
  std::size_t const functions = p.functions.size();
  CHECK_THROWS_WITH(
      split_in(cursor(p, f), map, map, "adds"),
      Catch::Matchers::Contains("an accumulator is not passed to functions"));
  CHECK(p.functions.size() == functions);
  check_valid(p);
  split_in(cursor(p, f), all, all, "adds");
  CHECK(walked(p[f]) == "call yield");
  check_valid(p);
}

TEST_CASE("operations that are not a sequence in one region, and existing names, are rejected") {
  chain a;
  cursor c(a.p, a.f);
  CHECK_THROWS_AS(split(c, a.node(4), a.node(2), "part"), overdub::error);
  CHECK_THROWS_AS(split(c, a.node(4), c->yield_of(function::body), "part"), overdub::error);
  CHECK_THROWS_WITH(
      split(c, a.node(2), a.node(3), "f"), Catch::Matchers::Contains("has a function @f already"));
  CHECK(a.p.functions.size() == 1);
  check_valid(a.p);
}

TEST_CASE("a walk that splits continues after the call") {
  chain a;
  std::string seen;
  for (cursor c(a.p, a.f); c.next();) {
    seen.append(name_of(c.code())).append(" ");
    if (c.code() == op::cos) split(c, c.node(), a.node(4), "part");
  }
  CHECK(seen == "sin cos mul exp yield ");
  check_valid(a.p);
}

TEST_CASE("any part of one region can be split repeatedly") {
  property([] {
    std::vector<program> const programs{norm(), loops(), outside(), arrays()};
    program p = programs[*rc::gen::inRange<std::size_t>(0, programs.size())];
    for (int i = 0; i < 5; ++i) {
      function_id const f{
          *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(p.functions.size()))};
      std::vector<node_id> all;
      walk(p[f], function::body, [&](node_id n) {
        if (p[f][n].code != op::yield) all.push_back(n);
      });
      if (all.empty()) continue;
      node_id const first = all[*rc::gen::inRange<std::size_t>(0, all.size())];
      node_id last = first;
      for (int k = *rc::gen::inRange(0, 5); k > 0 && p[f][p[f][last].next].code != op::yield; --k)
        last = p[f][last].next;
      split_in(cursor(p, f), first, last, "part" + std::to_string(i));
      for (auto const& g : p.functions) RC_ASSERT(invariants::broken(g) == "");
      for (auto const& d : faults_of(p)) RC_FAIL(d.text);
    }
  });
}
