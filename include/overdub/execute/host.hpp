// Functions of the host that a program calls by name, and the handler of its random choices.
#pragma once

#include <overdub/execute/datum.hpp>
#include <overdub/execute/instruction.hpp>
#include <overdub/ir/type.hpp>

#include <concepts>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {

/// A random choice of a program.
struct sample_request {
  std::string_view address;
  std::span<i64 const> indices;
  std::string_view distribution;
  std::span<datum const> parameters; // of the distribution
  ir::type type;                     // the type of the result
};

namespace execute {

// Reads arguments from words of a frame, and writes results to others.
using typed_host =
    std::function<void(machine& m, std::byte* frame, offset const* arguments, offset const* results)>;

/// A function of the host: a typed one, or one of data.
struct host_function {
  std::function<std::vector<datum>(std::span<datum const>, std::span<ir::type const>)> on_data;
  typed_host typed;
  std::vector<ir::type> parameters, results; // of a typed function
};

struct host_registry {
  std::map<std::string, host_function, std::less<>> functions;
  std::function<datum(sample_request const&)> sampler;
};

template <class T>
T argument(machine& m, std::byte const* frame, offset at);
template <class T>
void deliver(machine& m, std::byte* frame, offset at, T const& x);

// The types in a signature.
template <class S>
struct signature_of;
template <class R, class... A>
struct signature_of<R(A...)> {
  template <class T>
  using plain = std::remove_cvref_t<T>;
  static constexpr bool is_data = (datum_type<plain<A>> && ...);

  static std::vector<ir::type> parameters() { return {detail::type_of_cpp<plain<A>>...}; }
  static std::vector<ir::type> results() { return result_types(static_cast<plain<R>*>(nullptr)); }
  template <class F>
  static typed_host typed(F f) {
    return [f = std::move(f)](machine& m, std::byte* frame, offset const* arguments, offset const* results) {
      call(f, m, frame, arguments, results, std::index_sequence_for<A...>{});
    };
  }

private:
  static std::vector<ir::type> result_types(void*) { return {}; }
  template <datum_type T>
  static std::vector<ir::type> result_types(T*) {
    return {detail::type_of_cpp<T>};
  }
  template <datum_type... T>
  static std::vector<ir::type> result_types(std::tuple<T...>*) {
    return {detail::type_of_cpp<T>...};
  }
  template <class F, std::size_t... I>
  static void call(
      F const& f, machine& m, std::byte* frame, offset const* arguments, offset const* results,
      std::index_sequence<I...>) {
    (void)arguments;
    (void)results;
    if constexpr (std::is_void_v<R>)
      f(argument<plain<A>>(m, frame, arguments[I])...);
    else if constexpr (datum_type<plain<R>>)
      deliver(m, frame, results[0], plain<R>(f(argument<plain<A>>(m, frame, arguments[I])...)));
    else {
      auto const all = f(argument<plain<A>>(m, frame, arguments[I])...);
      std::size_t i = 0;
      std::apply([&](auto const&... x) { (deliver(m, frame, results[i++], x), ...); }, all);
    }
  }
};
template <class R, class... A>
struct signature_of<R (*)(A...)> : signature_of<R(A...)> {};
template <class C, class R, class... A>
struct signature_of<R (C::*)(A...) const> : signature_of<R(A...)> {};
template <class C, class R, class... A>
struct signature_of<R (C::*)(A...)> : signature_of<R(A...)> {};

} // namespace execute

/// The host functions that programs may call, by name. A plain value; executables have their own copy.
class hosts {
public:
  /// Adds a function of data: f(arguments), or f(arguments, types of results), which returns the results. Or adds a C++
  /// function, whose types must match those of the call: bool, i64, float, double, array<...> of them; it returns one
  /// value, a tuple, or nothing. Arrays are borrowed for the call: a.owned() extends their life. The function may call
  /// executables, including its caller; threads that share an executable may call it concurrently.
  template <class F>
  hosts& add(std::string name, F f) {
    using arguments = std::span<datum const>;
    using types = std::span<ir::type const>;
    if constexpr (std::is_invocable_r_v<std::vector<datum>, F&, arguments, types>) {
      registry_.functions[std::move(name)] = {std::move(f), {}, {}, {}};
      return *this;
    } else if constexpr (std::is_invocable_r_v<std::vector<datum>, F&, arguments>) {
      registry_.functions[std::move(name)] = {
          [f = std::move(f)](arguments all, types) { return f(all); }, {}, {}, {}};
      return *this;
    } else if constexpr (std::is_pointer_v<F>) {
      add_typed<std::remove_pointer_t<F>>(std::move(name), f);
      return *this;
    } else {
      constexpr bool has_one_type = requires { &F::operator(); };
      static_assert(
          has_one_type, "overdub: a generic function does not say which types the host function takes; write "
                        "hosts.add<double(double)>(name, f)");
      if constexpr (has_one_type) add_typed<decltype(&F::operator())>(std::move(name), std::move(f));
      return *this;
    }
  }
  /// With a signature: add<double(double)>("twice", [](auto x) { return 2 * x; }).
  template <class Signature, class F>
  requires std::is_function_v<Signature> hosts& add(std::string name, F f) {
    add_typed<Signature>(std::move(name), std::move(f));
    return *this;
  }
  /// Sets the handler of random choices.
  hosts& on_sample(std::function<datum(sample_request const&)> f) {
    registry_.sampler = std::move(f);
    return *this;
  }

  execute::host_registry const& registry() const { return registry_; }

private:
  template <class Signature, class F>
  void add_typed(std::string name, F f) {
    using types = execute::signature_of<Signature>;
    static_assert(
        types::is_data, "overdub: a host function takes bool, i64, float, double, and array<...> of them");
    registry_.functions[std::move(name)] = {
        {}, types::typed(std::move(f)), types::parameters(), types::results()};
  }

  execute::host_registry registry_;
};

} // namespace overdub
