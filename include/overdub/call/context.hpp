// What a context is made of: the base class, the words it uses, and the questions that the dispatcher asks of
// its type.
#pragma once

#include <overdub/call/error.hpp>
#include <overdub/call/lifetime.hpp>
#include <overdub/call/name.hpp>
#include <overdub/call/types.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub {

/// The base of every context. A context adds, as it needs them:
///
///   template <class T> using metadata = ...;        what each value of inner type T carries
///   auto constant(auto const& x);                   the metadata of a value that comes from outside
///   auto overdub(sin_t, auto x);                    a rule for one callee; it runs outside of this context
///   auto overdub(callee auto f, auto... x);         a rule for a family of callees
///   void before(callee auto f, auto const&... x);   hooks, with concrete arguments
///   void after(callee auto f, auto const& result, auto const&... x);
///   void failed(callee auto f, std::exception_ptr, auto const&... x);
///   auto enter(callee auto f);                      the context of f's body, told by its type: *this,
///                                                   another one with the same metadata, or `leave`
///   auto enter(callee auto f, argument_types<A...>);   the same, by the types of the arguments, too
///   C fork();                                       a context for another thread,
///   void join(C&&);                                 and its return
///   auto fingerprint() const;                       what programs depend on, and is only known at run time
///   static void after_inference(ir::program const& p, F const& f);   looks at whole programs, when their types are known
///   static void before_optimise(ir::program& p, F const& f);   rewrites them, by a fingerprint f
///   static void after_optimise(ir::program& p, F const& f);
///   static void options(compile_options& o);        how they are compiled
///   static constexpr std::string_view name;         its name in derived functions; default: the class's
///
/// Contexts are not final. A member `overdub`, `before`, ... hides those of a base class: see `extends`.
struct context {};

/// A context, or a base of one: inside its runs, checked builds (see OVERDUB_CHECKED) throw `escaped_call`
/// when a `fn` is called with plain arguments, since no context sees that call.
struct strict : context {};

template <class C>
concept is_context = std::is_base_of_v<context, std::remove_cvref_t<C>>;

/// No metadata.
struct none {};

/// A context that says what of its data programs depend on. Programs are made once for each fingerprint:
///   auto fingerprint() const;   a number, enumeration, string, range, optional, tuple or described struct of such
template <class C>
concept has_fingerprint = requires(C const& c) {
  c.fingerprint();
};

namespace ir {
class program;
}
namespace detail {
template <class C>
struct fingerprint_of {
  using type = none;
};
template <has_fingerprint C>
struct fingerprint_of<C> {
  using type = std::remove_cvref_t<decltype(std::declval<C const&>().fingerprint())>;
};
} // namespace detail
template <class C>
using fingerprint_t = typename detail::fingerprint_of<C>::type;

namespace detail {
// Each of the three: with a fingerprint, or without one.
template <class C>
concept has_after_inference = requires(ir::program const& p, fingerprint_t<C> const& f) {
  C::after_inference(p, f);
}
|| requires(ir::program const& p) { C::after_inference(p); };
template <class C>
concept has_before_optimise = requires(ir::program& p, fingerprint_t<C> const& f) {
  C::before_optimise(p, f);
}
|| requires(ir::program& p) { C::before_optimise(p); };
template <class C>
concept has_after_optimise = requires(ir::program& p, fingerprint_t<C> const& f) {
  C::after_optimise(p, f);
}
|| requires(ir::program& p) { C::after_optimise(p); };
} // namespace detail

/// A context that sees and rewrites programs whole, in static functions; it sees no data but its fingerprint:
///   before_optimise(ir::program& p, fingerprint_t<C> const& f)   or, without one,   before_optimise(ir::program& p)
template <class C>
concept has_pass =
    detail::has_after_inference<C> || detail::has_before_optimise<C> || detail::has_after_optimise<C>;

/// What `enter` returns to keep a context out of a function's body.
struct leave_t {};
inline constexpr leave_t leave{};

/// What `enter` may take behind the function: the types of the call's arguments out of all contexts, as double, array<double>, or
/// std::tuple<double, int>.
template <class... A>
struct argument_types {};

/// The first parameter of a hook that wants its arguments as rules get them: inner values with this context's
/// metadata.
struct raw {};

namespace detail {

struct before_member {
  int before;
};
struct after_member {
  int after;
};
struct failed_member {
  int failed;
};
struct overdub_member {
  int overdub;
};
struct enter_member {
  int enter;
};
template <class C, class Member>
struct member_probe : C, Member {};

// The name is looked up in a class that has it once already: finding it twice is ambiguous, and so an answer.
template <class C>
concept declares_before = !requires {
  &member_probe<C, before_member>::before;
};
template <class C>
concept declares_after = !requires {
  &member_probe<C, after_member>::after;
};
template <class C>
concept declares_failed = !requires {
  &member_probe<C, failed_member>::failed;
};
template <class C>
concept declares_rules = !requires {
  &member_probe<C, overdub_member>::overdub;
};

template <class C>
concept declares_enter = !requires {
  &member_probe<C, enter_member>::enter;
};

// A static member function.
template <class C>
concept declares_options = requires {
  requires std::is_function_v<std::remove_pointer_t<decltype(&C::options)>>;
};

template <class C>
concept carries_metadata = requires {
  typename C::template metadata<double>;
};

// The values of a symbolic context are not there yet: they stand for what a program will compute, and nothing can be
// decided by them while it is being made.
template <class C>
concept symbolic = requires {
  requires C::symbolic;
};

template <class C>
consteval std::string_view context_name() {
  if constexpr (requires {
                  { C::name } -> std::convertible_to<std::string_view>;
                })
    return C::name;
  else
    return type_name<C>();
}
template <class C>
OVERDUB_HIDDEN inline constexpr std::string_view context_name_v = context_name<C>();

// A reference to a context; it takes no space when the context has no state.
template <class C, bool = std::is_empty_v<C>>
class ref {
public:
  constexpr ref(C& context) : context_(&context) {}
  constexpr ref(C& context, lifetime) : context_(&context) {}
  constexpr C& get() const { return *context_; }

private:
  C* context_;
};

// Whether references to a context know, in checked builds, how long its run goes on. Those of values that are being staged do not: the library
// has them, too, which may be built in the other way.
template <class C>
inline constexpr bool keeps_lifetime = OVERDUB_CHECKED && !std::is_empty_v<C> && !symbolic<C>;

#if OVERDUB_CHECKED
template <class C>
requires(!symbolic<C>) class ref<C, false> {
public:
  constexpr ref(C& context) : ref(context, lifetime_in_rule(&context)) {}
  constexpr ref(C& context, lifetime of_run) : context_(&context), of_run_(of_run) {}
  constexpr C& get() const {
    if (of_run_.is_over()) throw_outlived(context_name_v<C>);
    return *context_;
  }
  constexpr lifetime of_run() const { return of_run_; }

private:
  C* context_;
  lifetime of_run_;
};
#endif

template <class C>
consteval bool can_be_made() {
  constexpr bool can = !std::is_empty_v<C> || std::is_default_constructible_v<C>;
  static_assert(can, "overdub: a context without state must be default constructible");
  return can;
}

template <class C>
OVERDUB_HIDDEN inline C stateless{};

template <class C>
class ref<C, true> {
public:
  constexpr ref() = default;
  constexpr ref(C&, lifetime = {}) {}
  static C& get() { return stateless<C>; }
};

} // namespace detail

} // namespace overdub
