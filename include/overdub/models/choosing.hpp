// choosing: a context that makes the random choices of a function while it runs, and records them by address. Control flow of C++,
// recursion and `while_` may determine which choices are made.
#pragma once

#include <overdub/control/loop.hpp>
#include <overdub/control/map.hpp>
#include <overdub/control/parallel.hpp>
#include <overdub/control/reduce.hpp>
#include <overdub/models/choices.hpp>
#include <overdub/models/sample.hpp>
#include <overdub/models/typed_choice.hpp>

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

/// A choice of a run.
struct made_choice {
  datum value;
  double log_density = 0;
  bool is_drawn = false;          ///< false: the value was given
  std::vector<i64> trip_counts{}; ///< of the enclosing map or loop of each index; -1 where unknown
};

/// The choices of a run, by address. A plain value.
class choice_record {
public:
  /// Throws model_error where a choice has this address already, or this site with another number of indices. O(log n).
  void add(address at, made_choice choice);

  /// The sum of all log densities; of given choices; of drawn choices.
  double score() const { return score_; }
  double given_score() const { return given_score_; }
  double drawn_score() const { return drawn_score_; }
  /// nullptr where no choice has this address. O(log n).
  made_choice const* find(address const& at) const {
    auto const found = all_.find(at);
    return found == all_.end() ? nullptr : &found->second;
  }
  /// A choice; or an array of all choices below the address, with 0 for those that were not made. Nothing, where there is none, or where
  /// these are of several types or shapes. `existing` throws model_error then. O(log n + choices below the address).
  datum value(address const& at) const;
  datum existing(address const& at) const;
  choice_map choices(selection const& of) const;
  double project(selection const& of) const;
  std::size_t size() const { return all_.size(); }
  /// Pairs of an address and a choice, in the order of addresses.
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  /// Throws unmade_error where the run did not make a given choice, or where a given array has another size than the choices.
  void check_all_made(choice_map const& given) const;
  /// The same; and throws model_error where the run made an observed choice with another value.
  void check_observed(choice_map const& observed) const;

private:
  [[noreturn]] static void throw_size(address const& at, i64 given, i64 made);
  [[noreturn]] static void throw_scalar(address const& at, ir::type given, address const& below);
  [[noreturn]] void throw_unmade(address const& at) const;

  std::map<address, made_choice> all_;
  double score_ = 0, given_score_ = 0, drawn_score_ = 0;
};

namespace detail {

// The result of a model in a model. Lazy: compilers may instantiate the return type before they check the constraints.
template <class Call, class F, class... X>
struct submodel_result {
  using type = none;
};
template <class Call, function F, class... X>
requires(origin_t<F>::name().ends_with('/')) struct submodel_result<Call, F, X...> {
  using type = recurse_t<Call, F, X...>;
};

// A function that is called once per iteration, during which the iteration's number is appended to addresses.
template <class F, bool ByIndex>
struct per_iteration {
  choosing* run;
  F const& f;
  i64 trip_count; // -1 where unknown
  mutable i64 next = 0;
  template <class... X>
  auto operator()(X&&... x) const;
};

} // namespace detail

/// Makes the choices of the function that runs in it: values from `source`, and others drawn from their distributions by the key, as
/// `simulate` draws them. Maps, loops, scans, `while_` and the functions of reductions append the number of the iteration to an address;
/// `within` prefixes its name. Two choices of one address are rejected. It composes: enclosing contexts intercept each call of the
/// function, inner contexts the log densities, in which choices are constants. Used by one thread at a time.
///   choosing c(random_key(7)); double y = overdub(compose(log, c), f, 1.0); c.made().score()
class choosing : public context {
public:
  static constexpr std::string_view name = "choosing";
  /// Returns the value of the choice of an address and a type; nothing, where it is to be drawn. The value is converted to the type.
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
      typename detail::submodel_result<Call, F, X...>::type {
    address_prefix const here(prefix_, origin_t<F>::name());
    return call.recurse(x...);
  }

  template <class F, class... A>
  auto overdub(map_t const&, F const& f, A const&... xs) {
    return map(per_iteration(f, overdub::detail::sizes_of("map", xs...)), xs...);
  }
  // Sequential, since a choice_record is not thread-safe.
  template <class F, class... A>
  auto overdub(parallel_map_t const&, F const& f, A const&... xs) {
    return map(per_iteration(f, overdub::detail::sizes_of("parallel_map", xs...)), xs...);
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
    return while_(state, per_iteration(condition, -1), per_iteration(body, -1));
  }
  template <class F, class X, class A>
  auto overdub(scan_t const&, F const& f, X const& state, A const& xs) {
    return scan(per_iteration(f, overdub::detail::sizes_of("scan", xs)), state, xs);
  }
  template <class F, class... A>
  auto overdub(reduce_t const&, F const& f, A const&... xs) {
    if constexpr (primitive<overdub::detail::given_t<F>>)
      return reduce(f, xs...); // operations make no choices
    else
      return reduce(per_iteration(f, -1), xs...);
  }

private:
  template <class, bool>
  friend struct detail::per_iteration;

  // Prefixes addresses by a name, until the end of the scope.
  class address_prefix {
  public:
    address_prefix(std::string& prefix, std::string_view by) : prefix_(prefix), size_(prefix.size()) {
      prefix += by;
    }
    address_prefix(address_prefix const&) = delete;
    address_prefix& operator=(address_prefix const&) = delete;
    ~address_prefix() { prefix_.resize(size_); }

  private:
    std::string& prefix_;
    std::size_t size_;
  };
  // Appends an index to addresses, until the end of the scope.
  class iteration {
  public:
    iteration(choosing& run, i64 i, i64 trip_count) : run_(run) {
      run.indices_.push_back(i);
      run.trip_counts_.push_back(trip_count);
    }
    iteration(iteration const&) = delete;
    iteration& operator=(iteration const&) = delete;
    ~iteration() {
      run_.indices_.pop_back();
      run_.trip_counts_.pop_back();
    }

  private:
    choosing& run_;
  };

  template <class F>
  detail::per_iteration<F, false> per_iteration(F const& f, i64 trip_count) {
    return {this, f, trip_count};
  }
  template <class F, class N>
  detail::per_iteration<F, true> by_index(F const& f, N trip_count) {
    return {this, f, static_cast<i64>(trip_count)};
  }

  template <class D>
  auto choose(std::string_view site, D const& d) {
    auto const plain = concrete(d);
    using X = detail::drawn_t<std::remove_cvref_t<decltype(plain)>>;
    constexpr ir::type type = overdub::detail::ir_type_of<X>;
    address at(prefix_ + std::string(site), indices_);
    datum x = given_ ? given_(at, type) : datum();
    bool const is_drawn = !x;
    x = is_drawn ? datum(drawn(at, plain)) : detail::typed_value(at, x, type);
    X const value = x.as<X>();
    auto const density = static_cast<double>(concrete(log_density(d, value)));
    made_.add(std::move(at), {std::move(x), density, is_drawn, trip_counts_});
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
  std::vector<i64> indices_, trip_counts_;
};

namespace detail {

template <class F, bool ByIndex>
template <class... X>
auto per_iteration<F, ByIndex>::operator()(X&&... x) const {
  i64 number = next++;
  if constexpr (ByIndex) {
    auto const first = [](auto const& i, auto const&...) { return static_cast<i64>(concrete(i)); };
    number = first(x...);
  }
  choosing::iteration const here(*run, number, trip_count);
  return f(std::forward<X>(x)...);
}

} // namespace detail
} // namespace models

namespace detail {
template <class F, bool ByIndex>
struct lowered_from<models::detail::per_iteration<F, ByIndex>> : lowered_from<F> {};
template <class F, bool ByIndex>
inline constexpr bool combines_in_lanes<models::detail::per_iteration<F, ByIndex>> =
    combines_in_lanes<given_t<F>>;
} // namespace detail
} // namespace overdub
