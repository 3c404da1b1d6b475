// A run of a lowered program: arguments and results between C++ and frames, and the machines of a thread.
#pragma once

#include <overdub/execute/abi.hpp>
#include <overdub/execute/code.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/execute/machine.hpp>
#include <overdub/execute/values.hpp>

#include <ranges>

#include <concepts>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::inline OVERDUB_EXECUTE_ABI::execute {

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_argument_count(code const& c, std::size_t given) {
  throw argument_error(message(
      "overdub: @%s takes %zu arguments, and was given %zu", c.name.c_str(), c.parameters.size(), given));
}
[[noreturn, gnu::cold, gnu::noinline]] inline void
throw_argument_type(code const& c, std::size_t i, ir::type given) {
  std::string const& name = c.parameter_names[i];
  throw argument_error(message(
      "overdub: @%s: parameter %zu%s%s is %s, and was given %s", c.name.c_str(), i + 1,
      name.empty() ? "" : ", %", name.c_str(), detail::text_of(c.parameters[i]).c_str(),
      detail::text_of(given).c_str()));
}
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_result_count(code const& c, std::size_t wanted) {
  throw type_error(message(
      "overdub: @%s gives %zu results, and %zu were asked for; ask for call<std::tuple<...>>", c.name.c_str(),
      c.results.size(), wanted));
}
[[noreturn, gnu::cold, gnu::noinline]] inline void
throw_result_type(code const& c, std::size_t i, ir::type wanted) {
  throw type_error(message(
      "overdub: @%s: result %zu is %s, and was asked for as %s", c.name.c_str(), i + 1,
      detail::text_of(c.results[i]).c_str(), detail::text_of(wanted).c_str()));
}

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
requires(!datum_type<A> && std::ranges::contiguous_range<A>) struct argument_type<A> {
  static constexpr ir::type of(A const&) { return detail::type_of_cpp<array<std::ranges::range_value_t<A>>>; }
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
      "results of other types, and of types that C++ does not know, are data: run(arguments), or "
      "answers all = executable(arguments...)");
  if constexpr (datum_type<R>)
    return owned_copy<R>(frame, at);
  else
    return {
        reinterpret_cast<typename R::element_type*>(get<std::byte const*>(frame, at)),
        static_cast<std::size_t>(extent(frame, at, 0))};
}

/// Whether compiled code ran to its end; false if it throws fails_ahead.
template <class Run>
bool ran_ahead(Run const& run) {
  try {
    run();
    return true;
  } catch (fails_ahead const&) {
    return false;
  }
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
  void on_data(std::span<datum const> arguments, void* const* contexts = nullptr) {
    if (arguments.size() != c_->parameters.size()) throw_argument_count(*c_, arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) check(i, arguments[i].type());
    run(contexts, [&](auto const& pass) {
      for (datum const& d : arguments) pass(d);
    });
  }
  /// For scalars in words.
  void on_words(void* const* contexts, std::byte const* arguments) {
    run_on(*c_, contexts, [&] {
      std::memcpy(frame_ + first_parameter, arguments, c_->parameters.size() * word_size);
    });
  }
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
  std::vector<datum> data() const {
    std::vector<datum> all;
    offset at = 0;
    for (ir::type const t : c_->results) {
      all.push_back(datum_at(base_, at, t));
      at += words_of(t) * word_size;
    }
    return all;
  }
  /// Releases the buffers of the results.
  void release() {
    if (std::exchange(m_->abandoned, false)) return m_->buffers.reset();
    offset at = 0;
    for (ir::type const t : c_->results) {
      if (t.rank > 0) execute::release(*m_, base_, at);
      at += words_of(t) * word_size;
    }
  }

private:
  void check(std::size_t i, ir::type given) const {
    if (given != c_->parameters[i]) throw_argument_type(*c_, i, given);
  }
  static void check_result(code const& c, std::size_t i, ir::type wanted) {
    if (wanted != c.results[i]) throw_result_type(c, i, wanted);
  }
  template <class Fill>
  void run(void* const* contexts, Fill const& fill) {
    auto const pass_all = [&] {
      offset at = first_parameter;
      fill([&]<class A>(A const& x) {
        pass_argument(*m_, frame_, at, x);
        at += words_of(argument_type<A>::of(x)) * word_size;
      });
    };
    if (!ran_ahead([&] { run_on(*c_, contexts, pass_all); })) run_on(c_->interpreted(), contexts, pass_all);
  }
  // After an exception, no buffers remain.
  template <class Pass>
  void run_on(code const& c, void* const* contexts, Pass const& pass_all) {
    begin(c);
    m_->contexts = contexts;
    try {
      pass_all();
      m_->program = &c;
      m_->run(&c.instructions[c.functions[0].entry], frame_);
    } catch (...) {
      m_->buffers.reset();
      throw;
    }
  }
  void begin(code const& c) {
    function_code const& f = c.functions[0];
    offset words = 0;
    for (ir::type const t : c.results) words += words_of(t);
    base_ = m_->base(std::size_t{words} * word_size + f.frame_bytes);
    frame_ = base_ + words * word_size;
    write(frame_ + return_at, &c.instructions[c.launch]);
    write(frame_ + return_frame, base_);
    write<std::byte*>(frame_ + previous_limit, nullptr);
    if (f.literal_count > 0)
      std::memcpy(frame_ + f.literals, &c.literals[f.first_literal], f.literal_count * word_size);
  }

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

/// The free machines of a thread.
class machine_pool {
public:
  machine_pool() = default;
  machine_pool(machine_pool const&) = delete;
  machine_pool& operator=(machine_pool const&) = delete;
  ~machine_pool() { closed() = true; }

  /// A machine of this thread, returned at the end of a scope.
  class borrowed {
  public:
    OVERDUB_HIDDEN borrowed() {
      if (depth() == maximum_depth) throw_nested();
      if (auto* const pool = mine(); pool != nullptr && !pool->free_.empty()) {
        machine_ = std::move(pool->free_.back());
        pool->free_.pop_back();
      } else
        machine_ = std::make_unique<machine>();
      ++depth();
    }
    borrowed(borrowed const&) = delete;
    borrowed& operator=(borrowed const&) = delete;
    OVERDUB_HIDDEN ~borrowed() {
      --depth();
      if (auto* const pool = mine(); pool != nullptr && pool->free_.size() < maximum_free)
        pool->free_.push_back(std::move(machine_)); // cannot throw: capacity is reserved
    }
    machine& operator*() const { return *machine_; }

  private:
    std::unique_ptr<machine> machine_;
  };

private:
  static constexpr std::size_t maximum_free = 8;
  static constexpr int maximum_depth = 500;

  [[noreturn, gnu::cold, gnu::noinline]] static void throw_nested() {
    throw stack_overflow(message(
        "overdub: programs and host functions call each other more than %d deep; end the recursion earlier, "
        "or recurse inside the program",
        maximum_depth));
  }
  OVERDUB_HIDDEN static int& depth() {
    thread_local int n = 0;
    return n;
  }
  OVERDUB_HIDDEN static bool& closed() {
    thread_local bool flag = false;
    return flag;
  }
  // Null while the thread ends.
  OVERDUB_HIDDEN static machine_pool* mine() {
    if (closed()) return nullptr;
    thread_local machine_pool pool;
    if (pool.free_.capacity() == 0) pool.free_.reserve(maximum_free);
    return &pool;
  }

  std::vector<std::unique_ptr<machine>> free_;
};

} // namespace overdub::inline OVERDUB_EXECUTE_ABI::execute
