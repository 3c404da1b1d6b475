// Programs that the verifier accepts, and a violation of each of its rules. Broken storage is in corruption.cpp.
#include "catch.hpp"
#include "ir/samples.hpp"

#include <overdub/ir/verify.hpp>

#include <string>

namespace {

using namespace samples;
using Catch::Matchers::Contains;
using overdub::effect;

std::string faults(program const& p) {
  std::string text;
  for (auto const& d : faults_of(p)) text.append(text.empty() ? "" : "\n").append(d.text);
  return text;
}

// A function @f of these parameters and results, in a new program.
template <class Fill>
std::string faults(types const& parameters, types const& results, Fill body) {
  program p;
  define(p, "f", parameters, results, body);
  return faults(p);
}

// An operation with regions, by the types of its operands, of its regions' arguments and yields, and of its results.
struct shape {
  op code;
  types operands;
  std::vector<types> takes;
  std::vector<types> yields;
  types results;
  attributes says = {};
};
std::string faults(shape const& s) {
  types parameters = s.operands;
  for (auto const& list : s.yields) parameters.insert(parameters.end(), list.begin(), list.end());
  return faults(parameters, {}, [&](cursor& c, values x) {
    std::size_t used = s.operands.size();
    values const operands(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(used));
    node_id const n = with_regions(c, s.code, operands, s.results, s.takes, s.says);
    for (std::uint32_t i = 0; i < s.takes.size(); ++i)
      fill(c, c->region_at(n, i), [&](cursor&, values) {
        auto const first = x.begin() + static_cast<std::ptrdiff_t>(used);
        used += s.yields[i].size();
        return values(first, first + static_cast<std::ptrdiff_t>(s.yields[i].size()));
      });
    return values{};
  });
}

} // namespace

TEST_CASE("valid programs have no faults") {
  CHECK(faults(program()) == "");
  for (program const& p : all()) {
    CHECK(faults(p) == "");
    CHECK_NOTHROW(verify(p));
  }
}

TEST_CASE("functions have unique names") {
  program p = norm();
  p.functions[1].name = p.functions[0].name;
  CHECK(faults(p) == "@square: another function has the same name; rename one of them");
  p.functions[1].name = p.intern("");
  CHECK(faults(p) == "@: its name is empty; give it one");
  p.functions[1].name = symbol{999};
  CHECK_THAT(faults(p), Contains("function 1: its name does not exist; give it a text of the program"));
  p.functions[2].name = nothing;
  CHECK_THAT(faults(p), Contains("function 2: it has operations, and no name; name it, or erase it"));
}

TEST_CASE("the entry is a function of the program, or none") {
  program p = norm();
  std::string const text =
      "the program's entry is a function that does not exist; set it to one that does, or to nothing";
  p.entry = nothing;
  CHECK(faults(p) == "");
  p.entry = function_id{3};
  CHECK(faults(p) == text);
  p.entry = p.add("gone", types{});
  p.erase(p.entry);
  CHECK(faults(p) == text);
}

TEST_CASE("bodies and regions end with a yield, and have no other one") {
  program p;
  cursor c(p, p.add("f", types{f64, boolean}), function::body);
  value_id const x = c->argument(function::body, 0);
  CHECK(faults(p) == "@f: the body does not end with a yield; add one after its last operation");
  node_id const branch = with_regions(c, op::if_, {c->argument(function::body, 1)}, {}, {{}, {}});
  c.yield({});
  CHECK(
      faults(p) ==
      "@f: operation 0 (if): region 1 does not end with a yield; add one after its last operation\n"
      "@f: operation 0 (if): region 2 does not end with a yield; add one after its last operation");
  for (std::uint32_t i = 0; i < 2; ++i)
    fill(c, c->region_at(branch, i), [](cursor&, values) { return values{}; });
  CHECK(faults(p) == "");
  c.to_before(branch);
  c.yield({});
  CHECK_THAT(faults(p), Contains("a yield ends its region, and an operation follows it"));
  c.erase(c->operands_of(branch).size() == 1 ? (*c)[branch].previous : branch);
  c.to_end(function::body);
  c.add(op::sin, x);
  CHECK_THAT(faults(p), Contains("the body does not end with a yield"));
}

TEST_CASE("a function returns its declared types") {
  CHECK(faults({f64}, {i64}, [](cursor&, values x) {
          return x;
        }) == "@f: operation 0 (yield): the function returns (f64), and declares (i64); change either");
  CHECK_THAT(faults({f64}, {}, [](cursor&, values x) { return x; }), Contains("declares ()"));
}

TEST_CASE("definitions dominate uses") {
  CHECK(
      faults(
          {f64}, {f64},
          [](cursor& c, values x) {
            value_id const y = c.add(op::sin, x[0]);
            value_id const z = c.add(op::cos, x[0]);
            c.set_name(y, c.owner().intern("y"));
            c.set_operand(c->node_of(y), 0, z);
            return values{y};
          }) == "@f: operation 0 (%y = sin): operand 1 (value 2) is used before it is defined; move its "
                "definition in front");
  CHECK_THAT(
      faults(
          {f64}, {f64},
          [](cursor& c, values x) {
            value_id const y = c.add(op::sin, x[0]);
            c.set_operand(c->node_of(y), 0, y);
            return values{y};
          }),
      Contains("is used before it is defined"));
}

TEST_CASE("a value is used in its region, or in a nested one") {
  auto const branch = [](auto use) {
    return faults({f64, boolean}, {f64}, [&](cursor& c, values x) {
      node_id const n = with_regions(c, op::if_, {x[1]}, {f64}, {{}, {}});
      value_id inner = nothing;
      fill(c, c->region_at(n, 0), [&](cursor& in, values) { return values{inner = in.add(op::sin, x[0])}; });
      fill(c, c->region_at(n, 1), [&](cursor& in, values) { return values{use(in, n, x[0], inner, false)}; });
      return values{use(c, n, c->result(n), inner, true)};
    });
  };
  using id = value_id;
  CHECK(branch([](cursor&, node_id, id valid, id, bool) { return valid; }) == "");
  CHECK_THAT(
      branch([](cursor&, node_id, id valid, id inner, bool behind) { return behind ? inner : valid; }),
      Contains("operand 1 (value 3) belongs to a region that this operation is not nested in; let the region "
               "yield it"));
  CHECK_THAT(
      branch([](cursor&, node_id, id valid, id inner, bool behind) { return behind ? valid : inner; }),
      Contains("belongs to a region that this operation is not nested in"));
  CHECK_THAT(
      branch([](cursor& c, node_id n, id valid, id, bool behind) { return behind ? valid : c->result(n); }),
      Contains("is used inside the operation that defines it; it is available only after it"));
}

TEST_CASE("arguments are used in their region, in which parameters are visible too") {
  program p = loops();
  node_id loop = nothing, yield = p[p.entry].yield_of(function::body);
  walk(p[p.entry], function::body, [&](node_id n) {
    if (p[p.entry][n].code == op::loop) loop = n;
  });
  cursor c(p, p.entry);
  c.set_operand(yield, 0, c->argument(c->region_at(loop, 0), 1));
  CHECK_THAT(faults(p), Contains("belongs to a region that this operation is not nested in"));
}

TEST_CASE("erased values are not used") {
  program p;
  cursor c(p, p.add("f", types{f64, boolean}), function::body);
  value_id const x = c->argument(function::body, 0);
  value_id const y = c.add(op::sin, x);
  node_id const n = with_regions(c, op::if_, {c->argument(function::body, 1)}, {}, {{f64}, {}});
  value_id const argument = c->argument(c->region_at(n, 0), 0);
  c.erase(c->node_of(y));
  c.erase(n);
  node_id const user = c.insert(op::cos, {y});
  c.yield({});
  CHECK_THAT(
      faults(p),
      Contains("operand 1 (value 2) comes from an operation that was erased; substitute it before"));
  c.set_operand(user, 0, argument);
  CHECK_THAT(faults(p), Contains("is an argument of a region that was erased; substitute it before"));
}

TEST_CASE("operands and results have the types of the operation's rule") {
  CHECK(
      faults(
          {f64, i64}, {},
          [](cursor& c, values x) {
            values const both{x[0], x[1]};
            c.insert(op::mul, both, types{f64});
            return values{};
          }) == "@f: operation 0 (mul): mul: operand 2 is i64, and must be f64 like operand 1; convert the "
                "operand, or use "
                "another operation");
  auto const lt = [](types const& results) {
    return faults({f64}, {}, [&](cursor& c, values x) {
      values const both{x[0], x[0]};
      c.insert(op::lt, both, results);
      return values{};
    });
  };
  CHECK(lt({boolean}) == "");
  CHECK(lt({f64}) == "@f: operation 0 (lt): has results (f64), and must have (bool)");
  CHECK(lt({}) == "@f: operation 0 (lt): has results (), and must have (bool)");
  CHECK(lt({boolean, boolean}) == "@f: operation 0 (lt): has results (bool, bool), and must have (bool)");
}

TEST_CASE("an operation has the required number of regions") {
  CHECK(
      faults({op::if_, {boolean}, {{}}, {{}}, {}}) ==
      "@f: operation 0 (if): it has 1 region, and must have 2");
  CHECK_THAT(faults({op::sin, {f64}, {{}}, {{}}, {f64}}), Contains("it has 1 region, and must have 0"));
  CHECK_THAT(faults({op::reduce, {f64s}, {}, {}, {f64}}), Contains("it has 0 regions, and must have 1"));
  CHECK_THAT(
      faults({op::reduce, {f64s}, {{f64, f64}}, {{f64}}, {f64}, attributes::of(op::add)}),
      Contains("it has 1 region, and must have 0"));
}

TEST_CASE("both branches of an if yield its results, and take no arguments") {
  CHECK(faults({op::if_, {boolean}, {{}, {}}, {{f64}, {f64}}, {f64}}) == "");
  CHECK(
      faults({op::if_, {boolean}, {{}, {}}, {{f64}, {i64}}, {f64}}) ==
      "@f: operation 0 (if): region 2 yields (i64), and must yield (f64)");
  CHECK_THAT(
      faults({op::if_, {boolean}, {{f64}, {}}, {{}, {}}, {}}),
      Contains("region 1 takes (f64), and must take ()"));
}

TEST_CASE("a loop has loop-carried values, and stacks the others") {
  CHECK(faults({op::loop, {i64, f64}, {{i64, f64}}, {{f64, i64}}, {f64, i64s}}) == "");
  CHECK(
      faults({op::loop, {i64, f64}, {{f64}}, {{f64}}, {f64}}) ==
      "@f: operation 0 (loop): its region takes (f64), and must take (i64, f64)");
  CHECK(
      faults({op::loop, {i64, f64}, {{i64, f64}}, {{i64}}, {f64}}) ==
      "@f: operation 0 (loop): its region yields (i64), and must first yield the loop-carried values, (f64)");
  CHECK_THAT(
      faults({op::loop, {i64, f64}, {{i64, f64}}, {{}}, {f64}}),
      Contains("must first yield the loop-carried values"));
  CHECK(
      faults({op::loop, {i64, f64}, {{i64, f64}}, {{f64, i64}}, {f64, i64}}) ==
      "@f: operation 0 (loop): has results (f64, i64), and must have (f64, i64[])");
}

TEST_CASE("a while has a condition and a body with its loop-carried values") {
  CHECK(faults({op::while_, {f64}, {{f64}, {f64}}, {{boolean}, {f64, i64}}, {f64, i64s}}) == "");
  CHECK_THAT(
      faults({op::while_, {f64}, {{}, {f64}}, {{boolean}, {f64}}, {f64}}),
      Contains("region 1 takes (), and must take (f64)"));
  CHECK_THAT(
      faults({op::while_, {f64}, {{f64}, {f64}}, {{f64}, {f64}}, {f64}}),
      Contains("region 1 yields (f64), and must yield (bool)"));
  CHECK_THAT(
      faults({op::while_, {f64}, {{f64}, {f64, f64}}, {{boolean}, {f64}}, {f64}}),
      Contains("region 2 takes (f64, f64), and must take (f64)"));
  CHECK_THAT(
      faults({op::while_, {f64}, {{f64}, {f64}}, {{boolean}, {i64}}, {f64}}),
      Contains("region 2 yields (i64), and must first yield the loop-carried values, (f64)"));
}

TEST_CASE("a map takes an index, and returns an array of each yielded value") {
  CHECK(faults({op::map, {i64}, {{i64}}, {{f64, f64s}}, {f64s, f64s.array_of()}}) == "");
  CHECK_THAT(faults({op::map, {i64}, {{}}, {{}}, {}}), Contains("its region takes (), and must take (i64)"));
  CHECK_THAT(
      faults({op::map, {i64}, {{i64}}, {{f64}}, {f64}}),
      Contains("has results (f64), and must have (f64[])"));
  type deep = f64;
  deep.rank = max_rank;
  CHECK_THAT(
      faults({op::map, {i64}, {{i64}}, {{deep}}, {f64}}), Contains("its result has more than 127 axes"));
}

TEST_CASE("a reduction's region combines two elements to one") {
  attributes const started{.flags = attributes::started};
  CHECK(faults({op::reduce, {f64s, i64s}, {{f64, i64, f64, i64}}, {{f64, i64}}, {f64, i64}}) == "");
  CHECK(faults({op::reduce, {f64s, f64}, {{f64, f64}}, {{f64}}, {f64}, started}) == "");
  CHECK_THAT(
      faults({op::reduce, {f64s}, {{f64}}, {{f64}}, {f64}}),
      Contains("its region takes (f64), and must take (f64, f64)"));
  CHECK_THAT(
      faults({op::reduce, {f64s}, {{f64, f64}}, {{f64, f64}}, {f64}}),
      Contains("its region yields (f64, f64), and must yield (f64)"));
  CHECK_THAT(
      faults({op::reduce, {f64s}, {{f64, f64}}, {{f64}}, {i64}}),
      Contains("has results (i64), and must have (f64)"));
}

TEST_CASE("a reduction's operation combines two elements") {
  CHECK(faults({op::reduce, {f64s}, {}, {}, {f64}, attributes::of(op::max)}) == "");
  for (op const code : {op::sin, op::fma, op::at})
    CHECK_THAT(
        faults({op::reduce, {f64s}, {}, {}, {f64}, attributes::of(code)}),
        Contains(
            std::string(name_of(code)) +
            " does not combine two elements; use an elementwise operation of two"));
  CHECK_THAT(
      faults({op::reduce, {f64s}, {}, {}, {f64}, attributes::of(op::lt)}),
      Contains("lt does not combine two f64"));
  CHECK_THAT(
      faults({op::reduce, {f64s}, {}, {}, {f64}, attributes::of(static_cast<op>(1000))}),
      Contains("the operation that combines does not exist"));
}

TEST_CASE("an accumulate returns its arrays, and the values that its region yields") {
  type const acc = f64s.accumulator();
  CHECK(faults({op::accumulate, {f64s}, {{acc}}, {{i64}}, {f64s, i64}}) == "");
  CHECK_THAT(
      faults({op::accumulate, {f64s}, {{f64s}}, {{}}, {f64s}}),
      Contains("its region takes (f64[]), and must take (acc f64[])"));
  CHECK_THAT(
      faults({op::accumulate, {f64s}, {{acc}}, {{i64}}, {f64s}}),
      Contains("has results (f64[]), and must have (f64[], i64)"));
}

TEST_CASE("a protect yields its results, and nothing on failure") {
  CHECK(faults({op::protect, {}, {{}, {}}, {{f64}, {}}, {f64}}) == "");
  CHECK_THAT(
      faults({op::protect, {}, {{}, {}}, {{f64}, {f64}}, {f64}}),
      Contains("region 2 yields (f64), and must yield ()"));
  CHECK_THAT(
      faults({op::protect, {}, {{}, {}}, {{}, {}}, {f64}}),
      Contains("region 1 yields (), and must yield (f64)"));
  CHECK_THAT(
      faults({op::protect, {}, {{}, {f64}}, {{}, {}}, {}}),
      Contains("region 2 takes (f64), and must take ()"));
}

namespace {

// The faults if `use` uses an accumulator of f64[].
template <class Use>
std::string faults_of_accumulator(Use use) {
  return faults({f64s, i64}, {f64s}, [&](cursor& c, values x) {
    node_id const n = with_regions(c, op::accumulate, {x[0]}, {f64s}, {{f64s.accumulator()}});
    fill(c, c->region_at(n, 0), [&](cursor& in, values acc) { return use(in, acc[0], x); });
    return values{c->result(n)};
  });
}
auto const only_added_to = Contains("is an accumulator, which only add_to takes, as its first operand");

} // namespace

TEST_CASE(
    "an accumulator is only an operand of add_to: it is not yielded, loop-carried, captured or passed") {
  CHECK(faults_of_accumulator([](cursor& c, value_id acc, values const& x) {
          c.insert(op::add_to, {acc, x[1], c.literal(1.0)});
          return values{};
        }) == "");
  CHECK_THAT(
      faults_of_accumulator([](cursor&, value_id acc, values const&) { return values{acc}; }), only_added_to);
  CHECK_THAT(
      faults_of_accumulator([](cursor& c, value_id acc, values const& x) {
        types const carried{c->type_of(acc)};
        node_id const n = with_regions(c, op::loop, {x[1], acc}, carried, {{i64, carried[0]}});
        fill(c, c->region_at(n, 0), [](cursor&, values a) { return values{a[1]}; });
        return values{};
      }),
      only_added_to);
  for (op const code : {op::host, op::closure, op::call, op::length, op::select})
    CHECK_THAT(
        faults_of_accumulator([&](cursor& c, value_id acc, values const&) {
          attributes const a =
              code == op::host ? attributes::of(c.owner().intern("h")) : attributes::of(c.id());
          c.insert(code, values{acc}, types{}, a);
          return values{};
        }),
        only_added_to);
  CHECK_THAT(
      faults_of_accumulator([](cursor& c, value_id acc, values const& x) {
        c.insert(op::add_to, values{acc, x[1], acc}, types{});
        return values{};
      }),
      only_added_to);
}

TEST_CASE("accumulators are arguments of the regions of accumulate alone") {
  type const acc = f64s.accumulator();
  std::string const only =
      "is an accumulator, and only the regions of accumulate have those; give it the array";
  CHECK(faults({acc}, {}, [](cursor&, values) { return values{}; }) == "@f: value 0 " + only);
  CHECK_THAT(faults({f64}, {acc}, [](cursor&, values x) { return x; }), Contains("@f: result 1 " + only));
  CHECK_THAT(faults({op::host, {}, {}, {}, {acc}}), Contains(only));
  CHECK_THAT(
      faults({op::map, {i64}, {{acc}}, {{}}, {}}),
      Contains("its region takes (acc f64[]), and must take (i64)"));
  program p;
  (void)p.function_type({.parameters = {acc}, .results = {}});
  CHECK_THAT(faults(p), Contains("type 0 of functions: a parameter is an accumulator"));
}

TEST_CASE("unused attributes of an operation are not checked") {
  std::string const text =
      "it has attributes that this operation does not use; leave them at their default values";
  auto const with = [](op code, attributes const& a) {
    program p;
    define(p, "f", {f64s}, {}, [&](cursor& c, values x) {
      values const given{x[0]};
      c.insert(code, given, types{code == op::reduce ? f64 : f64s}, a);
      return values{};
    });
    return faults(p);
  };
  CHECK(with(op::copy, {}) == "");
  CHECK_THAT(with(op::copy, attributes::of(function_id{0})), Contains(text));
  CHECK_THAT(with(op::copy, {.flags = 1}), Contains(text));
  CHECK_THAT(with(op::copy, {.count = 1}), Contains(text));
  CHECK_THAT(with(op::copy, {.operation = op::add}), Contains(text));
  CHECK_THAT(with(op::copy, {.effects = effect::ordered}), Contains(text));
  CHECK_THAT(with(op::copy, {.detail = symbol{0}}), Contains(text));
  CHECK_THAT(with(op::reduce, {.operation = op::add, .flags = attributes::in_lanes}), Contains(text));
  CHECK_THAT(faults({op::loop, {i64}, {{i64}}, {{}}, {}, {.flags = 2}}), Contains(text));
}

TEST_CASE("a reduction in order has an operation and an initial value") {
  auto const with = [](attributes const& a) {
    program p;
    define(p, "f", {f64s}, {}, [&](cursor& c, values x) {
      values operands{x[0]};
      if (a.is_started()) operands.push_back(c.literal(0.0));
      c.insert(op::reduce, operands, types{f64}, a);
      return values{};
    });
    return faults(p);
  };
  constexpr auto in_order = attributes::in_order, started = attributes::started;
  CHECK(with({.operation = op::sub, .flags = in_order | started}) == "");
  CHECK_THAT(
      with({.operation = op::add, .flags = in_order}),
      Contains("it combines in order, and has no initial value to start from; add one"));
  CHECK_THAT(
      with({.flags = in_order | started}),
      Contains("it combines in order, and by a region; use an operation, or a loop"));
}

TEST_CASE("calls and closures refer to functions of the program") {
  program p;
  function_id const gone = p.add("gone", types{});
  p.erase(gone);
  for (op const code : {op::call, op::closure})
    for (function_id const f : {gone, function_id{7}, function_id(nothing)}) {
      program q = p;
      define(q, "f", {}, {}, [&](cursor& c, values) {
        c.insert(code, values{}, types{}, attributes::of(f));
        return values{};
      });
      CHECK_THAT(faults(q), Contains("the function that it names does not exist; add it, or name another"));
    }
  define(p, "f", {f64}, {}, [&](cursor& c, values) {
    c.insert(op::call, values{}, types{}, attributes::of(function_id{1}));
    return values{};
  });
  CHECK_THAT(faults(p), Contains("call: @f takes 1 argument, and is given 0"));
}

TEST_CASE("the host, random choices and assertions have names, distributions, messages and effects") {
  auto const with = [](op code, auto says) {
    program p;
    define(p, "f", {i64, boolean}, {}, [&](cursor& c, values x) {
      values const given{code == op::assert_ ? x[1] : x[0]};
      c.insert(code, given, code == op::sample ? types{f64} : types{}, says(p));
      return values{};
    });
    return faults(p);
  };
  CHECK(with(op::host, [](program& p) { return attributes::of(p.intern("h")); }) == "");
  CHECK_THAT(
      with(op::host, [](program&) { return attributes{}; }),
      Contains("its name does not exist; give it a text of the program"));
  CHECK_THAT(
      with(op::host, [](program& p) { return attributes::of(p.intern("")); }),
      Contains("its name is empty; give it one"));
  CHECK_THAT(
      with(
          op::host,
          [](program& p) {
            attributes a = attributes::of(p.intern("h"));
            a.effects = static_cast<effect>(77);
            return a;
          }),
      Contains("it has an effect that does not exist; `ordered` is the strongest"));
  CHECK_THAT(
      with(op::assert_, [](program&) { return attributes{}; }),
      Contains("its message does not exist; give it a text of the program"));
  auto const sample = [](symbol name, symbol distribution, std::uint16_t indices) {
    return attributes{.subject = index_of(name), .detail = distribution, .count = indices};
  };
  CHECK(with(op::sample, [&](program& p) { return sample(p.intern("x"), p.intern("normal"), 1); }) == "");
  CHECK_THAT(
      with(op::sample, [&](program& p) { return sample(p.intern("x"), nothing, 1); }),
      Contains("its distribution has no name; give it a text of the program"));
  CHECK_THAT(
      with(op::sample, [&](program& p) { return sample(nothing, p.intern("normal"), 1); }),
      Contains("its name does not exist"));
  CHECK_THAT(
      with(op::sample, [&](program& p) { return sample(p.intern("x"), p.intern("normal"), 2); }),
      Contains("fewer operands than indices of its address"));
}

TEST_CASE("values of one function have unique names, which are not empty") {
  auto const named = [](char const* first, char const* second) {
    return faults({f64, f64}, {}, [&](cursor& c, values x) {
      c.set_name(x[0], c.owner().intern(first));
      c.set_name(x[1], c.owner().intern(second));
      return values{};
    });
  };
  CHECK(named("x", "y") == "");
  CHECK(
      named("x", "x") == "@f: %x is the name of another value, too; give one of them another name, or none");
  CHECK(named("x", "") == "@f: value 1 has an empty name; give it another, or none");
  CHECK_THAT(
      faults(
          {f64}, {},
          [](cursor& c, values x) {
            c.set_name(x[0], symbol{99});
            return values{};
          }),
      Contains("value 0 has a name that does not exist; give it a text of the program"));
  CHECK_THAT(
      faults(
          {}, {f64},
          [](cursor& c, values) {
            value_id const one = c.literal(1.0);
            c.set_name(one, c.owner().intern("one"));
            return values{one};
          }),
      Contains("%one is the name of a literal; literals have none"));
}

TEST_CASE("names may be used again in other functions, and after their value was erased") {
  program p;
  for (auto const name : {"f", "g"})
    define(p, name, {f64}, {f64}, [&](cursor& c, values x) {
      value_id const gone = c.add(op::sin, x[0]);
      c.set_name(gone, p.intern("y"));
      c.erase(c->node_of(gone));
      value_id const y = c.add(op::cos, x[0]);
      c.set_name(y, p.intern("y"));
      return values{y};
    });
  CHECK(faults(p) == "");
}

TEST_CASE("literals are numbers and bools, with the bits of their type") {
  auto const literal = [](type t, std::uint64_t bits) {
    return faults({}, {t}, [&](cursor& c, values) { return values{c.literal(t, bits)}; });
  };
  CHECK(literal(f64, ~0ull) == "");
  CHECK(literal(f32, 0xffffffff) == "");
  CHECK(literal(boolean, 2) == "@f: literal 0 is a bool of the bits of 2; true is 1, false is 0");
  CHECK(literal(f32, 1ull << 32) == "@f: literal 0 is an f32 of more than 32 bits; write its 32 bits");
  for (type const t : {f64s, key})
    CHECK_THAT(literal(t, 0), Contains("is no number and no bool; other types have no literals"));
}

TEST_CASE("every type is in the program's table") {
  auto const takes = [](type t) { return faults({t}, {}, [](cursor&, values) { return values{}; }); };
  CHECK(takes(type{}) == "@f: value 0 has no type; give it one");
  CHECK_THAT(takes({.element = scalar::f64, .index = 3}), Contains("has the type of a number with an index"));
  CHECK_THAT(
      takes({.element = scalar::function}),
      Contains("has the type of a function that is not in the program"));
  CHECK_THAT(
      takes({.element = scalar::opaque}),
      Contains("has the type of an opaque object that is not in the program"));
  CHECK_THAT(takes({.element = static_cast<scalar>(99)}), Contains("has a type that does not exist"));
  CHECK_THAT(
      faults({}, {type{}}, [](cursor&, values) { return values{}; }), Contains("result 1 has no type"));
  for (type const t : {boolean.array_of(), f64})
    CHECK_THAT(
        takes(t.accumulator()), Contains("is an accumulator of something that is no array of numbers"));
}

TEST_CASE("no type of functions contains itself, or a later one") {
  program p;
  (void)p.function_type({.parameters = {{.element = scalar::function, .index = 0}}, .results = {}});
  CHECK_THAT(
      faults(p), Contains("type 0 of functions: a parameter has the type of a function that is not in the "
                          "program"));
}

TEST_CASE("locations are in the program's table, and notes refer to them") {
  program p = norm();
  place_id const here = p.add_place("norm.cpp", 12);
  p[p.entry].place = here;
  p.notes.push_back({.text = "slow", .at = here});
  CHECK(faults(p) == "");
  p.notes.back().at = place_id{5};
  CHECK_THAT(
      faults(p), Contains("the note \"slow\" has a source location that does not exist; add that first"));
  p.notes.clear();
  p[p.entry].place = place_id{5};
  CHECK(faults(p) == "@run: its source location does not exist; add it to the program first");
  p[p.entry].place = nothing;
  cursor(p, p.entry).set_place_of(node_id{0}, place_id{5});
  CHECK_THAT(faults(p), Contains("its source location does not exist; add it to the program first"));
  cursor(p, p.entry).set_place_of(node_id{0}, nothing);
  p[p.entry].structure = symbol{999};
  CHECK_THAT(
      faults(p),
      Contains("@run: its structure is a text that does not exist; give it a text of the program"));
}

TEST_CASE("a fault has the source location, the function and the operation") {
  program p;
  place_id const here = p.add_place("norm.cpp", 12);
  function_id const f = define(p, "f", {f64}, {}, [&](cursor& c, values x) {
    c.set_place(here);
    c.insert(op::sin, values{x[0]}, types{i64});
    return values{};
  });
  auto const found = faults_of(p);
  REQUIRE(found.size() == 1);
  CHECK(found[0].text == "@f: operation 0 (sin): has results (i64), and must have (f64) (norm.cpp:12)");
  CHECK(found[0].where == f);
  CHECK(found[0].at == node_id{0});
  CHECK_THROWS_WITH(verify(p), "overdub: " + found[0].text);
}

TEST_CASE("faults are listed in the order of the program, all of them up to 100") {
  auto const wrong = [](int many) {
    program p;
    define(p, "f", {f64}, {}, [&](cursor& c, values x) {
      for (int i = 0; i < many; ++i) {
        c.to_start(function::body);
        c.insert(op::sin, values{x[0]}, types{i64});
      }
      c.to_end(function::body);
      return values{};
    });
    return p;
  };
  auto const found = faults_of(wrong(3));
  REQUIRE(found.size() == 3);
  CHECK(found[0].at == node_id{2});
  CHECK(found[2].at == node_id{0});
  CHECK(faults_of(wrong(250)).size() == 100);
  try {
    verify(wrong(3));
    FAIL("accepted");
  } catch (verify_error const& e) {
    CHECK(e.diagnostics.size() == 3);
  }
}
