// How an evaluator calls a function that a context hears: by the dispatcher, as a function of C++ is called (program_function.hpp).
#pragma once

#include <overdub/ir/walk.hpp>
#include <overdub/stage/evaluator.hpp>
#include <overdub/stage/program_function.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

namespace overdub::detail {

// Whether a host's function is a hook (recorder::add_hook): "context.before f(f64)".
inline bool is_name_of_hook(std::string_view name) {
  for (std::string_view const hook : {".before ", ".after ", ".failed "})
    if (name.find(hook) != name.npos && name.ends_with(')')) return true;
  return false;
}
// A name without the contexts and the number behind it, where it is this one.
inline bool is_name_of(std::string_view name, std::string_view callee) {
  if (!name.starts_with(callee)) return false;
  return name.size() == callee.size() || name[callee.size()] == '.' || name[callee.size()] == '#';
}

template <class S>
class evaluator<S>::function_call {
  static constexpr std::size_t most_seen = 8; // arguments of other values

  evaluator& by_;
  ir::function_id id_;
  ir::function const& f_;
  std::vector<slot> const& arguments_;
  std::vector<slot> results_;
  std::string_view name_;

public:
  function_call(evaluator& by, ir::function_id id, std::vector<slot> const& arguments)
      : by_(by), id_(id), f_(by.program_[id]), arguments_(arguments),
        name_(interned_name(recorder::base_name(by.program_.text(f_.name)))) {}

  /// The results, where a context hears the call.
  std::optional<std::vector<slot>> run() {
    return [&]<class... F>(types<F...>) {
      std::optional<std::vector<slot>> results;
      bool const is_named = ((is_called_as<F>(f_, name_) && (results = run_as<F>(), true)) || ...);
      if (!is_named) results = run_as<unnamed_function>();
      return results;
    }(named_functions_t<S>{});
  }

  // Whether contexts hear calls of any function; and of one that they name.
  static consteval bool is_any_heard() {
    return hears_any<unnamed_function>(tried_signatures_t<S, unnamed_function>{}) ||
           hears_untyped<unnamed_function>() || asks_types_of<unnamed_function>();
  }
  static bool is_named_in(ir::program const& p) {
    return [&]<class... F>(types<F...>) {
      for (ir::function const& f : p.functions)
        if (f.name != ir::nothing && (is_called_as<F>(f, p.text(f.name)) || ...)) return true;
      return false;
    }(named_functions_t<S>{});
  }

private:
  template <class F, class R>
  using function = program_function<evaluator, F, R>;

  template <class F>
  static bool is_called_as(ir::function const& f, std::string_view name) {
    if constexpr (!is_symbol_name<F>)
      if (f.origin_in_cpp != nullptr) return f.origin_in_cpp == &type_key<F>;
    return is_name_of(name, F::name());
  }

  // ---- calls of values of known types

  template <class R>
  using result_in = typename program_result<S, R>::type;
  template <class F, class R, class... X>
  static consteval bool hears_signature(called_with<R, X...>) {
    return any_hears_function<S, function<F, R>, result_in<R>, in<X>...>();
  }
  template <class F, class... Signature>
  static consteval bool hears_any(types<Signature...>) {
    return (hears_signature<F>(Signature{}) || ...);
  }
  // Whether a rule answers it that does not answer values of any type, too.
  template <class F, class R, class... X>
  static consteval bool has_typed_rule(called_with<R, X...>) {
    if constexpr (is_called_with<F, X...>)
      return any_has_function_rule<any_answers_any_types<S>(), S, function<F, R>, in<X>...>();
    else
      return false;
  }
  // Whether the `enter` of one asks for the types of any number of arguments.
  template <class F>
  static consteval bool asks_types_of() {
    return []<std::size_t... N>(std::index_sequence<N...>) {
      return (any_asks_types<S, function<F, one_cell>, N>() || ...);
    }
    (std::make_index_sequence<most_typed + 1>{});
  }
  template <class F>
  static consteval bool hears_untyped() {
    return any_hears_function<S, function<F, one_cell>, any>() ||
           any_hears_function<S, function<F, one_cell>, any, any>();
  }
  std::size_t count() const { return f_.parameters().size(); }
  bool takes(std::initializer_list<ir::type> types) const {
    ir::type const* next = types.begin();
    for (ir::value_id const v : f_.parameters())
      if (next == types.end() || f_.type_of(v) != *next++) return false;
    return next == types.end();
  }
  bool takes_reals() const {
    for (ir::value_id const v : f_.parameters())
      if (f_.type_of(v) != ir::f64) return false;
    return count() <= most_typed;
  }
  template <class R>
  bool returns() const {
    if constexpr (std::is_same_v<R, one_cell>)
      return true;
    else if constexpr (is_cell_type<R>)
      return f_.results.size() == 1 && f_.results[0] == ir_type_of<R>;
    else {
      std::vector<ir::type> leaves;
      return append_leaf_types<R>(leaves) && leaves == f_.results;
    }
  }

  template <class F>
  std::optional<std::vector<slot>> run_as() {
    std::optional<std::vector<slot>> results;
    bool const is_typed = [&] {
      if constexpr (has_written_signatures<S, F>)
        return run_written<F>(written_signatures_t<S, F>{}, results);
      else
        return (takes_reals() && run_reals<F>(results)) ||
               run_said<F>(decltype(find_said_types<true, S, F>()){}, results) ||
               (!is_in_rules<F>() && run_heard<F>(decltype(find_said_types<false, S, F>()){}, results));
    }();
    if (!is_typed) run_untyped<F>(results);
    return results;
  }
  // Each returns whether the function has a signature that it is called with.
  template <class F, class... Signature>
  bool run_written(types<Signature...>, std::optional<std::vector<slot>>& results) {
    return (run_typed<F>(Signature{}, results) || ...);
  }
  template <class F>
  bool run_reals(std::optional<std::vector<slot>>& results) {
    return [&]<std::size_t... N>(std::index_sequence<N...>) {
      return ((count() == N && run_numbers<F>(list_of_t<double, N>{}, results)) || ...);
    }
    (std::make_index_sequence<most_typed + 1>{});
  }
  template <class F, class... List>
  bool run_said(types<List...>, std::optional<std::vector<slot>>& results) {
    return (run_numbers<F>(List{}, results) || ...);
  }
  template <class F, class... List>
  bool run_heard(types<List...>, std::optional<std::vector<slot>>& results) {
    return (run_typed<F>(with_cell(List{}), results) || ...);
  }
  template <class... X>
  static called_with<one_cell, X...> with_cell(types<X...>) {
    return {};
  }
  // It returns a number f64, or what the rule returns.
  template <class F, class... X>
  bool run_numbers(types<X...>, std::optional<std::vector<slot>>& results) {
    if constexpr (is_called_with<F, X...>) {
      using R = typename decltype(find_rule_result<S, function<F, double>, in<X>...>())::type;
      if constexpr (std::is_same_v<R, nothing>)
        return run_typed<F>(called_with<double, X...>{}, results);
      else
        return run_typed<F>(called_with<R, X...>{}, results);
    } else
      return false;
  }
  template <class F, class R, class... X>
  bool run_typed(called_with<R, X...>, std::optional<std::vector<slot>>& results) {
    if constexpr (!is_called_with<F, X...>)
      return false;
    else {
      if (!takes({ir_type_of<X>...}) || !returns<R>()) return false;
      if constexpr (std::is_same_v<R, one_cell>) refuse_types<F>();
      refuse_unheard_rule<F, any_has_function_rule<false, S, function<F, R>, in<X>...>()>();
      if constexpr (hears_signature<F>(called_with<R, X...>{}))
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          auto const result = called<F, R>(*by_.leaf(arguments_[I]).template get<in<X>>()...);
          if constexpr (std::is_same_v<R, one_cell>)
            results = slots_of_result(result);
          else
            append_slots(results.emplace(), result);
        }
      (std::index_sequence_for<X...>{});
      return true;
    }
  }
  template <class X>
  static void append_slots(std::vector<slot>& slots, X const& x) {
    if constexpr (std::is_constructible_v<any, X const&>)
      slots.push_back({any(x), nullptr, {}});
    else
      (void)tree_traits<X>::map(
          [&](auto const& child) {
            append_slots(slots, child);
            return 0;
          },
          x);
  }
  // A rule that names the function takes it, or the call is refused.
  template <class F, bool HasRule>
  void refuse_unheard_rule() const {
    if constexpr (!HasRule && is_in_rules<F>())
      throw evaluation_error(message(
          "overdub: a rule names @%.*s, and does not take the arguments that it has in this program; give "
          "the rule one parameter for the function and one for each number or array",
          static_cast<int>(name_.size()), name_.data()));
  }
  // Whether a rule names F, which does not answer values of any type.
  template <class F, class T = S>
  static consteval bool is_in_rules() {
    if constexpr (T::empty)
      return false;
    else if constexpr (detail::symbolic<typename T::context>)
      return false;
    else
      return (!answers_any_types<typename T::context> && is_listed<typename level_names<T>::rules, F>) ||
             is_in_rules<F, typename T::tail>();
  }

  template <class F, class R, class... X>
  auto called(X const&... x) {
    name_during_call const named(name_);
    function<F, R> f;
    f.evaluator = &by_;
    f.id = id_;
    f.arguments = &arguments_;
    f.results = &results_;
    f.returns_cell = f_.results.size() == 1 && is_cell(f_.results[0]);
    return call(by_.stack_, f, x...);
  }

  // ---- calls of other values

  template <class F>
  void run_untyped(std::optional<std::vector<slot>>& results) {
    refuse_types<F>();
    if constexpr (hears_untyped<F>()) {
      std::vector<any> all;
      for (slot const& s : arguments_) all.push_back(by_.cell_or_none(s));
      refuse_rules<F>();
      results = slots_of_result(call_untyped<F>(all));
    } else
      refuse_rules<F>();
  }
  // Contexts see the first arguments, where there are many.
  template <class F>
  any call_untyped(std::vector<any> const& all) {
    any result;
    [&]<std::size_t... N>(std::index_sequence<N...>) {
      (void)((std::min(all.size(), most_seen) == N && (result = call_on<F>(all, std::make_index_sequence<N>{}), true)) || ...);
    }
    (std::make_index_sequence<most_seen + 1>{});
    return result;
  }
  template <class F, std::size_t... I>
  any call_on(std::vector<any> const& all, std::index_sequence<I...>) {
    return called<F, one_cell>(all[I]...);
  }
  // Several results, and what a cell does not hold, are as the body gave them.
  std::vector<slot> slots_of_result(any const& result) const {
    if (result) return {slot{result, nullptr, {}}};
    return results_;
  }
  // The types of values are known when the program is, and not to the compiler.
  template <class F>
  void refuse_types() const {
    bool const asks = [&]<std::size_t... N>(std::index_sequence<N...>) {
      return ((count() == N && any_asks_types<S, function<F, one_cell>, N>()) || ...);
    }
    (std::make_index_sequence<most_typed + 1>{});
    if (asks)
      throw evaluation_error(message(
          "overdub: a context's `enter` asks for the types of the arguments of @%.*s, which is not compiled "
          "for "
          "its signature; list the "
          "signature in the context, `using signatures = overdub::types<...>`, or stage the function of C++ "
          "in it",
          static_cast<int>(name_.size()), name_.data()));
  }
  // A rule that would answer the function, if it were compiled for its signature.
  template <class F>
  void refuse_rules() const {
    if (is_in_rules<F>() || is_in_families<F>()) {
      std::string const signature = signature_in_cpp(f_);
      throw evaluation_error(message(
          "overdub: a rule answers @%.*s, which is %s, and is compiled for other signatures; list this one "
          "in the context, "
          "`using signatures = overdub::types<...>`, or stage the function of C++ in it",
          static_cast<int>(name_.size()), name_.data(), signature.c_str()));
    }
  }
  template <class F>
  bool is_in_families() const {
    if constexpr (has_written_signatures<S, F>)
      return []<class... Signature>(types<Signature...>) {
        return (has_typed_rule<F>(Signature{}) || ...);
      }(written_signatures_t<S, F>{});
    else
      return [&]<class... Signature>(types<Signature...>) {
        std::size_t n = 0;
        return ((std::min(count(), most_typed) == n++ && has_typed_rule<F>(Signature{})) || ...);
      }(calls_of_reals{});
  }
};

template <class S>
auto evaluator<S>::called(ir::function_id id, std::vector<slot> arguments) -> std::vector<slot> {
  if constexpr (may_hear_functions())
    if (hears_functions_)
      if (auto results = function_call(*this, id, arguments).run()) return *std::move(results);
  return call_unseen(id, std::move(arguments));
}
template <class S>
consteval bool evaluator<S>::may_hear_functions() {
  if constexpr (S::empty)
    return false;
  else
    return function_call::is_any_heard() || !std::is_same_v<named_functions_t<S>, types<>>;
}
template <class S>
bool evaluator<S>::finds_functions([[maybe_unused]] ir::program const& p) {
  if constexpr (!may_hear_functions())
    return false;
  else
    return function_call::is_any_heard() || function_call::is_named_in(p);
}
template <class S>
template <class T>
consteval bool evaluator<S>::hears_same_functions() {
  return may_hear_functions() == evaluator<T>::may_hear_functions() &&
         std::is_same_v<named_functions_t<S>, named_functions_t<T>>;
}

// Whether a function's name is the other's, or that with the names of contexts after it.
inline bool is_made_of(std::string_view name, std::string_view origin) {
  return name.starts_with(origin) && (name.size() == origin.size() || name[origin.size()] == '.');
}
/// Whether a native function is a hook of a context for this function, for what an outer context made of it, or for what it was made of.
inline bool is_hook_of(std::string_view native, std::string_view function) {
  for (std::string_view const hook : {".before ", ".after ", ".failed "})
    if (std::size_t const at = native.find(hook); at != native.npos) {
      std::string_view const rest = native.substr(at + hook.size());
      std::string_view const of = rest.substr(0, rest.find('('));
      return is_made_of(of, function) || is_made_of(function, of);
    }
  return false;
}
// What a context does about native functions in a function of C++, it does not do about those of a program.
template <class S>
void evaluator<S>::refuse_natives([[maybe_unused]] node const& x) const {
  if constexpr (!S::empty) {
    if (x.code != ir::op::host) return;
    [[maybe_unused]] std::string_view const called = program_.text(x.attributes.text());
    bool const is_named = [&]<class... F>(types<F...>) {
      return ((F::name() == called) || ...);
    }(named_natives_t<S>{});
    auto const is_any_of = [&]<class... Native>(types<Native...>) {
      return ((is_for_natives<S, Native::effects>() && x.attributes.effects == Native::effects) || ...);
    };
    using effectful = types<
        any_native<effect::may_fail>, any_native<effect::reads_context>, any_native<effect::addressed>,
        any_native<effect::accumulates>, any_native<effect::ordered>>;
    bool const is_meant = !is_name_of_hook(called) && is_any_of(effectful{});
    if (is_named || is_meant)
      throw evaluation_error(message(
          "overdub: a context is for calls of the native function \"%.*s\", which this program, staged "
          "before, makes without "
          "contexts; stage the function of C++ in the context",
          static_cast<int>(called.size()), called.data()));
  }
}

/// Whether an entry is what contexts with hooks do around a call, and not a function: it calls that function, named after them, and hooks.
inline bool is_run_of_function(ir::program const& p, ir::function_id entry) {
  std::string_view const own = recorder::base_name(p.name_of(entry));
  bool has_hooks = false, calls = false;
  ir::walk(p[entry], ir::function::body, [&](ir::node_id n) {
    ir::function::node const& x = p[entry][n];
    has_hooks = has_hooks || (x.code == ir::op::host && is_hook_of(p.text(x.attributes.text()), own));
    if (x.code != ir::op::call) return;
    std::string_view const name = recorder::base_name(p.name_of(x.attributes.callee()));
    calls = calls || (std::ranges::count(name, '.') > std::ranges::count(own, '.') &&
                      name.substr(0, name.find('.')) == own.substr(0, own.find('.')));
  });
  return has_hooks && calls;
}

/// A function that calls this one as contexts hear it: the function in the contexts, where none does.
template <class S>
auto evaluator<S>::heard(ir::function_id id) -> ir::function_id requires symbolic {
  if (!hears_functions_ || (id == program_.entry && is_run_of_function(program_, id))) return staged(id);
  if constexpr (may_hear_functions()) {
    recorder& r = recorder_();
    void const* const key = r.key_of(&type_key<evaluator>, &program_, ir::index_of(id));
    if (auto const* known = r.find(key)) return known->id;
    ir::function const& f = program_[id];
    std::vector<ir::type> parameters, parameter_symbols;
    for (ir::value_id const v : f.parameters()) {
      parameters.push_back(f.type_of(v));
      append_types_in(parameter_symbols, f.type_of(v));
    }
    std::size_t const number =
        r.begin(key, std::string(recorder::base_name(program_.text(f.name))) + above_, parameter_symbols);
    ir::function_id const made = r.id_of(number);
    std::vector<ir::value_id> results;
    {
      auto const scope = r.enter(made);
      auto const yielded = called(id, slots_of(parameters, r.here().parameters()));
      for (std::size_t i = 0; i < yielded.size(); ++i) append_symbols(results, yielded[i], f.results[i]);
      r.at().yield(results);
      r.program[made].results = r.types_of(results);
    }
    r.end(number, std::vector<any>());
    return made;
  }
  return staged(id);
}

} // namespace overdub::detail
