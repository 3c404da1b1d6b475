// Evaluation of programs in contexts that only observe, and whose hooks accept any callee. The library evaluates the program on numbers,
// and passes each call to a program_observer. A translation unit then instantiates each hook for three kinds of callees, and not for each
// operation and each type.
#pragma once

#include <overdub/call/ambient_object.hpp>
#include <overdub/call/context.hpp>
#include <overdub/call/extends.hpp>
#include <overdub/call/untyped_call.hpp>
#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/stage/cell.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

/// An argument or a result of a call in a program, whose type is known only when the program runs: a number, an array, or an object of
/// which only the name of the type is known. It converts to false if it is none of these.
class observed_in_program {
public:
  observed_in_program() = default;
  explicit observed_in_program(cell<stack<>> x) : value_(std::move(x)) {}
  explicit observed_in_program(ambient_object x) : object_(x) {}

  explicit operator bool() const { return static_cast<bool>(value_) || !object_.type.empty(); }
  template <class F>
  void visit(F const& f) const {
    if (value_)
      value_.visit(f);
    else
      f(object_);
  }

private:
  cell<stack<>> value_;
  ambient_object object_{};
};

enum class program_call_kind : std::uint8_t { function, native, primitive };

/// A call in a program.
struct program_call {
  std::string_view name;
  program_call_kind kind;
  observed_in_program const* arguments;
  std::size_t count;
};

class program_observer {
public:
  virtual void before(program_call const& call) = 0;
  virtual void after(program_call const& call, observed_in_program const& result) = 0;
  virtual void failed(program_call const& call, std::exception_ptr const& exception) = 0;

protected:
  ~program_observer() = default;
};

/// Evaluates a function of a verified program, and passes each call to `observer`. If an operation throws, sets `failed` to its place.
std::vector<cell<stack<>>> evaluate_observed(
    ir::program const& p, ir::function_id f, std::vector<cell<stack<>>> const& arguments,
    program_observer& observer, evaluation_place* failed);

// ---- contexts that observe so

template <class C>
consteval bool find_observes_any_callee() {
  if constexpr (!std::is_same_v<typename C::observes_any_callee, C>)
    return false;
  else {
    constexpr bool rules = declares_rules<C>, metadata = carries_metadata<C>, enters = declares_enter<C>,
                   identifies = has_fingerprint<C>, passes = has_pass<C>;
    static_assert(
        !rules, "overdub: this context declares observes_any_callee, and has a rule, a member `overdub`, "
                "which could replace calls; delete the declaration or the rule");
    static_assert(
        !metadata, "overdub: this context declares observes_any_callee, and has metadata, which programs "
                   "would have to carry; delete the declaration or the metadata");
    static_assert(
        !enters, "overdub: this context declares observes_any_callee, and has a member `enter`, which could "
                 "replace the contexts of a body; delete the declaration or `enter`");
    static_assert(
        !identifies, "overdub: this context declares observes_any_callee, and has a fingerprint, on which "
                     "programs depend; delete the declaration or the fingerprint");
    static_assert(
        !passes, "overdub: this context declares observes_any_callee, and has a pass, which could change "
                 "programs; delete the declaration or the pass");
    constexpr bool is_reached = hooks_are_reached<C, observed_in_program>();
    static_assert(
        is_reached,
        "overdub: this context declares observes_any_callee, and a hook of it does not accept calls whose "
        "arguments have no type until the program runs; take the arguments as auto const&... x");
    return !rules && !metadata && !enters && !identifies && !passes && is_reached;
  }
}
/// Whether a context only observes, and its hooks accept any callee and distinguish callees by concepts alone. A context C
/// declares this by
///   using observes_any_callee = C;
/// which names C, so that classes that derive from it do not inherit the declaration.
template <class C>
inline constexpr bool observes_any_callee = false;
template <class C>
requires requires { typename C::observes_any_callee; }
inline constexpr bool observes_any_callee<C> = find_observes_any_callee<C>();

// Whether every context of a stack declares it, also of an empty stack; is_evaluated_by_observer is false for an empty stack.
template <class S>
inline constexpr bool all_observe_any_callee =
    observes_any_callee<typename S::context>&& all_observe_any_callee<typename S::tail>;
template <>
inline constexpr bool all_observe_any_callee<stack<>> = true;
template <class S>
inline constexpr bool is_evaluated_by_observer = all_observe_any_callee<S>;
template <>
inline constexpr bool is_evaluated_by_observer<stack<>> = false;

/// Calls hook(callee, arguments...).
template <class Hook>
void with_call(program_call const& call, Hook const& hook) {
  name_during_call const named(call.name);
  auto const with = [&](auto const& called) {
    with_untyped_arguments(call.arguments, call.count, [&](auto const&... x) { hook(called, x...); });
  };
  if (call.kind == program_call_kind::function)
    with(untyped_callee<kind::function>{});
  else if (call.kind == program_call_kind::native)
    with(untyped_callee<kind::leaf>{});
  else
    with(untyped_callee<kind::primitive>{});
}

/// Calls the hooks of a stack of contexts: `before` outermost first, `after` and `failed` innermost first. If a hook throws, the
/// `failed` hooks of the outer contexts are called.
template <class S>
class stack_observer final : public program_observer {
public:
  explicit stack_observer(S const& contexts) : contexts_(contexts) {}

  void before(program_call const& call) override { before_in(contexts_, call); }
  void after(program_call const& call, observed_in_program const& result) override {
    end_in(contexts_, call, [&](auto& context) {
      with_call(
          call, [&](auto const& f, auto const&... x) { observe<after_hook>(context, f, result, x...); });
    });
  }
  void failed(program_call const& call, std::exception_ptr const& exception) override {
    end_in(contexts_, call, [&](auto& context) { fail(context, call, exception); });
  }

private:
  template <class C>
  static void fail(C& context, program_call const& call, std::exception_ptr const& exception) {
    with_call(
        call, [&](auto const& f, auto const&... x) { observe<failed_hook>(context, f, exception, x...); });
  }
  template <class T>
  static void before_in(T const& contexts, program_call const& call) {
    if constexpr (!T::empty) {
      bool const is_null = contexts.top().is_null();
      if (!is_null)
        with_call(call, [&](auto const& f, auto const&... x) {
          observe<before_hook>(contexts.top().get(), f, x...);
        });
      try {
        before_in(contexts.rest(), call);
      } catch (...) {
        if (!is_null) fail(contexts.top().get(), call, std::current_exception());
        throw;
      }
    }
  }
  template <class T, class End>
  static void end_in(T const& contexts, program_call const& call, End const& end) {
    if constexpr (!T::empty) {
      bool const is_null = contexts.top().is_null();
      try {
        end_in(contexts.rest(), call, end);
      } catch (...) {
        if (!is_null) fail(contexts.top().get(), call, std::current_exception());
        throw;
      }
      if (!is_null) end(contexts.top().get());
    }
  }

  S const& contexts_;
};

/// Evaluates a function in contexts that observe any callee.
template <class S>
std::vector<cell<S>> evaluate_by_observer(
    ir::program const& p, S const& contexts, ir::function_id f, std::vector<cell<S>> const& arguments,
    evaluation_place* failed) {
  std::vector<cell<stack<>>> given;
  for (cell<S> const& a : arguments)
    given.push_back(a.visit([](auto const& x) { return cell<stack<>>(concrete(x)); }));
  stack_observer<S> observer(contexts);
  std::vector<cell<S>> results;
  for (cell<stack<>> const& r : evaluate_observed(p, f, given, observer, failed))
    results.push_back(r.visit([&](auto const& x) { return cell<S>(wrap(contexts, x)); }));
  return results;
}

} // namespace overdub::detail
