// Run by g++: each of its contexts has tables of all operations.
// Contexts and programs: a context changes what it intercepts and nothing else, and it observes the same whether a program is run in the
// context, or rewritten by it and then executed. The ordinary run has 2,000 pairs of a random program and a context;
// OVERDUB_CONTEXT_PAIRS=100000, or scripts/test --long, runs more.
#include "laws/functions.hpp"
#include "laws/support/executors.hpp"
#include "pass/laws.hpp"

#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/stage/evaluate.hpp>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace overdub;

inline constexpr auto not_called = fn<"not_called">([](auto x) { return x; });

// Intercepts an operation that the programs do not have.
struct elsewhere : context {
  static constexpr std::string_view name = "elsewhere";
  auto overdub(decltype(not_called), auto x) { return x; }
  void before(decltype(not_called), auto const&...) {}
};

// Replaces F by G.
template <class F, class G>
struct replace : context {
  static constexpr std::string_view name = "replace";
  auto overdub(F, auto x, auto y) { return G{}(x, y); }
};
struct sine_is_cosine : context {
  static constexpr std::string_view name = "sine_is_cosine";
  auto overdub(sin_t, auto x) { return overdub::cos(x); }
};

// The observations of a context: the operations, their arguments and their results.
using events = std::vector<std::string>;
void note(events& all, std::string_view what, auto const&... x) {
  [[maybe_unused]] auto const number = [](double y) {
    return std::isnan(y) ? "nan" : std::to_string(y);
  }; // a NaN's sign is unspecified
  std::string text(what);
  ((text += ' ' + number(static_cast<double>(x))), ...);
  all.push_back(std::move(text));
}
template <class... F>
struct observe : context {
  static constexpr std::string_view name = "observe";
  events seen;
  template <class G>
  requires(std::same_as<G, F> || ...) void before(G const& f, auto const&... x) {
    note(seen, f.name(), x...);
  }
};
struct observe_all : context {
  static constexpr std::string_view name = "observe";
  events seen;
  void before(elementwise auto f, auto const&... x) { note(seen, f.name(), x...); }
  void after(elementwise auto f, auto const& result, auto const&...) { note(seen, f.name(), result); }
  void failed(elementwise auto f, std::exception_ptr, auto const&... x) { note(seen, f.name(), x...); }
};
// Calls of functions, with their results or failures.
struct observe_functions : context {
  static constexpr std::string_view name = "observe";
  events seen;
  void before(function auto f, auto const&... x) { note_values(f.name(), x...); }
  void after(function auto f, auto const& result, auto const&... x) { note_values(f.name(), result, x...); }
  void failed(function auto f, std::exception_ptr, auto const&... x) { note_values(f.name(), x...); }

private:
  void note_values(std::string_view f, auto const&... x) { note(seen, f, number_of(x)...); }
  template <class X>
  static double number_of(X const& x) {
    if constexpr (requires { x.visit([](auto const&) {}); })
      return x ? x.visit([](auto const& held) { return number_of(held); }) : -1.0;
    else if constexpr (std::is_arithmetic_v<X>)
      return static_cast<double>(x);
    else
      return static_cast<double>(x.size());
  }
};
// Combines both: the rule first, then the operations that it calls.
struct observed_rule : observe<max_t, mul_t, add_t> {
  using observe::before;
  auto overdub(mul_t, auto x, auto y) { return max(x, y); }
};

std::string without_suffix(std::string text, std::string const& suffix) {
  for (auto at = text.find(suffix); at != std::string::npos; at = text.find(suffix, at))
    text.erase(at, suffix.size());
  return text;
}
// Runs directly, staged in the context, and staged before.
template <class C, class F, class... A>
void means_the_same(F const& f, A... a) {
  INFO(F::name());
  C context;
  double const direct = overdub::overdub(context, f, a...);
  CHECK(evaluate<double>(stage(context, f, signature<A...>), a...) == direct);
  CHECK(evaluate<double>(overdub::overdub(context, stage(f, signature<A...>)), a...) == direct);
}

// The functions that the entry reaches, in canonical form.
ir::program canonical(ir::program p) {
  std::vector<bool> reached(p.functions.size());
  std::vector<ir::function_id> left{p.entry};
  while (!left.empty()) {
    ir::function_id const id = left.back();
    left.pop_back();
    if (reached[index_of(id)]) continue;
    reached[index_of(id)] = true;
    for (std::uint32_t n = 0; n < p[id].node_count(); ++n)
      if (auto const& node = p[id][ir::node_id{n}];
          node.parent != ir::nothing && (node.code == ir::op::call || node.code == ir::op::closure))
        left.push_back(node.attributes.callee());
  }
  for (std::uint32_t i = 0; i < reached.size(); ++i)
    if (!reached[i] && !p.is_erased(ir::function_id{i})) p.erase(ir::function_id{i});
  pass::canonicalise(p);
  return p;
}
std::string text_in(auto context, ir::program const& p) {
  return without_suffix(ir::print(overdub::overdub(context, p)), std::string(".").append(context.name));
}

template <class F, class... A>
void keeps_form(functions::item<F, A...> const& each) {
  INFO(F::name());
  ir::program const plain = stage(each.f, each.arguments);
  CHECK(
      without_suffix(ir::print(stage(elsewhere{}, each.f, each.arguments)), ".elsewhere") ==
      ir::print(plain));
  CHECK(text_in(elsewhere{}, plain) == ir::print(plain));
}

ir::program random_program_of(std::uint64_t seed) {
  random_program::options o = random_program::any_options(seed);
  return random_program::without_signs(random_program::make(seed, o));
}
std::uint64_t number_in(char const* variable, std::uint64_t otherwise) {
  char const* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}
executors::arguments arguments(std::uint64_t seed) {
  random_program::random_numbers random(seed);
  auto number = [&] { return static_cast<double>(random.below(64)) / 8 - 4; };
  auto row = [&] { return array<double>{number(), number(), number()}; };
  auto integer = [&] { return static_cast<i64>(random.below(5)) - 1; };
  executors::arguments all;
  all.emplace_back(static_cast<i64>(random.below(3)));
  all.emplace_back(number());
  all.emplace_back(random.chance(50));
  all.emplace_back(row());
  all.emplace_back(array<i64>{integer(), integer(), integer()});
  all.emplace_back(array<array<double>>{row(), row(), row()});
  all.emplace_back(1.5f);
  return all;
}

// The first event that differs.
std::string difference(int, int) { return {}; }
std::string difference(events const& run, events const& way) {
  std::size_t i = 0;
  while (i < run.size() && i < way.size() && run[i] == way[i]) ++i;
  auto const text = [&](events const& all) { return i < all.size() ? all[i] : "none"; };
  return "; event " + std::to_string(i) + " is " + text(way) + ", and " + text(run) + " in the run";
}

// Evaluates a program on values of the context.
template <class C>
executors::outcome run_in(C& context, ir::program const& p, executors::arguments const& a) {
  return executors::outcome_of([&] {
    detail::run_lifetime<C> const run;
    auto const stack = detail::make_run_stack<types<>>(run.get(), overdub::stack<>{}, context);
    using S = std::remove_const_t<decltype(stack)>;
    std::vector<detail::cell<S>> cells;
    for (datum const& d : a)
      cells.push_back(detail::with_type(d.type(), [&]<class T>(std::type_identity<T>) {
        return detail::cell<S>(detail::wrap(stack, d.as<T>()));
      }));
    std::vector<datum> results;
    for (auto const& c : detail::evaluation<S>::run(p, stack, detail::entry_of(p), cells))
      results.push_back(c.visit([](auto const& x) { return datum(concrete(x)); }));
    return results;
  });
}

// The program is evaluated in the context, and the rewritten program runs on all executors.
template <class C>
bool agree_in(ir::program const& p, std::uint64_t seed) {
  auto const a = arguments(seed);
  C context;
  auto const seen = [&] {
    if constexpr (requires { context.seen; })
      return std::exchange(context.seen, {});
    else
      return 0;
  };
  auto const expected = run_in(context, p, a);
  auto const events_of_run = seen();
  ir::program const rewritten = overdub::overdub(context, p);
  for (auto const& way : executors::all()) {
    if (seed % way.every != 0 || way.name.find("printed") != std::string_view::npos) continue;
    auto const given = way.run(rewritten, a, seed);
    auto const events_of_way = seen();
    INFO("random program " << seed << ", " << way.name << ", in " << type_name<C>());
    bool const right = executors::agrees(way, expected, given) && events_of_run == events_of_way;
    if (right) continue;
    FAIL(
        "the program returns " << executors::text_of(given) << ", and the run in the context "
                               << executors::text_of(expected) << difference(events_of_run, events_of_way)
                               << "\n"
                               << ir::print(p));
  }
  return expected.thrown.empty();
}

} // namespace

TEST_CASE("a context that intercepts no operation of a function stages the same program as without it") {
  std::apply([](auto const&... each) { (keeps_form(each), ...); }, functions::all);
}

TEST_CASE("a context that intercepts no operation of a program leaves it unchanged") {
  for (std::uint64_t seed = 1; seed < laws::seeds(2'000); ++seed) {
    ir::program const p = random_program_of(seed);
    if (detail::has_functions_in_data(p)) continue;
    INFO("random program " << seed);
    REQUIRE(text_in(elsewhere{}, p) == ir::print(canonical(p)));
  }
}

TEST_CASE("a rule that does not commute has the same result in a run, and in programs staged before or in "
          "the context") {
  using subtracts = replace<mul_t, sub_t>;
  means_the_same<subtracts>(functions::square, 3.0);
  means_the_same<subtracts>(functions::poly, 0.75);
  means_the_same<subtracts>(functions::logistic, 0.75);
  means_the_same<subtracts>(functions::density, 0.75, 0.5, 2.0);
  means_the_same<subtracts>(functions::rounding, 2.75);
  means_the_same<subtracts>(functions::extremes, 0.75, -0.5);
  means_the_same<subtracts>(functions::fused, 0.75, -0.5, 2.0);
}

TEST_CASE("a context rewrites the operation of its rule, and no other") {
  for (std::uint64_t seed = 1; seed < laws::seeds(2'000); ++seed) {
    ir::program const p = random_program_of(seed);
    if (detail::has_functions_in_data(p)) continue;
    std::string text = ir::print(p);
    for (auto found = text.find(" = sin "); found != std::string::npos; found = text.find(" = sin "))
      text.replace(found, 7, " = cos ");
    INFO("random program " << seed);
    REQUIRE(text_in(sine_is_cosine{}, p) == ir::print(canonical(ir::parse(text))));
  }
}

TEST_CASE(
    "a program that runs in a context, and the program that it rewrites, have equal values and events") {
  std::uint64_t const count = number_in("OVERDUB_CONTEXT_PAIRS", laws::seeds(2'000));
  auto const ends = [](ir::program const& p, std::uint64_t seed) {
    return reference::run(p, laws::arguments(seed), 5'000).has_value();
  };
  std::uint64_t pairs = 0;
  for (std::uint64_t seed = 1; pairs < count; ++seed) {
    random_program::options o = random_program::any_options(seed);
    o.effects = o.samples = false;
    ir::program const p = random_program::without_signs(random_program::make(seed, o));
    if (!ends(p, seed)) continue;
    pairs += agree_in<observe<add_t, mul_t, min_t>>(p, seed);
    pairs += agree_in<observe_all>(p, seed);
    pairs += agree_in<observe_functions>(p, seed);
    // With another operation a loop may not end.
    if (!ends(overdub::overdub(replace<mul_t, sub_t>{}, p), seed)) continue;
    pairs += agree_in<replace<mul_t, sub_t>>(p, seed);
    pairs += agree_in<observed_rule>(p, seed);
  }
  CHECK(pairs >= count);
}
