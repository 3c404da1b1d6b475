// choosing: a context that makes the random choices of a function while it runs, and keeps them by address. Branches and loops of C++,
// recursion and `while_` may decide which choices there are.
#pragma once

#include <overdub/contexts/models/choices.hpp>
#include <overdub/contexts/models/sample.hpp>
#include <overdub/contexts/models/typed_choice.hpp>
#include <overdub/control/loop.hpp>
#include <overdub/control/map.hpp>
#include <overdub/control/parallel.hpp>
#include <overdub/control/reduce.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {
namespace models {

class choosing;

/// A choice that a run made.
struct made_choice {
  datum value;
  double log_density = 0;
  bool is_drawn = false;    ///< it was not given
  std::vector<i64> turns{}; ///< for each index the trip count of its map or loop; -1 where it is unknown
};

/// The choices that a run made, by address. A plain value.
class choice_record {
public:
  /// Throws model_error where there is one at the address, or at one with more or fewer indices. O(log n).
  OVERDUB_DECL void add(address at, made_choice choice);

  /// The sum of the log densities; of those that were given alone; and of those that were drawn.
  double score() const { return score_; }
  double given_score() const { return given_score_; }
  double drawn_score() const { return drawn_score_; }
  /// nullptr, where there is none. O(log n).
  made_choice const* find(address const& at) const {
    auto const found = all_.find(at);
    return found == all_.end() ? nullptr : &found->second;
  }
  OVERDUB_DECL choice_map choices(selection const& of) const;
  std::size_t size() const { return all_.size(); }
  /// Pairs of an address and a choice, in the order of addresses.
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  /// Throws unmade_error where one of these was not made, or where an array of them has another size than what was made.
  OVERDUB_DECL void check_all_made(choice_map const& given) const;

private:
  [[noreturn]] OVERDUB_DECL static void throw_size(address const& at, i64 given, i64 made);
  [[noreturn]] OVERDUB_DECL static void throw_alone(address const& at, ir::type given, address const& below);
  [[noreturn]] OVERDUB_DECL void throw_unmade(address const& at) const;

  std::map<address, made_choice> all_;
  double score_ = 0, given_score_ = 0, drawn_score_ = 0;
};

namespace detail {

// What a model in a model gives; compilers may ask before they look at constraints.
template <class Call, class F, class... X>
struct part_result {
  using type = none;
};
template <class Call, function F, class... X>
requires(origin_t<F>::name().ends_with('/')) struct part_result<Call, F, X...> {
  using type = recurse_t<Call, F, X...>;
};

// A function that is called once a turn: choices in it have the number of the turn behind their addresses.
template <class F, bool ByIndex>
struct in_turns {
  choosing* run;
  F const& f;
  i64 turns; // -1 where nobody knows
  mutable i64 next = 0;
  template <class... X>
  auto operator()(X&&... x) const;
};

} // namespace detail

/// Makes the choices of the function that runs in it: those that `source` gives, and others drawn from their distributions, by the key,
/// as `simulate` draws them. Maps, loops, scans, `while_` and the functions of reductions append the number of the iteration to an address, and
/// `within` prefixes its name; two choices at one address are rejected. It composes: enclosing contexts intercept each call, enclosed ones
/// the log densities; to them a choice is a constant. Used by one thread at a time.
///   choosing c(random_key(7)); double y = overdub(compose(log, c), f, 1.0); c.made().score()
class choosing : public context {
public:
  static constexpr std::string_view name = "choosing";
  /// What a choice of this type is; nothing, where it is to be drawn. A value of another type is converted, where one can be.
  using source = std::function<datum(address const&, ir::type)>;

  explicit choosing(random_key const& key, source given = {}) : key_(key), given_(std::move(given)) {}

  choice_record const& made() const { return made_; }
  choice_record take() { return std::exchange(made_, {}); }

  template <random_choice F, class... D>
  auto overdub(F const&, D const&... d) {
    constexpr bool one = sizeof...(D) == 1;
    static_assert(one, "overdub: a random choice is given one distribution: cx(sample<\"x\">, normal(0, 1))");
    static_assert(
        !is_staged<D...>, "overdub: choosing makes choices of a function that runs, and this one is staged; "
                          "give it to models::model");
    if constexpr (one && !is_staged<D...>)
      return choose(F::name(), d...);
    else
      return overdub::detail::refused{};
  }
  // A model in a model.
  template <rule_call Call, function F, class... X>
  requires(origin_t<F>::name().ends_with('/')) auto overdub(Call const& call, F const&, X const&... x) ->
      typename detail::part_result<Call, F, X...>::type {
    inside const here(prefix_, origin_t<F>::name());
    return call.recurse(x...);
  }

  template <class F, class... A>
  auto overdub(map_t const&, F const& f, A const&... xs) {
    return map(in_turns(f, overdub::detail::sizes_of("map", xs...)), xs...);
  }
  // The turns one after another.
  template <class F, class... A>
  auto overdub(parallel_map_t const&, F const& f, A const&... xs) {
    return map(in_turns(f, overdub::detail::sizes_of("parallel_map", xs...)), xs...);
  }
  template <class N, class F>
  auto overdub(tabulate_t const&, N const& n, F const& f) {
    return tabulate(n, by_index(f, concrete(n)));
  }
  template <class N, class X, class F>
  auto overdub(loop_t const&, N const& n, X const& state, F const& body) {
    return loop(n, state, by_index(body, concrete(n)));
  }
  template <class X, class C, class F>
  auto overdub(while_t const&, X const& state, C const& condition, F const& body) {
    return while_(state, in_turns(condition, -1), in_turns(body, -1));
  }
  template <class F, class X, class A>
  auto overdub(scan_t const&, F const& f, X const& state, A const& xs) {
    return scan(in_turns(f, overdub::detail::sizes_of("scan", xs)), state, xs);
  }
  template <class F, class... A>
  auto overdub(reduce_t const&, F const& f, A const&... xs) {
    if constexpr (primitive<overdub::detail::given_t<F>>)
      return reduce(f, xs...); // operations choose nothing
    else
      return reduce(in_turns(f, -1), xs...);
  }

private:
  template <class, bool>
  friend struct detail::in_turns;

  // A name in front of addresses, until the end of the scope.
  class inside {
  public:
    inside(std::string& prefix, std::string_view by) : prefix_(prefix), size_(prefix.size()) { prefix += by; }
    inside(inside const&) = delete;
    inside& operator=(inside const&) = delete;
    ~inside() { prefix_.resize(size_); }

  private:
    std::string& prefix_;
    std::size_t size_;
  };
  // An index behind them.
  class turn {
  public:
    turn(choosing& run, i64 i, i64 turns) : run_(run) {
      run.indices_.push_back(i);
      run.turns_.push_back(turns);
    }
    turn(turn const&) = delete;
    turn& operator=(turn const&) = delete;
    ~turn() {
      run_.indices_.pop_back();
      run_.turns_.pop_back();
    }

  private:
    choosing& run_;
  };

  template <class F>
  detail::in_turns<F, false> in_turns(F const& f, i64 turns) {
    return {this, f, turns};
  }
  template <class F, class N>
  detail::in_turns<F, true> by_index(F const& f, N turns) {
    return {this, f, static_cast<i64>(turns)};
  }

  template <class D>
  auto choose(std::string_view site, D const& d) {
    auto const plain = concrete(d);
    using X = detail::drawn_t<std::remove_cvref_t<decltype(plain)>>;
    constexpr ir::type type = overdub::detail::ir_type_of<X>;
    address at(prefix_ + std::string(site), indices_);
    datum x = given_ ? given_(at, type) : datum();
    bool const is_drawn = !x;
    x = is_drawn ? datum(drawn(at, plain)) : detail::given_as(at, x, type);
    X const value = x.as<X>();
    auto const density = static_cast<double>(concrete(log_density(d, value)));
    made_.add(std::move(at), {std::move(x), density, is_drawn, turns_});
    return value;
  }
  template <class D>
  detail::drawn_t<D> drawn(address const& at, D const& d) const {
    random_key key = key_.at(at.site);
    for (i64 const i : at.indices) key = key.at(i);
    random_generator g(key);
    try {
      return distributions::draw(d, g);
    } catch (error const& e) {
      detail::throw_undrawable(at, e.what());
    }
  }

  random_key key_;
  source given_;
  choice_record made_;
  std::string prefix_;
  std::vector<i64> indices_, turns_;
};

namespace detail {

template <class F, bool ByIndex>
template <class... X>
auto in_turns<F, ByIndex>::operator()(X&&... x) const {
  i64 number = next++;
  if constexpr (ByIndex) {
    auto const first = [](auto const& i, auto const&...) { return static_cast<i64>(concrete(i)); };
    number = first(x...);
  }
  choosing::turn const here(*run, number, turns);
  return f(std::forward<X>(x)...);
}

} // namespace detail
} // namespace models

namespace detail {
template <class F, bool ByIndex>
struct lowered_from<models::detail::in_turns<F, ByIndex>> : lowered_from<F> {};
template <class F, bool ByIndex>
inline constexpr bool combines_in_lanes<models::detail::in_turns<F, ByIndex>> = combines_in_lanes<given_t<F>>;
} // namespace detail
} // namespace overdub

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/choosing.ipp>
#endif
