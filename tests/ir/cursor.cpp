// Editing a function during a walk.
#include "ir/invariants.hpp"
#include "ir/samples.hpp"
#include "property.hpp"

#include <overdub/ir/builder.hpp>
#include <overdub/ir/verify.hpp>

#include <map>
#include <string>

namespace {

using namespace samples;

// The codes of all operations, in the order of a walk.
std::string walked_in(program& p, function_id f) {
  std::string text;
  for (cursor c(p, f); c.next();) text.append(text.empty() ? "" : " ").append(name_of(c.code()));
  return text;
}
node_id find_in(program const& p, function_id f, op code) {
  node_id found = nothing;
  walk(p[f], function::body, [&](node_id n) {
    if (p[f][n].code == code && found == nothing) found = n;
  });
  return found;
}
void check_valid(program const& p) {
  for (auto const& f : p.functions) CHECK(invariants::broken(f) == "");
  for (auto const& d : faults_of(p)) CHECK(d.text == "");
}

// f(x, b) = if b then sin(x) else cos(x), plus x
struct branching {
  program p;
  function_id f = define(p, "f", {f64, boolean}, {f64}, [](cursor& c, values given) {
    node_id const n = with_regions(c, op::if_, {given[1]}, {f64}, {{}, {}});
    fill(c, c->region_at(n, 0), [&](cursor& in, values) { return values{in.add(op::sin, given[0])}; });
    fill(c, c->region_at(n, 1), [&](cursor& in, values) { return values{in.add(op::cos, given[0])}; });
    return values{c.add(op::add, c->result(n), given[0])};
  });
  value_id const x = p[f].argument(function::body, 0);
  std::string walked() { return walked_in(p, f); }
  node_id find(op code) { return find_in(p, f, code); }
};

} // namespace

TEST_CASE("a walk visits every operation in pre-order") {
  CHECK(branching().walked() == "if sin yield cos yield add yield");
  program p = histogram();
  CHECK(walked_in(p, p.entry) == "accumulate length map at add_to yield yield yield");
}

TEST_CASE("operations that are inserted during a walk are not visited, and precede the current operation") {
  branching b;
  int visited = 0;
  for (cursor c(b.p, b.f); c.next(); ++visited)
    if (c.code() == op::sin || c.code() == op::add) c.add(op::neg, b.x);
  CHECK(visited == 7);
  CHECK(b.walked() == "if neg sin yield cos yield neg add yield");
  check_valid(b.p);
}

TEST_CASE("before the first step a cursor inserts at the beginning, and after the last one at the end") {
  branching b;
  cursor c(b.p, b.f);
  c.add(op::exp, b.x);
  while (c.next()) {
  }
  c.add(op::log, b.x);
  CHECK(b.walked() == "exp if sin yield cos yield add yield log");
  CHECK(invariants::broken(b.p[b.f]) == "");
}

TEST_CASE("an operation can be replaced during a walk, in nested regions too") {
  branching b;
  for (cursor c(b.p, b.f); c.next();) {
    if (c.code() == op::sin) c.replace(c.add(op::tan, c.operand(0)));
    if (c.code() == op::add) c.replace(b.x);
  }
  CHECK(b.walked() == "if tan yield cos yield yield");
  CHECK(b.p[b.f].operand(b.p[b.f].yield_of(function::body), 0) == b.x);
  check_valid(b.p);
}

TEST_CASE("erasing an operation erases its regions, and the walk continues after it") {
  branching b;
  std::string seen;
  for (cursor c(b.p, b.f); c.next();) {
    seen.append(name_of(c.code())).append(" ");
    if (c.code() == op::if_) c.replace(b.x);
  }
  CHECK(seen == "if add yield ");
  CHECK(b.p[b.f].uses_of(b.x).begin() != b.p[b.f].uses_of(b.x).end());
  check_valid(b.p);
}

TEST_CASE("an operation can be erased from inside, and the cursor is then after it") {
  branching b;
  std::string seen;
  node_id const outer = b.find(op::if_);
  for (cursor c(b.p, b.f); c.next();) {
    seen.append(name_of(c.code())).append(" ");
    if (c.code() != op::sin) continue;
    c.replace(outer, values{b.x});
    c.add(op::exp, b.x);
  }
  CHECK(seen == "if sin add yield ");
  CHECK(b.walked() == "exp add yield");
  check_valid(b.p);
}

TEST_CASE("the next operation of a walk may be erased or moved away") {
  program p;
  function_id const f = define(p, "f", {f64}, {}, [](cursor& c, values x) {
    for (op const code : {op::sin, op::cos, op::tan, op::exp}) c.add(code, x[0]);
    return values{};
  });
  std::string seen;
  for (cursor c(p, f); c.next();) {
    seen.append(name_of(c.code())).append(" ");
    if (c.code() == op::sin) c.erase(find_in(p, f, op::cos));
    if (c.code() == op::tan) c.move(find_in(p, f, op::exp));
  }
  CHECK(seen == "sin tan yield ");
  CHECK(walked_in(p, f) == "sin exp tan yield");
  check_valid(p);
}

TEST_CASE("the regions of an operation can be skipped, also if it was replaced or moved away meanwhile") {
  branching b;
  auto seen = [&](auto edit) {
    branching copy = b;
    std::string text;
    for (cursor c(copy.p, copy.f); c.next();) {
      text.append(name_of(c.code())).append(" ");
      if (c.code() == op::if_) {
        edit(c);
        c.skip_regions();
      }
    }
    return text;
  };
  CHECK(seen([](cursor&) {}) == "if add yield ");
  CHECK(seen([&](cursor& c) { c.replace(b.x); }) == "if add yield ");
  CHECK(seen([&](cursor& c) {
          node_id const branch = c.node();
          c.to_end(function::body);
          c.move(branch);
        }) == "if add yield if ");
  CHECK(seen([&](cursor& c) {
          c.to_after(c.node());
          c.add(op::exp, b.x);
        }) == "if add yield ");
}

TEST_CASE("a cursor can move to the start and the end of a region, before and after an operation, and to its "
          "yield") {
  branching b;
  cursor c(b.p, b.f);
  region_id const then = b.p[b.f].region_at(b.find(op::if_), 0);
  c.to_start(then);
  c.add(op::exp, b.x);
  c.to_yield(then);
  c.add(op::log, b.x);
  c.to_before(b.find(op::cos));
  c.add(op::sinh, b.x);
  c.to_after(b.find(op::cos));
  c.add(op::cosh, b.x);
  CHECK(b.walked() == "if exp sin log yield sinh cos cosh yield add yield");
  check_valid(b.p);
}

TEST_CASE("every use of a value is replaced by another one, also several uses in one operation") {
  program p;
  function_id const f = define(p, "f", {f64, f64}, {f64}, [](cursor& c, values x) {
    return values{c.add(op::fma, x[0], x[0], c.add(op::mul, x[0], x[1]))};
  });
  cursor c(p, f);
  value_id const x = c->argument(function::body, 0), y = c->argument(function::body, 1);
  c.substitute(x, x);
  CHECK(c->is_used(x));
  c.substitute(x, y);
  CHECK_FALSE(c->is_used(x));
  node_id const fma = find_in(p, f, op::fma);
  CHECK(c->operand(fma, 0) == y);
  CHECK(c->operand(fma, 1) == y);
  check_valid(p);
}

TEST_CASE("operands can be set one by one, or replaced by another number of operands") {
  branching b;
  cursor c(b.p, b.f);
  node_id const add = b.find(op::add);
  c.set_operand(add, 1, c.literal(2.0));
  CHECK(c->bits_of(c->operand(add, 1)) == std::bit_cast<std::uint64_t>(2.0));
  check_valid(b.p);
  values const three{b.x, b.x, c->operand(add, 0)};
  c.set_code(add, op::fma);
  c.set_operands(add, three);
  CHECK(c->operands_of(add).size() == 3);
  check_valid(b.p);
}

TEST_CASE("an operation moves with its regions, before and after others, and out of regions") {
  branching b;
  cursor c(b.p, b.f);
  c.to_before(b.find(op::if_));
  c.move(b.find(op::cos));
  c.move(b.find(op::sin));
  CHECK(b.walked() == "cos sin if yield yield add yield");
  check_valid(b.p);
  c.to_before(b.find(op::sin));
  c.move(b.find(op::sin)); // before itself
  CHECK(b.walked() == "cos sin if yield yield add yield");
  check_valid(b.p);
}

TEST_CASE("the operations of a region are spliced before the enclosing operation") {
  branching b;
  std::string seen;
  for (cursor c(b.p, b.f); c.next();) {
    seen.append(name_of(c.code())).append(" ");
    if (c.code() == op::if_) c.replace(c.splice(c->region_at(c.node(), 1), {}));
  }
  CHECK(seen == "if add yield ");
  CHECK(b.walked() == "cos add yield");
  check_valid(b.p);
}

TEST_CASE("the arguments of a spliced region are replaced by given values, and its yield by results") {
  program p;
  function_id const f = define(p, "f", {i64, f64}, {f64, f64}, [](cursor& c, values x) {
    node_id const n = with_regions(c, op::loop, {x[0], x[1], x[1]}, {f64, f64}, {{i64, f64, f64}});
    fill(c, c->region_at(n, 0), [&](cursor& in, values a) { return values{a[2], in.add(op::sin, a[1])}; });
    return values{c->result(n, 0), c->result(n, 1)};
  });
  for (cursor c(p, f); c.next();) {
    if (c.code() != op::loop) continue;
    value_id const once[] = {c.literal(std::int64_t{0}), c.operand(1), c.operand(2)};
    c.replace(c.splice(c->region_at(c.node(), 0), once));
  }
  CHECK(walked_in(p, f) == "sin yield");
  CHECK(p[f].operand(p[f].yield_of(function::body), 0) == p[f].argument(function::body, 1));
  check_valid(p);
}

TEST_CASE("a clone has the operands of the original, and its own regions") {
  branching b;
  cursor c(b.p, b.f);
  node_id const original = b.find(op::if_);
  c.to_before(original);
  std::map<value_id, value_id> map;
  node_id const copy = c.clone(b.f, original, map);
  CHECK(map.at(c->result(original)) == c->result(copy));
  CHECK(b.walked() == "if sin yield cos yield if sin yield cos yield add yield");
  check_valid(b.p);
  c.set_operand(b.find(op::add), 1, c->result(copy));
  check_valid(b.p);
}

TEST_CASE("a function's operations can be copied into another one, with its parameters and literals") {
  program p = norm();
  function_id const run = p.entry;
  function_id const copy = p.add("copy", types{f64s, boolean});
  p[copy].results = {f64};
  cursor c(p, copy, function::body);
  std::map<value_id, value_id> map;
  for (std::uint32_t i = 0; i < 2; ++i)
    map[p[run].argument(function::body, i)] = c->argument(function::body, i);
  c.clone_contents(run, function::body, map);
  CHECK(walked_in(p, copy) == walked_in(p, run));
  check_valid(p);
}

TEST_CASE("a free value is rejected by the verifier, and is a parameter of a copy that binds it") {
  program p;
  function_id const draft = p.add("draft", types{});
  cursor open(p, draft, function::body);
  value_id const condition = open.free_value(boolean);
  value_id const x = open.free_value(f64); // is used in regions
  value_id const all[] = {overdub::ir::builder(open).if_(
      condition, [&] { return open.add(op::sin, x); }, [&] { return x; })};
  open.yield(all);
  p[draft].results = {f64};
  std::vector<diagnostic> const found = faults_of(p);
  REQUIRE_FALSE(found.empty());
  CHECK(found.front().text.find("is free") != std::string::npos);

  function_id const f = p.add("f", types{boolean, f64});
  cursor c(p, f, function::body);
  std::map<value_id, value_id> map{
      {condition, c->argument(function::body, 0)}, {x, c->argument(function::body, 1)}};
  c.clone_contents(draft, function::body, map);
  p[f].results = {f64};
  p.erase(draft);
  check_valid(p);
  CHECK(walked_in(p, f) == "if sin yield yield yield");
}

TEST_CASE("an operation can be copied into its own region, and a region into itself") {
  program p = histogram();
  std::map<value_id, value_id> map;
  node_id const all = find_in(p, p.entry, op::map);
  cursor c(p, p.entry);
  c.to_start(c->region_at(all, 0));
  c.clone(p.entry, all, map);
  CHECK(walked_in(p, p.entry) == "accumulate length map map at add_to yield at add_to yield yield yield");
  check_valid(p);
  map.clear();
  cursor d(p, p.entry);
  node_id const last = d->yield_of(d->region_at(all, 0));
  d.to_before(d->operands_of(last).empty() ? find_in(p, p.entry, op::at) : last);
  std::string const before = walked_in(p, p.entry);
  d.clone_contents(p.entry, d->region_at(all, 0), map);
  CHECK(invariants::broken(p[p.entry]) == "");
  CHECK(walked_in(p, p.entry).size() > before.size());
}

TEST_CASE("equal literals are one value, and different bits and types different ones") {
  program p;
  function_id const f = p.add("f", types{});
  cursor c(p, f, function::body);
  CHECK(c.literal(1.0) == c.literal(1.0));
  CHECK(c.literal(0.0) != c.literal(-0.0));
  CHECK(c.literal(1.0) != c.literal(1.0f));
  CHECK(c.literal(true) != c.literal(std::int64_t{1}));
  CHECK(c.literal(std::nan("")) == c.literal(std::nan("")));
  CHECK(c->bits_of(c.literal(1.0f)) == std::bit_cast<std::uint32_t>(1.0f));
}

TEST_CASE("results of wrong types are rejected when an operation is inserted, and nothing is inserted") {
  branching b;
  cursor c(b.p, b.f);
  CHECK_THROWS_AS(c.add(op::bit_and, b.x, b.x), verify_error);
  CHECK_THROWS_AS(c.add(op::add, b.x), verify_error);
  CHECK(b.walked() == "if sin yield cos yield add yield");
}

TEST_CASE("copies of a program are independent") {
  branching a;
  branching b = a;
  for (cursor c(b.p, b.f); c.next();)
    if (c.code() == op::add) c.replace(b.x);
  CHECK(a.walked() == "if sin yield cos yield add yield");
  CHECK(b.walked() == "if sin yield cos yield yield");
  check_valid(a.p);
}

TEST_CASE("two cursors on one function alternate") {
  branching b;
  cursor inserting(b.p, b.f);
  inserting.to_yield(function::body);
  for (cursor c(b.p, b.f); c.next();)
    if (c.code() == op::sin) inserting.add(op::exp, b.x);
  CHECK(b.walked() == "if sin yield cos yield add exp yield");
  check_valid(b.p);
}

TEST_CASE("inserted operations have the current source location, and a clone keeps its own") {
  branching b;
  cursor c(b.p, b.f);
  place_id const here = b.p.add_place("a.cpp", 3);
  c.set_place(here);
  node_id const n = c.insert(op::exp, {b.x});
  CHECK((*c)[n].place == here);
  c.set_place(nothing);
  std::map<value_id, value_id> map;
  CHECK((*c)[c.clone(b.f, n, map)].place == here);
  CHECK((*c)[c.insert(op::exp, {b.x})].place == nothing);
}

TEST_CASE("deeply nested regions are handled without recursion") {
  program p;
  std::uint32_t const depth = 200'000;
  function_id const f = p.add("f", types{boolean, f64});
  cursor c(p, f, function::body);
  std::vector<region_id> open{function::body};
  for (std::uint32_t i = 0; i < depth; ++i) {
    c.to_end(open.back());
    node_id const n = with_regions(c, op::if_, {c->argument(function::body, 0)}, {}, {{}, {}});
    c.to_end(c->region_at(n, 1));
    c.yield({});
    open.push_back(c->region_at(n, 0));
  }
  for (std::size_t i = open.size(); i-- > 0;) {
    c.to_end(open[i]);
    c.yield({});
  }
  REQUIRE(faults_of(p).size() == 1);
  CHECK(faults_of(p)[0].text.find("regions are nested more than 400 deep") != std::string::npos);
  CHECK(p == program(p));
  std::size_t visited = 0;
  for (cursor w(p, f); w.next();) ++visited;
  CHECK(visited == 3 * depth + 1);
  std::map<value_id, value_id> map;
  node_id const outermost = p[f][function::body].first;
  c.to_before(outermost);
  node_id const copy = c.clone(f, outermost, map);
  c.erase(outermost);
  CHECK(faults_of(p).size() == 1);
  c.erase(copy);
  CHECK(faults_of(p).empty());
  CHECK(p[f][function::body].first == p[f][function::body].last);
}

namespace {

// Random edits that keep a program valid.
struct random_edits {
  program p;
  function_id f;

  template <class Draw>
  static auto pick(Draw const& all) {
    return all[static_cast<std::size_t>(*rc::gen::inRange<std::size_t>(0, all.size()))];
  }
  std::vector<node_id> nodes(bool yields = false) const {
    std::vector<node_id> all;
    walk(p[f], function::body, [&](node_id n) {
      if (yields || p[f][n].code != op::yield) all.push_back(n);
    });
    return all;
  }
  bool is_used(node_id n) const {
    for (value_id const v : p[f].results_of(n))
      if (p[f].is_used(v)) return true;
    return false;
  }

  void edit() {
    std::vector<node_id> const all = nodes();
    if (all.empty()) return;
    node_id const n = pick(all);
    cursor c(p, f);
    c.to_before(n);
    std::map<value_id, value_id> map;
    switch (*rc::gen::inRange(0, 7)) {
    case 0: // replaces the original by a copy
      if (node_id const copy = c.clone(f, n, map); *rc::gen::arbitrary<bool>()) {
        values results(c->results_of(copy).begin(), c->results_of(copy).end());
        c.replace(n, results);
      }
      break;
    case 1:
      if (!is_used(n)) c.erase(n);
      break;
    case 2: { // moves it away and back
      node_id const following = (*c)[n].next;
      c.to_yield(function::body);
      c.move(n);
      RC_ASSERT(invariants::broken(p[f]) == "");
      c.to_before(following);
      c.move(n);
      break;
    }
    case 3: // replaces a number by a literal
      for (std::uint32_t i = 0; i < (*c)[n].operand_count; ++i)
        if (c->type_of(c->operand(n, i)) == f64) c.set_operand(n, i, c.literal(any<double>()));
      break;
    case 4: // replaces each sum, and each second product, during a walk
      for (cursor w(p, f); w.next();) {
        if (w.code() == op::add) w.replace(w.add(op::sub, w.operand(0), w.operand(1)));
        if (w.code() == op::mul && index_of(w.node()) % 2 == 0) w.replace(w.operand(0));
      }
      break;
    case 5:
      if ((*c)[n].code == op::if_) {
        values const results =
            c.splice(c->region_at(n, static_cast<std::uint32_t>(*rc::gen::inRange(0, 2))), {});
        c.replace(n, results);
      }
      break;
    case 6: { // copies all operations of the region
      region_id const r = (*c)[n].parent;
      c.to_yield(r);
      for (node_id m = (*c)[r].first; m != n; m = (*c)[m].next) c.clone(f, m, map);
      break;
    }
    }
  }
};

} // namespace

TEST_CASE("random edits keep a program valid, and its storage consistent") {
  property([] {
    std::vector<program> const programs = all();
    random_edits edits{programs[*rc::gen::inRange<std::size_t>(0, programs.size())], nothing};
    edits.f = function_id{
        *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(edits.p.functions.size()))};
    for (int i = 0; i < 12 && edits.nodes().size() < 400; ++i) {
      edits.edit();
      RC_ASSERT(invariants::broken(edits.p[edits.f]) == "");
      for (auto const& d : faults_of(edits.p)) RC_FAIL(d.text);
    }
    RC_ASSERT(edits.p == program(edits.p));
  });
}
