// The law of contexts for functions of C++: each way to run a function in contexts has the same value and the same events.
#pragma once

#include "catch.hpp"
#include "laws/support/made_contexts.hpp"
#include "pass/laws.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/stage/evaluate.hpp>

#if OVERDUB_TESTS_JIT
#include <overdub/jit/executor.hpp>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <set>
#include <string>
#include <typeinfo>
#include <vector>

namespace context_law {

using namespace overdub;
using made_contexts::seen;
using random_function::f_entry;

inline constexpr auto arguments_of_entry = signature<double, double, array<double>>;

// Arguments of a composition with `Contexts` contexts with metadata: the metadata of one context are values of the inner ones, and
// have metadata there, too.
inline double metadata_of(double x) { return 0.5 * x - 1.0; }
inline array<double> metadata_of(array<double> const& row) {
  return overdub::map([](double x) { return metadata_of(x); }, row);
}
template <std::size_t Contexts, class T>
auto with_metadata(T const& x) {
  if constexpr (Contexts == 0)
    return x;
  else
    return tag(with_metadata<Contexts - 1>(x), with_metadata<Contexts - 1>(metadata_of(x)));
}
// The leaves of such an argument or result, in the order of a program.
template <class T>
auto leaves_of(T const& x) {
  return std::tuple(x);
}
template <class T, class M, class L>
auto leaves_of(tagged<T, M, L> const& x) {
  return std::tuple_cat(leaves_of(x.inner), leaves_of(x.metadata));
}
template <class... X>
auto leaves_of(std::tuple<X...> const& x) {
  return x;
}

// Appends a number, and the metadata of a tagged one.
void append_outcome(std::string& to, auto const& result) {
  std::apply(
      [&](auto const& x, auto const&... metadata) {
        made_contexts::append_text(to, x);
        // The sign of a tangent's zero is unspecified if the compiler knows the zero.
        (made_contexts::append_text(to, metadata + 0.0), ...);
      },
      leaves_of(result));
}

struct outcome {
  std::string value; // or the error
  std::vector<std::string> events;
};
template <class F>
outcome outcome_of(F const& f) {
  seen.clear();
  random_function::on_noted = [](double x) { made_contexts::note("host", "runs", "noted", x); };
  outcome made;
  try {
    append_outcome(made.value, f());
  } catch (std::domain_error const&) {
    made.value = "throws";
  } catch (error const& e) {
    made.value = e.what();
  }
  made.events = std::exchange(seen, {});
  return made;
}
inline std::string difference(outcome const& expected, outcome const& given) {
  std::string text = "the result is" + given.value + " instead of" + expected.value;
  std::size_t i = 0;
  while (i < expected.events.size() && i < given.events.size() && expected.events[i] == given.events[i]) ++i;
  auto const event = [&](outcome const& o) { return i < o.events.size() ? o.events[i] : "none"; };
  if (expected.events != given.events)
    text +=
        "; event " + std::to_string(i) + " is \"" + event(given) + "\" instead of \"" + event(expected) + '"';
  return text;
}

inline outcome in_some_order(outcome o) {
  std::sort(o.events.begin(), o.events.end());
  return o;
}

inline ir::program const* program_that_runs = nullptr;

// Each source tests a part of the pairs of a function and a composition. The long mode runs all sources, and the ordinary one runs 5.
constexpr std::uint64_t sources = 21;
inline std::uint64_t pairs_of_source() {
  char const* const text = std::getenv("OVERDUB_CONTEXT_PAIRS");
  return (text == nullptr ? laws::seeds(8'400) : std::strtoull(text, nullptr, 10)) / sources + 1;
}

template <class C>
concept keeps_metadata = requires {
  typename C::template metadata<double>;
};

// One function in one composition of contexts, which is constructed for each run. If Evaluated, programs are also evaluated in the
// contexts, which takes most of the compile time.
template <bool Evaluated, class... C>
struct law {
  static constexpr std::size_t with_tags = (std::size_t{keeps_metadata<C>} + ...);
  // A context without metadata and without a rule for a function passes the whole function to an inner context with a rule
  // (composition): if the outer context rewrites a program first, its rules apply inside of the function.
  static constexpr bool passes_functions_on = []<class First, class... Inner>(types<First, Inner...>) {
    return (detail::declares_rules<Inner> || ...);
  }(types<C...>{});
  // The entry of a program is a function that each context observes; but if a context has a rule for a call, the next context observes the
  // calls of the rule alone (composition).
  static constexpr bool is_entry_hidden = (requires { C::answers_entry; } || ...);

  static constexpr bool is_refused_by_programs = (requires { C::is_refused_by_programs; } || ...);

  std::uint64_t seed;
  bool is_canonical;
  double x, y;
  array<double> row;

  void all() const {
    outcome const direct = outcome_of([&] {
      return in_contexts([&](auto& c) {
        return with_arguments([&](auto const&... a) { return overdub::run(c, f_entry, a...); });
      });
    });
    check("staged in the contexts", direct, [&] {
      return in_contexts([&](auto& c) { return evaluated(stage(c, f_entry, arguments_of_entry)); });
    });
    check("staged in the contexts, and interpreted", direct, [&] {
      return in_contexts([&](auto& c) { return interpreted(stage(c, f_entry, arguments_of_entry)); });
    });
    compilation_cache cache;
    check("compiled and interpreted", direct, [&] {
      return in_contexts(
          [&](auto& c) { return compiled(c, {.tiers = tiers::interpret_only, .cache = &cache}); });
    });
#if OVERDUB_TESTS_JIT
    if (seed % 20 == 0) {
      compilation_cache fresh;
      check("compiled to machine code", direct, [&] {
        return in_contexts([&](auto& c) {
          return compiled(c, {.executor = jit::compiled(), .tiers = tiers::compile_now, .cache = &fresh});
        });
      });
    }
#endif
    if constexpr (!is_refused_by_programs) all_of_program(direct);
  }

private:
  // The program is staged without contexts, and rewritten by them.
  void all_of_program(outcome const& direct) const {
    ir::program const p = stage(f_entry, arguments_of_entry);
    outcome const staged_before =
        outcome_of([&] { return in_contexts([&](auto& c) { return evaluated(overdub::overdub(c, p)); }); });
    report("staged, and rewritten by the contexts", direct, staged_before, is_canonical);
    check("staged, rewritten by the contexts, and interpreted", staged_before, [&] {
      return in_contexts([&](auto& c) { return interpreted(overdub::overdub(c, p)); });
    });
    if constexpr (sizeof...(C) > 1 && with_tags == 0 && !passes_functions_on && !is_entry_hidden) {
      outcome const in_turn = outcome_of([&] {
        std::tuple<C...> contexts;
        ir::program rewritten = p;
        std::apply([&](C&... each) { ((rewritten = overdub::overdub(each, rewritten)), ...); }, contexts);
        return evaluated(rewritten);
      });
      // Operations with hooks keep their order in the one program, and operations without effects are reordered in the other: the
      // events are the same in another order.
      report(
          "staged, and rewritten by one context after the other", in_some_order(staged_before),
          in_some_order(in_turn), is_canonical && staged_before.value != "throws");
    }
    if constexpr (Evaluated) {
      program_that_runs = &p;
      check("staged, and evaluated in the contexts", staged_before, [&] {
        return in_contexts([&](auto& c) {
          return with_arguments([&](auto const&... a) {
            return overdub::run(
                c, [](auto const&... v) { return evaluate<double>(*program_that_runs, v...); }, a...);
          });
        });
      });
    }
  }

  template <class F>
  static auto in_contexts(F const& f) {
    std::tuple<C...> contexts;
    return std::apply(
        [&](C&... each) {
          auto composed = compose(each...);
          return f(composed);
        },
        contexts);
  }
  // The arguments of a run, and the leaves that are arguments of a rewritten program.
  template <class F>
  auto with_arguments(F const& f) const {
    return f(with_metadata<with_tags>(x), with_metadata<with_tags>(y), with_metadata<with_tags>(row));
  }
  template <class F>
  auto with_leaves(F const& f) const {
    return with_arguments([&](auto const&... a) { return std::apply(f, std::tuple_cat(leaves_of(a)...)); });
  }
  // The results of a rewritten program.
  using results = decltype(leaves_of(with_metadata<with_tags>(double{})));
  auto evaluated(ir::program const& p) const {
    return with_leaves([&](auto const&... a) {
      return [&]<class... R>(std::type_identity<std::tuple<R...>>) {
        return evaluate<R...>(p, a...);
      }(std::type_identity<results>{});
    });
  }
  auto interpreted(ir::program const& p) const {
    return with_leaves([&](auto const&... a) {
      if constexpr (with_tags > 0)
        return executable(p).template call<results>(a...);
      else
        return executable(p).template call<double>(a...);
    });
  }
  template <class Composition>
  auto compiled(Composition& c, compile_options const& options) const {
    return with_arguments(
        [&]<class... A>(A const&... a) { return compile(c, f_entry, signature<A...>, options)(a...); });
  }

  template <class Run>
  void check(std::string_view way, outcome const& expected, Run const& run) const {
    report(way, expected, outcome_of(run), true);
  }
  void report(std::string_view way, outcome const& expected, outcome const& given, bool with_events) const {
    if (given.value == expected.value && (!with_events || given.events == expected.events)) return;
    static std::set<std::string> reported;
    if (!reported.insert(std::string(way)).second) return;
    std::string contexts;
    ((contexts += ' ' + std::string(type_name<C>())), ...);
    FAIL_CHECK(
        "random function " << seed << ", " << way << ", in" << contexts << ": " << difference(expected, given)
                           << '\n'
                           << ir::print(stage(f_entry, arguments_of_entry)));
  }
};

template <bool Evaluated, class... C>
void check_pair(std::uint64_t seed) {
  random_program::random_numbers random(seed);
  auto number = [&] { return static_cast<double>(random.below(64)) / 8 - 4; };
  bool const is_canonical = random.chance(70);
  random_function::drawn =
      random_function::maker(seed, {.canonical = is_canonical, .failing = random.chance(50)}).make();
  law<Evaluated, C...>{seed, is_canonical, number(), number(), {number(), number(), number()}}.all();
}
// A composition, outermost context first, whose programs are evaluated in it, too.
template <class Composition>
struct evaluated {};
template <class... C>
void check_pair(types<C...>, std::uint64_t seed) {
  check_pair<false, C...>(seed);
}
template <class... C>
void check_pair(evaluated<types<C...>>, std::uint64_t seed) {
  check_pair<true, C...>(seed);
}

/// The law, for pairs of a random function and a composition of the list.
template <class... Composition>
void check_in(types<Composition...>) {
  std::uint64_t const wanted = pairs_of_source();
  std::uint64_t pairs = 0;
  auto const check = [&](auto const& each, std::uint64_t seed) {
    check_pair(each, seed);
    ++pairs;
  };
  std::uint64_t seed = 0;
  while (pairs < wanted) {
    ++seed;
    (check(Composition{}, seed), ...);
  }
  CHECK(pairs >= wanted);
}

} // namespace context_law
