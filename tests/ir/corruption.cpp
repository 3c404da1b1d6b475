// Fuzzing of the verifier: valid programs are corrupted at random places, and the verifier reports it. Here the attributes
// and operands of operations; in corruption_storage.cpp, their storage.
#include "ir/corruption.hpp"

#include <algorithm>

namespace {

using namespace corrupt;

std::vector<corruption> types_and_operands() {
  return {
      of_value("no type", any_value, [](victim&, value_id, auto& v) { v.type = {}; }),
      of_value(
          "an unknown kind of type", any_value,
          [](victim&, value_id, auto& v) { v.type.element = scalar(99); }),
      of_value(
          "an unknown type of functions", any_value,
          [](victim&, value_id, auto& v) { v.type = {.element = scalar::function, .index = 999}; }),
      of_value(
          "an unknown type of objects", any_value,
          [](victim&, value_id, auto& v) { v.type = {.element = scalar::opaque, .index = 999}; }),
      of_value(
          "a number with an index", any_value,
          [](victim&, value_id, auto& v) { v.type = {.element = scalar::i64, .index = 1}; }),
      of_value(
          "a result of another type", is_computed,
          [](victim&, value_id, auto& v) { v.type = v.type == boolean ? i64 : boolean; }),
      of_value(
          "a result of a higher rank", is_computed,
          [](victim&, value_id, auto& v) { v.type = v.type.array_of(); }),
      of_value(
          "an accumulator without accumulate", [](auto& f, value_id v) { return f.is_result(v); },
          [](victim&, value_id, auto& v) { v.type = f64s.accumulator(); }),
      of_value(
          "an accumulator of a number", any_value,
          [](victim&, value_id, auto& v) { v.type = f64.accumulator(); }),
      {"another result declared",
       [](victim& x) {
         x.p[function_id{0}].results.push_back(key);
         return true;
       }},
      {"an unknown result declared",
       [](victim& x) {
         x.p[function_id{0}].results.push_back({});
         return true;
       }},
      {"a result less declared",
       [](victim& x) {
         x.p[function_id{0}].results.pop_back();
         return true;
       }},
      of_node(
          "an operand that is its own result",
          [](auto& f, node_id n) { return f[n].operand_count > 0 && f[n].result_count > 0; },
          [](victim& x, node_id n, auto&) { x.edit().set_operand(n, 0, x.in().result(n)); }),
      of_node(
          "an operand of later on",
          [](auto& f, node_id n) {
            return f[n].operand_count > 0 && f[n].next != nothing && f[f[n].next].result_count > 0;
          },
          [](victim& x, node_id n, auto& node) { x.edit().set_operand(n, 0, x.in().result(node.next)); }),
      {"an operand from a region that ended",
       [](victim& x) {
         value_id inner;
         if (!x.value(inner, [](auto& f, value_id v) {
               return !f.is_literal(v) && f.region_of(v) != function::body;
             }))
           return false;
         node_id const last = x.in().yield_of(function::body);
         if (x.in()[last].operand_count == 0) return false;
         x.edit().set_operand(last, 0, inner);
         return true;
       }},
      of_node(
          "an operand that was erased", is_plain,
          [](victim& x, node_id n, auto& node) {
            cursor c = x.edit();
            c.to_before(n);
            types const result{x.in().type_of(x.in().result(n))};
            values operands;
            for (std::uint32_t i = 0; i < node.operand_count; ++i) operands.push_back(c->operand(n, i));
            node_id const gone = c.insert((*c)[n].code, operands, result);
            c.erase(gone);
            c.set_operand(n, 0, c->result(gone));
          }),
      of_node(
          "an operand less", is_plain,
          [](victim& x, node_id n, auto& node) {
            values operands;
            for (std::uint32_t i = 1; i < node.operand_count; ++i) operands.push_back(x.in().operand(n, i));
            x.edit().set_operands(n, operands);
          }),
      of_node(
          "an operand more", is_plain,
          [](victim& x, node_id n, auto& node) {
            values operands(1, x.in().operand(n, 0));
            for (std::uint32_t i = 0; i < node.operand_count; ++i) operands.push_back(x.in().operand(n, i));
            x.edit().set_operands(n, operands);
          }),
      of_node(
          "an operand that is an array", is_plain,
          [](victim& x, node_id n, auto&) {
            cursor c = x.edit();
            c.to_before(n);
            types const array{f64s};
            node_id const made = c.insert(op::array, values{}, array);
            c.set_operand(n, 0, c->result(made));
          }),
      of_code(
          "a condition that is a number", op::if_,
          [](victim& x, node_id n, auto&) { x.edit().set_operand(n, 0, x.edit().literal(1.0)); }),
      of_code(
          "a number of iterations that is a bool", op::loop,
          [](victim& x, node_id n, auto&) { x.edit().set_operand(n, 0, x.edit().literal(true)); }),
      of_code(
          "a length that is a bool", op::map,
          [](victim& x, node_id n, auto&) { x.edit().set_operand(n, 0, x.edit().literal(true)); }),
      of_code(
          "a carried value less", op::loop,
          [](victim& x, node_id n, auto&) { x.edit().set_operands(n, values{x.in().operand(n, 0)}); }),
      of_code(
          "an argument less", op::call,
          [](victim& x, node_id n, auto&) { x.edit().set_operands(n, values{}); }),
  };
}

std::vector<corruption> order_and_regions() {
  auto const several = [](function const& f, node_id n) {
    return f[n].code == op::yield && f[n].previous != nothing;
  };
  auto const yields = [](function const& f, node_id n) {
    return f[n].code == op::yield && f[n].operand_count > 0;
  };
  auto const used_next = [](function const& f, node_id n) {
    for (std::uint32_t i = 0; i < f[n].result_count; ++i)
      for (use_id const u : f.uses_of(f.result(n, i)))
        if (f[u].user == f[n].next) return true;
    return false;
  };
  return {
      of_node(
          "a definition after its use", used_next,
          [](victim& x, node_id n, auto& node) {
            cursor c = x.edit();
            node_id const user = node.next;
            c.to_after(user);
            c.move(n);
          }),
      of_node(
          "a definition inside of its user",
          [=](auto& f, node_id n) { return used_next(f, n) && f[f[n].next].region_count > 0; },
          [](victim& x, node_id n, auto& node) {
            cursor c = x.edit();
            c.to_start(x.in().region_at(node.next, 0));
            c.move(n);
          }),
      of_node(
          "a use inside of what it uses",
          [=](auto& f, node_id n) { return used_next(f, n) && f[n].region_count > 0; },
          [](victim& x, node_id n, auto& node) {
            cursor c = x.edit();
            node_id const user = node.next;
            c.to_start(x.in().region_at(n, 0));
            c.move(user);
          }),
      of_node(
          "a yield at the start", several,
          [](victim& x, node_id n, auto& node) {
            cursor c = x.edit();
            c.to_start(node.parent);
            c.move(n);
          }),
      of_node(
          "no yield", [](auto& f, node_id n) { return f[n].code == op::yield; },
          [](victim& x, node_id n, auto&) { x.edit().erase(n); }),
      of_node(
          "a second yield",
          [](victim& x, node_id n, auto&) {
            cursor c = x.edit();
            c.to_before(n);
            c.yield({});
          }),
      of_region(
          "an operation after the yield",
          [](victim& x, region_id r, auto&) {
            cursor c = x.edit();
            c.to_end(r);
            c.add(op::sin, c.literal(1.0));
          }),
      of_node(
          "a value less yielded", yields,
          [](victim& x, node_id n, auto& node) {
            values kept;
            for (std::uint32_t i = 1; i < node.operand_count; ++i) kept.push_back(x.in().operand(n, i));
            x.edit().set_operands(n, kept);
          }),
      of_node(
          "another value yielded",
          [](auto& f, node_id n) {
            // one more of accumulate, map and loop would need a result, and of no other is it taken
            return f[n].code == op::yield;
          },
          [](victim& x, node_id n, auto& node) {
            cursor c = x.edit();
            values more;
            for (std::uint32_t i = 0; i < node.operand_count; ++i) more.push_back(c->operand(n, i));
            more.push_back(c.literal(1.0));
            c.set_operands(n, more);
          }),
      of_node(
          "a value of another type yielded", yields,
          [](victim& x, node_id n, auto&) {
            cursor c = x.edit();
            type const t = c->type_of(c->operand(n, 0));
            c.set_operand(n, 0, t == f32 ? c.literal(true) : c.literal(1.0f));
          }),
      of_value(
          "an argument of another type",
          [](auto& f, value_id v) { return f.is_argument(v) && f.region_of(v) != function::body; },
          [](victim&, value_id, auto& v) { v.type = v.type == boolean ? i64 : boolean; }),
      of_node(
          "no regions",
          [](victim& x, node_id n, auto&) {
            cursor c = x.edit();
            c.to_before(n);
            values const condition{c.literal(true)};
            c.insert(op::if_, condition, types{});
          }),
      of_node(
          "a region of an operation that has none", is_plain,
          [](victim& x, node_id n, auto&) {
            cursor c = x.edit();
            c.to_before(n);
            values operands;
            for (value_id const v : c->operands_of(n)) operands.push_back(v);
            types const result{c->type_of(c->result(n))};
            node_id const made = with_regions(c, (*c)[n].code, operands, result, {{}});
            fill(c, c->region_at(made, 0), [](cursor&, values) { return values{}; });
          }),
      of_code(
          "a number as the condition of a while", op::while_,
          [](victim& x, node_id n, auto&) {
            node_id const last = x.in().yield_of(x.in().region_at(n, 0));
            x.edit().set_operand(last, 0, x.edit().literal(1.0));
          }),
      of_code(
          "a result of what failed", op::protect,
          [](victim& x, node_id n, auto&) {
            node_id const last = x.in().yield_of(x.in().region_at(n, 1));
            x.edit().set_operands(last, values{x.edit().literal(1.0)});
          }),
      of_code(
          "an accumulator yielded", op::accumulate,
          [](victim& x, node_id n, auto&) {
            region_id const r = x.in().region_at(n, 0);
            x.edit().set_operands(x.in().yield_of(r), values{x.in().argument(r, 0)});
          }),
      of_code(
          "an accumulator given to the host", op::accumulate,
          [](victim& x, node_id n, auto&) {
            cursor c = x.edit();
            region_id const r = c->region_at(n, 0);
            c.to_yield(r);
            values const given{c->argument(r, 0)};
            c.insert(op::host, given, types{}, attributes::of(x.p.intern("host")));
          }),
      of_code(
          "an accumulator captured", op::accumulate,
          [](victim& x, node_id n, auto&) {
            cursor c = x.edit();
            region_id const r = c->region_at(n, 0);
            c.to_yield(r);
            values const given{c->argument(r, 0)};
            types const unary{x.p.function_type({.parameters = {i64s}, .results = {f64s, i64}})};
            c.insert(op::closure, given, unary, attributes::of(x.f));
          }),
      of_code(
          "an accumulator added to itself", op::add_to,
          [](victim& x, node_id n, auto& node) {
            x.edit().set_operand(n, node.operand_count - 1, x.in().operand(n, 0));
          }),
      of_code(
          "added to an array", op::add_to,
          [](victim& x, node_id n, auto&) {
            x.edit().set_operand(n, 0, x.in().argument(function::body, 0));
          }),
  };
}

std::vector<corruption> words() {
  return {
      of_node("no operation", [](victim&, node_id, auto& node) { node.code = op::none; }),
      of_node("an unknown operation", [](victim&, node_id, auto& node) { node.code = op(999); }),
      of_node("another operation", is_plain, [](victim&, node_id, auto& node) { node.code = op::at; }),
      of_code(
          "a call of nothing", op::call, [](victim&, node_id, auto& node) { node.attributes.subject = ~0u; }),
      of_code(
          "a call of an unknown function", op::call,
          [](victim&, node_id, auto& node) { node.attributes.subject = 77; }),
      of_code(
          "a call of an erased function", op::call,
          [](victim& x, node_id, auto& node) {
            function_id const gone = x.p.add("gone", types{});
            node.attributes.subject = index_of(gone);
            x.p.erase(gone);
          }),
      of_code(
          "a call of a function without a body", op::call,
          [](victim& x, node_id, auto& node) { storage::regions(x.p[node.attributes.callee()]).clear(); }),
      of_code(
          "a closure of an unknown function", op::closure,
          [](victim&, node_id, auto& node) { node.attributes.subject = 77; }),
      of_code(
          "a host call without a name", op::host,
          [](victim&, node_id, auto& node) { node.attributes.subject = 999; }),
      of_code(
          "an unknown effect", op::host,
          [](victim&, node_id, auto& node) { node.attributes.effects = overdub::effect(9); }),
      of_code(
          "a choice without a distribution", op::sample,
          [](victim&, node_id, auto& node) { node.attributes.detail = nothing; }),
      of_code(
          "a choice without an address", op::sample,
          [](victim&, node_id, auto& node) { node.attributes.subject = ~0u; }),
      of_code(
          "more indices than operands", op::sample,
          [](victim&, node_id, auto& node) { node.attributes.count = 999; }),
      of_code(
          "an assertion without a message", op::assert_,
          [](victim&, node_id, auto& node) { node.attributes.subject = 999; }),
      of_code(
          "a reduction by an unknown operation", op::reduce,
          [](victim&, node_id, auto& node) { node.attributes.operation = op(999); }),
      of_code(
          "a reduction by one operand", op::reduce,
          [](victim&, node_id, auto& node) { node.attributes.operation = op::sin; }),
      of_code(
          "a reduction by a structural operation", op::reduce,
          [](victim&, node_id, auto& node) { node.attributes.operation = op::at; }),
      of_code(
          "a reduction started, or not", op::reduce,
          [](victim&, node_id, auto& node) { node.attributes.flags ^= attributes::started; }),
      of_node(
          "flags without a meaning", is_plain,
          [](victim&, node_id, auto& node) { node.attributes.flags = 4; }),
      of_node(
          "a subject without a meaning", is_plain,
          [](victim&, node_id, auto& node) { node.attributes.subject = 0; }),
      of_node(
          "indices without a meaning", has_regions,
          [](victim&, node_id, auto& node) { node.attributes.count = 1; }),
      of_node(
          "an operation without a meaning", is_plain,
          [](victim&, node_id, auto& node) { node.attributes.operation = op::add; }),
      of_node(
          "an effect without a meaning", is_plain,
          [](victim&, node_id, auto& node) { node.attributes.effects = overdub::effect::ordered; }),
      of_node("an unknown place", [](victim&, node_id, auto& node) { node.place = place_id{99}; }),
      of_value("an unknown name", any_value, [](victim&, value_id, auto& v) { v.name = symbol{999}; }),
      of_value(
          "a literal's name", any_literal, [](victim& x, value_id, auto& v) { v.name = x.p.intern("one"); }),
      {"the same name twice",
       [](victim& x) {
         value_id v, w;
         auto const fits = [](function const& g, value_id u) { return !g.is_literal(u); };
         if (!x.value(v, fits)) return false;
         function_id const f = x.f;
         if (!x.value(
                 w, [&](function const& g, value_id u) { return &g == &x.p[f] && u != v && fits(g, u); }))
           return false;
         x.edit().set_name(v, x.p.intern("x"));
         x.edit().set_name(w, x.p.intern("x"));
         return true;
       }},
      {"two functions of one name",
       [](victim& x) {
         x.p.functions.push_back(x.p.functions.front());
         return true;
       }},
      {"a function without a name", [](victim& x) { return x.p.functions.front().name = nothing, true; }},
      {"a function of an unknown name",
       [](victim& x) { return x.p.functions.front().name = symbol{999}, true; }},
      {"an unknown entry", [](victim& x) { return x.p.entry = function_id{77}, true; }},
      {"an unknown structure", [](victim& x) { return x.p.functions.front().structure = symbol{999}, true; }},
      {"a function at an unknown place",
       [](victim& x) { return x.p.functions.front().place = place_id{9}, true; }},
      {"a note at an unknown place",
       [](victim& x) { return x.p.notes.push_back({.text = "", .at = place_id{9}}), true; }},
      {"a bool of other bits",
       [](victim& x) {
         x.f = function_id{0};
         return x.edit().literal(boolean, 2), true;
       }},
      {"an f32 of too many bits",
       [](victim& x) {
         x.f = function_id{0};
         return x.edit().literal(f32, 1ull << 40), true;
       }},
      {"a literal array",
       [](victim& x) {
         x.f = function_id{0};
         return x.edit().literal(f64s, 0), true;
       }},
  };
}

} // namespace

TEST_CASE("wrong types and operands are reported") { all_are_reported(types_and_operands()); }
TEST_CASE("wrong order and wrong regions are reported") { all_are_reported(order_and_regions()); }
TEST_CASE("wrong names, callees, attributes and literals are reported") { all_are_reported(words()); }

TEST_CASE("each kind of corruption has a unique name") {
  std::vector<std::string> names;
  for (auto const& group : {types_and_operands(), order_and_regions(), words()})
    for (auto const& c : group) names.push_back(c.name);
  std::sort(names.begin(), names.end());
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
}
