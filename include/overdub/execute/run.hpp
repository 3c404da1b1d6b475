// One run of a lowered program: arguments and results between C++ and frames.
#pragma once

#include <overdub/core/function_view.hpp>
#include <overdub/core/library.hpp>
#include <overdub/execute/code.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/execute/values.hpp>

#include <concepts>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::execute {

[[noreturn, gnu::cold]] void throw_argument_count(code const& c, std::size_t given);
[[noreturn, gnu::cold]] void throw_argument_type(code const& c, std::size_t i, ir::type given);
[[noreturn, gnu::cold]] void throw_result_count(code const& c, std::size_t wanted);
[[noreturn, gnu::cold]] void throw_result_type(code const& c, std::size_t i, ir::type wanted);

// The type of an argument in programs: integers become i64, containers and spans arrays of rank 1.
template <class A>
struct argument_type {
  static constexpr ir::type of(A const&) { return detail::type_of_cpp<A>; }
};
template <std::integral A>
struct argument_type<A> {
  static constexpr ir::type of(A) { return std::same_as<A, bool> ? ir::boolean : ir::i64; }
};
template <>
struct argument_type<datum> {
  static ir::type of(datum const& d) { return d.type(); }
};
template <class A>
concept contiguous = requires(A const& x) {
  requires std::contiguous_iterator<decltype(std::ranges::begin(x))>;
  std::ranges::data(x);
  std::ranges::size(x);
};
template <class A>
requires(!datum_type<A> && contiguous<A>) struct argument_type<A> {
  using element = std::remove_cvref_t<decltype(*std::ranges::data(std::declval<A const&>()))>;
  static constexpr ir::type of(A const&) { return detail::type_of_cpp<array<element>>; }
};

template <class A>
void pass_argument(machine& m, std::byte* frame, offset at, A const& x) {
  if constexpr (std::same_as<A, datum>)
    lend(frame, at, x);
  else if constexpr (std::same_as<A, bool> || std::floating_point<A>)
    put(frame, at, x);
  else if constexpr (std::integral<A>)
    put(frame, at, static_cast<i64>(x));
  else if constexpr (!datum_type<A>)
    lend(frame, at, std::ranges::data(x), std::ranges::size(x));
  else if constexpr (detail::type_of_cpp<A>.rank == 1)
    lend(frame, at, x.data(), static_cast<std::size_t>(x.size()));
  else
    deliver(m, frame, at, x);
}

// The types that a C++ result type requires.
template <class R>
inline constexpr ir::type result_type = detail::type_of_cpp<R>;
template <class T>
inline constexpr ir::type result_type<std::span<T const>> = detail::type_of_cpp<array<T>>;

template <class R>
inline constexpr bool borrows = false;
template <class T>
inline constexpr bool borrows<std::span<T const>> = true;
template <class... T>
inline constexpr bool borrows<std::tuple<T...>> = (borrows<T> || ...);

template <class R>
inline constexpr bool is_span = false;
template <class T>
inline constexpr bool is_span<std::span<T const>> = true;

template <class R>
R take_result(std::byte const* frame, offset at) {
  static_assert(
      datum_type<R> || is_span<R>,
      "overdub: a result is bool, i64, float, double, array<...> of them, or a span of an array's elements; "
      "results of other types, and of types that are known only at run time, are data: run(arguments), or "
      "answers all = executable(arguments...)");
  if constexpr (datum_type<R>)
    return owned_copy<R>(frame, at);
  else
    return {
        reinterpret_cast<typename R::element_type*>(get<std::byte const*>(frame, at)),
        static_cast<std::size_t>(extent(frame, at, 0))};
}

/// A call of a program on a machine.
class program_run {
public:
  program_run(code const& c, machine& m) : c_(&c), m_(&m) {}

  /// Runs the program on these arguments; its results are at the bottom of the machine's stack until they are released.
  template <class... A>
  void operator()(A const&... a) {
    if (sizeof...(A) != c_->parameters.size()) throw_argument_count(*c_, sizeof...(A));
    std::size_t i = 0;
    (check(i++, argument_type<A>::of(a)), ...);
    run(nullptr, [&](auto const& pass) { (pass(a), ...); });
  }
  /// For arguments of the right types: fill(pass) calls pass(x) for each argument, and may be called twice. `contexts` are
  /// those that the program was compiled for.
  template <class Fill>
  void with(void* const* contexts, Fill const& fill) {
    run(contexts, fill);
  }
  /// The result at an offset, which is advanced to the next one.
  template <class R>
  R next_result(offset& at) const {
    return take_result<R>(base_, std::exchange(at, at + words_of(result_type<R>) * word_size));
  }
  void on_data(std::span<datum const> arguments, void* const* contexts = nullptr);
  /// For scalars in words.
  void on_words(void* const* contexts, std::byte const* arguments);
  /// The words of the results.
  std::byte const* result_words() const { return base_; }

  template <class R>
  R results() const {
    if constexpr (std::is_void_v<R>)
      return;
    else if constexpr (requires { std::tuple_size<R>::value; } && !datum_type<R>)
      return [this]<std::size_t... I>(std::index_sequence<I...>) {
        offset at = 0;
        offset const ats[] = {std::exchange(at, at + words_of(c_->results[I]) * word_size)..., 0};
        return R(take_result<std::tuple_element_t<I, R>>(base_, ats[I])...);
      }
    (std::make_index_sequence<std::tuple_size_v<R>>{});
    else return take_result<R>(base_, 0);
  }
  /// Throws unless the program's results match R.
  template <class R>
  static void check_results(code const& c) {
    if constexpr (std::is_void_v<R>)
      return;
    else if constexpr (requires { std::tuple_size<R>::value; } && !datum_type<R>)
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        if (sizeof...(I) != c.results.size()) throw_result_count(c, sizeof...(I));
        (check_result(c, I, result_type<std::tuple_element_t<I, R>>), ...);
      }
    (std::make_index_sequence<std::tuple_size_v<R>>{});
    else {
      if (c.results.size() != 1) throw_result_count(c, 1);
      check_result(c, 0, result_type<R>);
    }
  }
  std::vector<datum> data() const;
  /// Releases the buffers of the results.
  void release();

private:
  void check(std::size_t i, ir::type given) const {
    if (given != c_->parameters[i]) throw_argument_type(*c_, i, given);
  }
  static void check_result(code const& c, std::size_t i, ir::type wanted) {
    if (wanted != c.results[i]) throw_result_type(c, i, wanted);
  }
  // Writes the arguments to a frame.
  using pass_all = detail::function_view<void(std::byte* frame)>;
  template <class Fill>
  void run(void* const* contexts, Fill const& fill) {
    auto const pass = [&](std::byte* frame) {
      offset at = first_parameter;
      fill([&]<class A>(A const& x) {
        pass_argument(*m_, frame, at, x);
        at += words_of(argument_type<A>::of(x)) * word_size;
      });
    };
    run_with(contexts, pass);
  }
  void run_with(void* const* contexts, pass_all pass);
  void run_on(code const& c, void* const* contexts, pass_all pass);
  void begin(code const& c);

  code const* c_;
  machine* m_;
  std::byte* base_ = nullptr;
  std::byte* frame_ = nullptr;
};

/// Releases the results at the end of a scope.
struct releasing {
  program_run& of;
  explicit releasing(program_run& r) : of(r) {}
  releasing(releasing const&) = delete;
  releasing& operator=(releasing const&) = delete;
  ~releasing() { of.release(); }
};
/// True in a scope.
struct flag {
  bool& of;
  explicit flag(bool& f) : of(f) { of = true; }
  flag(flag const&) = delete;
  flag& operator=(flag const&) = delete;
  ~flag() { of = false; }
};

/// A machine of this thread, returned at the end of a scope.
class borrowed_machine {
public:
  borrowed_machine();
  borrowed_machine(borrowed_machine const&) = delete;
  borrowed_machine& operator=(borrowed_machine const&) = delete;
  ~borrowed_machine();
  machine& operator*() const { return *machine_; }

private:
  machine* machine_;
};

} // namespace overdub::execute
