// The base class of contexts, and the traits by which the dispatcher finds their members.
#pragma once

#include <overdub/call/lifetime.hpp>
#include <overdub/call/name.hpp>
#include <overdub/call/types.hpp>
#include <overdub/core/error.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub {

/// The base class of every context. A context may define:
///
///   template <class T> using metadata = ...;        the metadata of a value with the inner type T
///   auto constant(auto const& x);                   the metadata of a constant
///   auto overdub(sin_t, auto x);                    a rule for one callee; it runs outside of this context
///   auto overdub(callee auto f, auto... x);         a rule for a family of callees
///   void before(callee auto f, auto const&... x);   hooks, with concrete arguments
///   void after(callee auto f, auto const& result, auto const&... x);
///   void failed(callee auto f, std::exception_ptr, auto const&... x);
///   void unseen(std::string_view callee, std::string_view caller);   a call with plain arguments, which no context
///                                                   intercepts, in checked builds and those with ambient contexts
///   auto enter(callee auto f);                      the context of f's body, by the type of the result: *this,
///                                                   another one with the same metadata, or `leave`
///   auto enter(callee auto f, argument_types<A...>);   the same, by the types of the arguments, too
///   C fork();                                       returns a context for another thread
///   void join(C&&);                                 merges a fork
///   auto fingerprint() const;                       the run-time data on which programs depend
///   static void after_inference(ir::program const& p, F const& f);   inspects a program after type inference
///   static void before_optimise(ir::program& p, F const& f);   rewrites a program, by a fingerprint f
///   static void after_optimise(ir::program& p, F const& f);
///   static void options(compile_options& o);        the options of the compilation
///   static constexpr std::string_view name;         its name in derived functions; default: the class's
///
/// A context must not be final. A member `overdub`, `before`, ... hides those of a base class: see `extends`.
struct context {};

/// A context, or a base of one. In its runs, checked builds (see OVERDUB_CHECKED) throw `escaped_call` if a `fn` is called with plain
/// arguments, since no context intercepts that call.
struct strict : context {};

template <class C>
concept is_context = std::is_base_of_v<context, std::remove_cvref_t<C>>;

/// No metadata.
struct none {};

/// What a hook at the end of a call receives for an argument that cannot be copied, as a std::unique_ptr, since the call may have consumed it.
struct consumed_argument {
  consumed_argument() = delete;
  explicit constexpr consumed_argument(auto const&) {}
};

/// A context that declares the data on which its programs depend. A program is compiled once for each fingerprint:
///   auto fingerprint() const;   a number, enumeration, string, range, optional, tuple or described struct of them
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
// Each of the three passes may have a fingerprint parameter, or none.
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

/// A context that inspects or rewrites whole programs, in static functions whose only other input is the fingerprint:
///   before_optimise(ir::program& p, fingerprint_t<C> const& f)   or, without one,   before_optimise(ir::program& p)
template <class C>
concept has_pass =
    detail::has_after_inference<C> || detail::has_before_optimise<C> || detail::has_after_optimise<C>;

/// What `enter` returns to keep a context out of a function's body.
struct leave_t {};
inline constexpr leave_t leave{};

/// The optional second parameter of `enter`: the types of the call's arguments without contexts, such as double, array<double>, or
/// std::tuple<double, int>.
template <class... A>
struct argument_types {};

/// The first parameter of a hook that receives its arguments as rules do: as inner values with this context's metadata.
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

// Detects a member of any signature: the name is looked up in a class that inherits it from a second base, too, where the lookup is
// ambiguous if C has the member.
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

// A context whose values are symbolic, as in staging: they represent values that a program will compute, and cannot decide C++ branches.
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

// A reference to a context; it takes no space if the context has no state. That of a constant, which belongs to no run, is null.
template <class C, bool = std::is_empty_v<C>>
class ref {
public:
  constexpr explicit ref(C* context) : context_(context) {}
  constexpr ref(C& context) : context_(&context) {}
  constexpr ref(C& context, lifetime) : context_(&context) {}
  constexpr bool is_null() const { return context_ == nullptr; }
  constexpr bool agrees_with(ref other) const {
    return is_null() || other.is_null() || context_ == other.context_;
  }
  constexpr C& get() const { return *context_; }

private:
  C* context_;
};

// Whether references to a context store, in checked builds, the lifetime of its run. Those of staged values do not: the compiled library
// uses them, too, and may be built without checks.
template <class C>
inline constexpr bool keeps_lifetime = OVERDUB_CHECKED && !std::is_empty_v<C> && !symbolic<C>;

#if OVERDUB_CHECKED
template <class C>
requires(!symbolic<C>) class ref<C, false> {
public:
  constexpr explicit ref(C* context) : context_(context) {}
  constexpr ref(C& context) : ref(context, lifetime_in_rule(&context)) {}
  constexpr ref(C& context, lifetime of_run) : context_(&context), of_run_(of_run) {}
  constexpr bool is_null() const { return context_ == nullptr; }
  constexpr bool agrees_with(ref other) const {
    return is_null() || other.is_null() || context_ == other.context_;
  }
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
  constexpr explicit ref(C*) {}
  constexpr ref(C&, lifetime = {}) {}
  static constexpr bool is_null() { return false; }
  static constexpr bool agrees_with(ref) { return true; }
  static C& get() { return stateless<C>; }
};

} // namespace detail

} // namespace overdub
