// The storage of valid programs is corrupted at random places: the verifier reports it, and never leaves the storage, which
// the address sanitizer checks.
#include "ir/corruption.hpp"
#include "ir/invariants.hpp"

namespace {

using namespace corrupt;
using samples::invariants;

std::vector<corruption> links() {
  auto const has_next = [](function const& f, node_id n) { return f[n].next != nothing; };
  auto const has_result = [](function const& f, node_id n) { return f[n].result_count > 0; };
  auto const has_operand = [](function const& f, node_id n) { return f[n].operand_count > 0; };
  return {
      of_node(
          "followed by nothing that exists", [](victim&, node_id, auto& node) { node.next = node_id{9999}; }),
      of_node("followed by itself", [](victim&, node_id n, auto& node) { node.next = n; }),
      of_node(
          "followed by the first",
          [](victim& x, node_id, auto& node) { node.next = x.in()[node.parent].first; }),
      of_node(
          "followed by nothing too early", has_next,
          [](victim&, node_id, auto& node) { node.next = nothing; }),
      of_node(
          "something left out", has_next,
          [](victim& x, node_id, auto& node) { node.next = x.in()[node.next].next; }),
      of_node(
          "after nothing that exists", [](victim&, node_id, auto& node) { node.previous = node_id{9999}; }),
      of_node("after itself", [](victim&, node_id n, auto& node) { node.previous = n; }),
      of_node("in no region", [](victim&, node_id, auto& node) { node.parent = nothing; }),
      of_node(
          "in a region that does not exist",
          [](victim&, node_id, auto& node) { node.parent = region_id{9999}; }),
      of_node(
          "in its own region", has_regions,
          [](victim&, node_id, auto& node) { node.parent = region_id{node.first_region}; }),
      of_node(
          "inside of itself", has_regions,
          [](victim& x, node_id n, auto& node) { region_of(x, region_id{node.first_region}).first = n; }),
      of_node(
          "erased, and there",
          [](victim& x, node_id n, auto& node) {
            region_id const r = node.parent;
            x.edit().erase(n);
            storage::nodes(x.in())[index_of(n)].parent = r;
          }),
      of_region(
          "a region that begins with nothing that exists",
          [](victim&, region_id, auto& r) { r.first = node_id{9999}; }),
      of_region("a region that begins with nothing", [](victim&, region_id, auto& r) { r.first = nothing; }),
      of_region(
          "a region that ends with nothing that exists",
          [](victim&, region_id, auto& r) { r.last = node_id{9999}; }),
      of_region("a region that ends with nothing", [](victim&, region_id, auto& r) { r.last = nothing; }),
      of_region(
          "a region of an operation that does not exist",
          [](victim&, region_id, auto& r) { r.parent = node_id{9999}; }),
      of_region(
          "a region of its own first operation", [](victim&, region_id, auto& r) { r.parent = r.first; }),
      of_region(
          "arguments that do not exist",
          [](victim&, region_id, auto& r) { r.first_argument = 9999, r.argument_count = 1; }),
      of_region(
          "more arguments than a number can count",
          [](victim&, region_id, auto& r) { r.argument_count = ~0u; }),
      of_region("another argument", [](victim&, region_id, auto& r) { ++r.argument_count; }),
      of_node(
          "operands that do not exist",
          [](victim&, node_id, auto& node) { node.first_operand = 9999, node.operand_count = 1; }),
      of_node(
          "more operands than a number can count",
          [](victim&, node_id, auto& node) { node.operand_count = ~0u; }),
      of_node(
          "operands of another operation", has_operand,
          [](victim&, node_id, auto& node) { ++node.first_operand; }),
      of_node(
          "an operand forgotten", has_operand, [](victim&, node_id, auto& node) { --node.operand_count; }),
      of_node(
          "results that do not exist",
          [](victim&, node_id, auto& node) { node.first_result = 9999, node.result_count = 1; }),
      of_node(
          "more results than a number can count",
          [](victim&, node_id, auto& node) { node.result_count = ~0u; }),
      of_node(
          "results of another operation", has_result,
          [](victim&, node_id, auto& node) { ++node.first_result; }),
      of_node("a result forgotten", has_result, [](victim&, node_id, auto& node) { --node.result_count; }),
      of_node(
          "regions that do not exist",
          [](victim&, node_id, auto& node) { node.first_region = 9999, node.region_count = 1; }),
      of_node(
          "the body as a region",
          [](victim&, node_id, auto& node) { node.first_region = 0, node.region_count = 1; }),
      of_node("a region forgotten", has_regions, [](victim&, node_id, auto& node) { --node.region_count; }),
      of_node("a region more", [](victim&, node_id, auto& node) { ++node.region_count; }),
      of_node(
          "regions of another operation", has_regions,
          [](victim&, node_id, auto& node) { ++node.first_region; }),
      of_value("from an unknown origin", any_value, [](victim&, value_id, auto& v) { v.from = origin(7); }),
      of_value(
          "from another origin", any_value,
          [](victim&, value_id, auto& v) {
            v.from = v.from == origin::result ? origin::argument : origin::result;
          }),
      of_value(
          "a literal of what was computed", [](auto& f, value_id v) { return !f.is_literal(v); },
          [](victim&, value_id, auto& v) { v.from = origin::literal; }),
      of_value("made by nothing that exists", any_value, [](victim&, value_id, auto& v) { v.maker = 9999; }),
      of_value(
          "made by another", [](auto& f, value_id v) { return !f.is_literal(v); },
          [](victim&, value_id, auto& v) { ++v.maker; }),
      of_value(
          "another index", [](auto& f, value_id v) { return !f.is_literal(v); },
          [](victim&, value_id, auto& v) { ++v.index; }),
      of_value(
          "used, and not", [](auto& f, value_id v) { return f.is_used(v); },
          [](victim&, value_id, auto& v) { v.first_use = nothing; }),
      of_value(
          "not used, and used", [](auto& f, value_id v) { return !f.is_used(v); },
          [](victim&, value_id, auto& v) { v.first_use = use_id{0}; }),
      of_value(
          "used by nothing that exists", any_value,
          [](victim&, value_id, auto& v) { v.first_use = use_id{9999}; }),
      of_use("a use of nothing that exists", [](victim&, use_id, auto& u) { u.value = value_id{9999}; }),
      of_use(
          "a use of another value",
          [](victim& x, use_id, auto& u) {
            u.value = value_id{(index_of(u.value) + 1) % x.in().value_count()};
          }),
      of_use("a use by nothing that exists", [](victim&, use_id, auto& u) { u.user = node_id{9999}; }),
      of_use(
          "a use by another",
          [](victim& x, use_id, auto& u) { u.user = node_id{(index_of(u.user) + 1) % x.in().node_count()}; }),
      of_use("a list of uses that is a ring", [](victim&, use_id u, auto& use) { use.next = u; }),
      of_use("a list of uses that ends nowhere", [](victim&, use_id, auto& use) { use.next = use_id{9999}; }),
      of_use(
          "a list of uses that goes on elsewhere",
          [](victim& x, use_id u, auto& use) {
            use.next = use_id{(index_of(u) + 1) % x.in().use_count()};
            if (x.in()[use.next].value == use.value) use.next = use_id{9999};
          }),
      of_use(
          "a use after nothing that exists", [](victim&, use_id, auto& use) { use.previous = use_id{9999}; }),
      of_value(
          "a literal that is not found", any_literal,
          [](victim& x, value_id v, auto& value) {
            storage::literal_of(x.in()).erase({value.type, x.in().bits_of(v)});
          }),
      of_value(
          "a literal that finds another value", any_literal,
          [](victim& x, value_id v, auto& value) {
            storage::literal_of(x.in())[{value.type, x.in().bits_of(v)}] = value_id{0};
            if (index_of(v) == 0) value.maker = 9999;
          }),
      of_value(
          "a literal of other bits", any_literal,
          [](victim& x, value_id v, auto&) { storage::literals(x.in())[x.in()[v].maker] ^= 1; }),
      of_value(
          "a literal without bits", any_literal,
          [](victim& x, value_id, auto&) { storage::literals(x.in()).pop_back(); }),
      of_value(
          "bits without a literal", any_literal,
          [](victim& x, value_id, auto&) { storage::literals(x.in()).push_back(0); }),
      {"values cut off", [](victim& x) { return storage::values(x.p.functions.back()).pop_back(), true; }},
      {"operations cut off", [](victim& x) { return storage::nodes(x.p.functions.back()).pop_back(), true; }},
      {"uses cut off", [](victim& x) { return storage::uses(x.p.functions.back()).pop_back(), true; }},
      {"regions cut off", [](victim& x) { return storage::regions(x.p.functions.back()).pop_back(), true; }},
      {"no regions at all", [](victim& x) { return storage::regions(x.p.functions.back()).clear(), true; }},
      {"a text that is not found",
       [](victim& x) { return storage::symbol_of(x.p).erase(x.p.name_of(function_id{0}).data()), true; }},
      {"texts cut off", [](victim& x) { return storage::texts(x.p).clear(), true; }},
      {"a type of functions inside itself",
       [](victim& x) {
         type const t = x.p.function_type({.parameters = {f64}, .results = {i64}});
         storage::signatures(x.p)[t.index].parameters[0] = t;
         return true;
       }},
      {"an unknown convention",
       [](victim& x) {
         type const t = x.p.function_type({.parameters = {f64}, .results = {i64}});
         storage::signatures(x.p)[t.index].calls = convention(9);
         return true;
       }},
      {"objects without a name",
       [](victim& x) {
         (void)x.p.opaque_type("object");
         return storage::opaque(x.p).back() = symbol{999}, true;
       }},
      {"a type of functions twice",
       [](victim& x) {
         (void)x.p.function_type({.parameters = {f64}, .results = {i64}});
         return storage::signatures(x.p).push_back(storage::signatures(x.p).back()), true;
       }},
      {"a native function of no name",
       [](victim& x) {
         x.p.hosts.push_back({.name = symbol{999}, .run = [](void*, void const* const*, void* const*) {}});
         return true;
       }},
      {"a native function that is none",
       [](victim& x) { return x.p.hosts.push_back({.name = symbol{0}}), true; }},
      {"a ring of places",
       [](victim& x) {
         place_id const at = x.p.add_place("a.cpp", 1);
         return storage::places(x.p).back().next = at, true;
       }},
      {"a place in no file",
       [](victim& x) {
         (void)x.p.add_place("a.cpp", 1);
         return storage::places(x.p).back().file = symbol{999}, true;
       }},
  };
}

} // namespace

TEST_CASE("broken storage is reported, and not dereferenced") { all_are_reported(links()); }

// With random words in the storage, the verifier terminates, and what it accepts is consistent.
TEST_CASE("with random words in the storage, the verifier never leaves it") {
  std::vector<program> const valid = all();
  std::size_t accepted = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    victim x(valid[seed % valid.size()], seed);
    for (std::size_t i = x.below(3) + 1; i-- > 0;) {
      function& f = x.p.functions[x.below(x.p.functions.size())];
      auto const word = [&]() -> std::uint32_t {
        std::size_t const kind = x.below(4);
        return static_cast<std::uint32_t>(kind == 0 ? ~0u : kind == 1 ? x.below(5000) : x.below(12));
      };
      auto& node = storage::nodes(f)[x.below(f.node_count())];
      auto& region = storage::regions(f)[x.below(f.region_count())];
      auto& value = storage::values(f)[x.below(f.value_count())];
      std::size_t const field = x.below(22);
      if (f.use_count() == 0) continue;
      auto& use = storage::uses(f)[x.below(f.use_count())];
      std::uint32_t* const words[] = {&node.first_region,      &node.first_operand, &node.operand_count,
                                      &node.first_result,      &node.result_count,  &region.first_argument,
                                      &region.argument_count,  &value.maker,        &value.index,
                                      &node.attributes.subject};
      if (field < 10) *words[field] = word();
      if (field == 10) node.parent = region_id{word()};
      if (field == 11) node.previous = node_id{word()};
      if (field == 12) node.next = node_id{word()};
      if (field == 13) region.parent = node_id{word()};
      if (field == 14) region.first = node_id{word()};
      if (field == 15) region.last = node_id{word()};
      if (field == 16) value.first_use = use_id{word()};
      if (field == 17) use.value = value_id{word()};
      if (field == 18) use.user = node_id{word()};
      if (field == 19) use.next = use_id{word()};
      if (field == 20) use.previous = use_id{word()};
      if (field == 21) node.code = op(static_cast<std::uint16_t>(word()));
    }
    if (!faults_of(x.p).empty()) continue;
    ++accepted; // the word was unchanged, or is not read
    for (function const& f : x.p.functions) REQUIRE(invariants::broken(f) == "");
  }
  CHECK(accepted < 1000);
}
