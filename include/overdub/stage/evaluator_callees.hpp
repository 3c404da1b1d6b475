// The evaluator: calls of functions that a context intercepts, through the dispatcher, like calls of C++ functions (program_function.hpp).
#pragma once

#include <overdub/ir/walk.hpp>
#include <overdub/stage/evaluator.hpp>
#include <overdub/stage/program_function.hpp>
#include <overdub/stage/program_native.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

namespace overdub::detail {

// The name of the function from which contexts derived a function; its own name, if they did not.
inline std::string_view origin_name_of(ir::program const& p, ir::function const& f) {
  return f.origin_name.empty() ? p.text(f.name) : f.origin_name;
}

// The callee of an intercepted_call: a function of the program.
template <class S>
struct evaluator<S>::function_callee {
  evaluator& by;
  ir::function_id id;
  std::vector<slot> results = {};
  static constexpr bool has_typed_rules_for_all = true;
  static constexpr bool tells_nothing = false; // the result of a function without results is an empty cell

  template <class F, class R>
  using callee = program_function<evaluator, F, R>;
  template <class F, class... X>
  using result_of_numbers = double;
  template <class F, class... X>
  static constexpr bool takes = is_called_with<F, X...>;

  ir::function const& function() const { return by.program_[id]; }
  std::string_view name() const { return by.program_.text(function().name); }
  std::string_view origin_name() const { return origin_name_of(by.program_, function()); }
  void const* origin_in_cpp() const { return function().origin_in_cpp; }
  std::vector<ir::type> parameter_types() const {
    std::vector<ir::type> types;
    for (ir::value_id const v : function().parameters()) types.push_back(function().type_of(v));
    return types;
  }
  std::vector<ir::type> const& result_types() const { return function().results; }
  static void check_untyped(std::vector<any> const&) {}
  template <class F, class R>
  static consteval bool is_only_observed() {
    return false;
  }

  template <class F, class R>
  callee<F, R> made(std::vector<slot> const& arguments) {
    callee<F, R> f;
    f.evaluator = &by;
    f.id = id;
    f.arguments = &arguments;
    f.results = &results;
    f.returns_cell = result_types().size() == 1 && is_cell(result_types()[0]);
    return f;
  }
};

// A call of a function, or native function, of the program, dispatched to the contexts that observe or replace it.
template <class S>
template <class Callee>
class evaluator<S>::intercepted_call {
  static constexpr std::size_t most_seen = 8;   // the arguments of an untyped call that contexts receive
  static constexpr std::size_t most_probed = 3; // the arguments for which hooks are tested one by one

  evaluator& by_;
  Callee callee_;
  std::vector<slot> const& arguments_;
  std::string_view name_;
  std::vector<ir::type> parameters_, result_types_;

public:
  intercepted_call(Callee callee, std::vector<slot> const& arguments)
      : by_(callee.by), callee_(std::move(callee)), arguments_(arguments),
        name_(interned_name(recorder::base_name(callee_.name()))), parameters_(callee_.parameter_types()),
        result_types_(callee_.result_types()) {}

  /// Returns the results, if a context intercepts the call. The callee is the first function of the list that it matches, or else Unnamed.
  template <class Unnamed, class... F>
  std::optional<std::vector<slot>> run(types<F...>) {
    std::optional<std::vector<slot>> results;
    bool const is_named =
        ((is_called_as<F>(callee_.origin_in_cpp(), callee_.origin_name()) && (results = run_as<F>(), true)) ||
         ...);
    if (!is_named) {
      if constexpr (Callee::has_typed_rules_for_all)
        results = run_as<Unnamed>();
      else
        run_untyped<Unnamed>(results);
    }
    return results;
  }

  // Whether contexts intercept calls of a callee that no context names.
  template <class Unnamed>
  static consteval bool is_any_intercepted() {
    return intercepts_any<Unnamed>(tried_signatures_t<S, Unnamed>{}) || intercepts_untyped<Unnamed>() ||
           asks_types_of<Unnamed>() || observes_by_types<Unnamed>();
  }

private:
  template <class F, class R>
  using callee_as = typename Callee::template callee<F, R>;

  // ---- typed calls

  template <class R>
  using result_in = typename program_result<S, R>::type;
  template <class F, class R, class... X>
  static consteval bool intercepts_signature(called_with<R, X...>) {
    return any_intercepts_function<S, callee_as<F, R>, result_in<R>, in<X>...>();
  }
  template <class F, class... Signature>
  static consteval bool intercepts_any(types<Signature...>) {
    return (intercepts_signature<F>(Signature{}) || ...);
  }
  // Whether a context has a rule for the call, and does not declare answers_any_types.
  template <class F, class R, class... X>
  static consteval bool has_typed_rule(called_with<R, X...>) {
    if constexpr (Callee::template takes<F, X...>)
      return any_has_function_rule<any_answers_any_types<S>(), S, callee_as<F, R>, in<X>...>();
    else
      return false;
  }
  // Whether the `enter` of a context accepts argument types, for any number of arguments.
  template <class F>
  static consteval bool asks_types_of() {
    return []<std::size_t... N>(std::index_sequence<N...>) {
      return (any_asks_types<S, callee_as<F, one_cell>, N>() || ...);
    }
    (std::make_index_sequence<most_typed + 1>{});
  }
  template <class F>
  static consteval bool intercepts_untyped() {
    // Hooks of several parameters are compiled for the signatures that are listed, if any.
    constexpr std::size_t most = has_written_signatures<S, F> ? 1 : most_seen;
    return intercepts_cells<S, callee_as<F, one_cell>, most>();
  }
  // Whether a hook accepts calls with up to `most_probed` arguments of some types.
  template <class F>
  static consteval bool observes_by_types() {
    constexpr auto takes_one = []<class... X>(types<X...>) {
      return (hooks_take<S, callee_as<F, one_cell>>(types<in<X>>{}) || ...);
    };
    constexpr auto takes_several = []<std::size_t... N>(std::index_sequence<N...>) {
      return (hooks_take<S, callee_as<F, one_cell>>(list_of_t<anything, N + 2>{}) || ...);
    };
    return takes_one(concatenated_t<scalar_types, vector_types, matrix_types>{}) ||
           takes_several(std::make_index_sequence<most_probed - 1>{});
  }
  std::size_t count() const { return parameters_.size(); }
  bool takes(std::initializer_list<ir::type> types) const { return std::ranges::equal(parameters_, types); }
  bool takes_reals() const {
    return count() <= most_typed && std::ranges::all_of(parameters_, [](ir::type t) { return t == ir::f64; });
  }
  template <class R>
  bool returns() const {
    if constexpr (std::is_same_v<R, one_cell>)
      return true;
    else if constexpr (std::is_same_v<R, none>)
      return result_types_.empty();
    else {
      std::vector<ir::type> leaves;
      return append_leaf_types<R>(leaves) && leaves == result_types_;
    }
  }

  template <class F>
  std::optional<std::vector<slot>> run_as() {
    std::optional<std::vector<slot>> results;
    bool const is_typed = [&] {
      if constexpr (has_written_signatures<S, F>)
        return run_written<F>(written_signatures_t<S, F>{}, results);
      else
        return run_said<F>(typename native_signature<F>::type{}, results) ||
               (takes_reals() && run_reals<F>(results)) ||
               run_said<F>(decltype(find_said_types<true, S, F>()){}, results) ||
               (!is_in_rules<F>() && run_observed<F>(decltype(find_said_types<false, S, F>()){}, results));
    }();
    if (!is_typed) run_untyped<F>(results);
    return results;
  }
  // Each returns whether the function has one of the signatures, and then calls it.
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
  bool run_observed(types<List...>, std::optional<std::vector<slot>>& results) {
    return (run_typed<F>(with_cell(List{}), results) || ...);
  }
  template <class... X>
  static called_with<one_cell, X...> with_cell(types<X...>) {
    return {};
  }
  // The function must return an f64, or the type that the rule returns.
  template <class F, class... X>
  bool run_numbers(types<X...>, std::optional<std::vector<slot>>& results) {
    if constexpr (Callee::template takes<F, X...>) {
      using Own = typename Callee::template result_of_numbers<F, X...>;
      using R = typename decltype(find_rule_result<S, callee_as<F, Own>, in<X>...>())::type;
      if constexpr (std::is_same_v<R, nothing>)
        return run_typed<F>(called_with<Own, X...>{}, results);
      else
        return run_typed<F>(called_with<R, X...>{}, results);
    } else
      return false;
  }
  template <class F, class R, class... X>
  bool run_typed(called_with<R, X...>, std::optional<std::vector<slot>>& results) {
    if constexpr (!Callee::template takes<F, X...>)
      return false;
    else {
      if (!takes({ir_type_of<X>...})) return false;
      if constexpr (!is_result<R>)
        throw_result();
      else {
        if (!returns<R>()) return false;
        if constexpr (std::is_same_v<R, one_cell>) refuse_types<F>();
        reject_unmatched_rule<F, any_has_function_rule<false, S, callee_as<F, R>, in<X>...>()>();
        if constexpr (intercepts_signature<F>(called_with<R, X...>{}))
          [&]<std::size_t... I>(std::index_sequence<I...>) {
            auto const result = called<F, R>(*by_.leaf(arguments_[I]).template get<in<X>>()...);
            if constexpr (std::is_same_v<R, one_cell>)
              results = slots_of_result(result);
            else
              put_results(results.emplace(), result);
          }
        (std::index_sequence_for<X...>{});
        return true;
      }
    }
  }
  // Whether R can be the result type of a program's function: numbers, arrays, and trees of them.
  template <class R>
  static constexpr bool is_result =
      std::is_same_v<R, one_cell> || std::is_same_v<R, none> || is_cell_type<R> || generated_tree<R>;
  [[noreturn]] void throw_result() const {
    throw evaluation_error(message(
        "overdub: a rule for @%.*s returns another type than it has in this program; convert it with "
        "overdub::convert<T>",
        static_cast<int>(name_.size()), name_.data()));
  }
  template <class R>
  void put_results(std::vector<slot>& slots, R const& result) const {
    append_slots(slots, result);
    bool const are_same = slots.size() == result_types_.size() &&
                          std::ranges::equal(slots, result_types_, [](slot const& s, ir::type t) {
                            return opened(s.leaf, []<class X>(auto const&, std::type_identity<X>) {
                                     return ir_type_of<X>;
                                   }) == t;
                          });
    if (!are_same) throw_result();
  }
  template <class X>
  static void append_slots(std::vector<slot>& slots, X const& x) {
    if constexpr (std::is_same_v<X, none>)
      return;
    else if constexpr (std::is_constructible_v<any, X const&>)
      slots.push_back({any(x), nullptr, {}});
    else
      each_child([&](auto const& child) { append_slots(slots, child); }, x);
  }
  // Throws evaluation_error if a rule names the function and does not accept its arguments.
  template <class F, bool HasRule>
  void reject_unmatched_rule() const {
    if constexpr (!HasRule && is_in_rules<F>())
      throw evaluation_error(message(
          "overdub: a rule names @%.*s, and does not take the arguments that it has in this program; give "
          "the rule one parameter for the function, and one of type auto for each number or array",
          static_cast<int>(name_.size()), name_.data()));
  }
  // Whether a rule of a context that does not declare answers_any_types names F.
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
    return call(by_.stack_, callee_.template made<F, R>(arguments_), x...);
  }

  // ---- untyped calls

  template <class F>
  void run_untyped(std::optional<std::vector<slot>>& results) {
    refuse_types<F>();
    if constexpr (intercepts_untyped<F>()) {
      std::vector<any> all;
      for (slot const& s : arguments_) all.push_back(by_.cell_or_none(s));
      refuse_rules<F>();
      callee_.check_untyped(all);
      if (result_types_.empty() && Callee::tells_nothing)
        results = slots_of_result(call_untyped<F, no_cell>(all));
      else
        results = slots_of_result(call_untyped<F, one_cell>(all));
    } else {
      refuse_rules<F>();
      refuse_typed_hooks<F>(std::make_index_sequence<most_probed + 1>{});
    }
  }
  // Throws evaluation_error if a hook accepts the C++ types of the arguments, but not values with a dynamic type.
  template <class F, std::size_t... N>
  void refuse_typed_hooks(std::index_sequence<N...>) const {
    bool const is_meant = ((count() == N && takes_by_types<F, N>(std::make_index_sequence<N>{})) || ...);
    if (is_meant) {
      std::string const signature = signature_in_cpp(parameters_, result_types_);
      throw evaluation_error(message(
          "overdub: a hook takes calls of @%.*s, which is %s, and is compiled for other signatures; list "
          "this one in the "
          "context, `using signatures = overdub::types<...>`, or stage the function of C++ in it",
          static_cast<int>(name_.size()), name_.data(), signature.c_str()));
    }
  }
  template <class F, std::size_t N, std::size_t... I>
  bool takes_by_types(std::index_sequence<I...> each) const {
    if constexpr (N != 1 && !hooks_take<S, callee_as<F, one_cell>>(list_of_t<anything, N>{}))
      return false;
    else
      return (takes_argument<F, I>(each) && ...);
  }
  // Whether a hook accepts the I-th argument with its C++ type and arbitrary other arguments.
  template <class F, std::size_t I, std::size_t... K>
  bool takes_argument(std::index_sequence<K...>) const {
    if (!is_cell(parameters_[I])) return false;
    return with_type(parameters_[I], []<class T>(std::type_identity<T>) {
      return hooks_take<S, callee_as<F, one_cell>>(types<std::conditional_t<K == I, in<T>, anything>...>{});
    });
  }
  // Contexts receive at most `most_seen` arguments, the first ones.
  template <class F, class R>
  any call_untyped(std::vector<any> const& all) {
    if constexpr (Callee::template is_only_observed<F, R>())
      return callee_.template observed<F, R>(all, name_);
    else {
      any result;
      [&]<std::size_t... N>(std::index_sequence<N...>) {
        (void)((std::min(all.size(), most_seen) == N && (result = call_on<F, R>(all, std::make_index_sequence<N>{}), true)) || ...);
      }
      (std::make_index_sequence<most_seen + 1>{});
      return result;
    }
  }
  template <class F, class R, std::size_t... I>
  any call_on(std::vector<any> const& all, std::index_sequence<I...>) {
    if constexpr (std::is_same_v<R, no_cell> && !Callee::tells_nothing)
      return {};
    else if constexpr (std::is_same_v<decltype(called<F, R>(all[I]...)), none>) {
      (void)called<F, R>(all[I]...);
      return {};
    } else
      return called<F, R>(all[I]...);
  }
  // Several results, and results without a cell type, are those of the body.
  std::vector<slot> slots_of_result(any const& result) const {
    if (result) return {slot{result, nullptr, {}}};
    return callee_.results;
  }
  // Throws evaluation_error if `enter` accepts argument types, which are known only at run time.
  template <class F>
  void refuse_types() const {
    bool const asks = [&]<std::size_t... N>(std::index_sequence<N...>) {
      return ((count() == N && any_asks_types<S, callee_as<F, one_cell>, N>()) || ...);
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
  // Throws evaluation_error if a rule matches the function, but is not compiled for its signature.
  template <class F>
  void refuse_rules() const {
    if (is_in_rules<F>() || is_in_families<F>()) {
      std::string const signature = signature_in_cpp(parameters_, result_types_);
      throw evaluation_error(message(
          "overdub: a rule answers @%.*s, which is %s in this program, and it is not compiled for this "
          "signature, "
          "or returns another type: convert its result with overdub::convert<T>, or list the signature in "
          "the "
          "context, `using signatures = overdub::types<...>`, or stage the function of C++ in it",
          static_cast<int>(name_.size()), name_.data(), signature.c_str()));
    }
  }
  template <class F>
  bool is_in_families() const {
    if constexpr (!Callee::has_typed_rules_for_all)
      return false;
    else if constexpr (has_written_signatures<S, F>)
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
  if constexpr (may_intercept_functions())
    if (intercepts_functions_)
      if (auto results = intercepted_call<function_callee>({*this, id}, arguments)
                             .template run<unnamed_function>(named_functions_t<S>{}))
        return *std::move(results);
  return call_unseen(id, std::move(arguments));
}
template <class S>
consteval bool evaluator<S>::may_intercept_functions() {
  if constexpr (S::empty)
    return false;
  else
    return intercepted_call<function_callee>::template is_any_intercepted<unnamed_function>() ||
           !std::is_same_v<named_functions_t<S>, types<>>;
}
template <class S>
bool evaluator<S>::finds_functions([[maybe_unused]] ir::program const& p) {
  if constexpr (!may_intercept_functions())
    return false;
  else if constexpr (intercepted_call<function_callee>::template is_any_intercepted<unnamed_function>())
    return true;
  else
    return [&]<class... F>(types<F...>) {
      return std::ranges::any_of(p.functions, [&](ir::function const& f) {
        return f.name != ir::nothing && (is_called_as<F>(f.origin_in_cpp, origin_name_of(p, f)) || ...);
      });
    }(named_functions_t<S>{});
}
template <class S>
template <class T>
consteval bool evaluator<S>::intercepts_same_functions() {
  return may_intercept_functions() == evaluator<T>::may_intercept_functions() &&
         std::is_same_v<named_functions_t<S>, named_functions_t<T>>;
}

// Whether a function's name is `origin`, or `origin` followed by the names of contexts.
inline bool is_made_of(std::string_view name, std::string_view origin) {
  return name.starts_with(origin) && (name.size() == origin.size() || name[origin.size()] == '.');
}
/// Whether a native function is a hook of a context for this function, for the function from which it was derived, or for one that was
/// derived from it.
inline bool is_hook_of(std::string_view native, std::string_view function) {
  for (std::string_view const hook : {".before ", ".after ", ".failed "})
    if (std::size_t const at = native.find(hook); at != native.npos) {
      std::string_view const rest = native.substr(at + hook.size());
      std::string_view const of = rest.substr(0, rest.find('('));
      return is_made_of(of, function) || is_made_of(function, of);
    }
  return false;
}
/// Whether an entry is a wrapper that contexts with hooks generated: it calls hooks, and the function, whose name ends with the contexts'.
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

/// A staged function that calls this one with interception by the contexts; if no context intercepts it, the function in the contexts.
template <class S>
auto evaluator<S>::as_intercepted(ir::function_id id) -> ir::function_id requires symbolic {
  if (!intercepts_functions_ || (id == program_.entry && is_run_of_function(program_, id))) return staged(id);
  if constexpr (may_intercept_functions()) {
    recorder& r = recorder_();
    void const* const key = r.key_of(
        &type_key<evaluator>,
        {.contexts = contexts_above(stack_), .of = &program_, .number = ir::index_of(id)});
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
      r.yield(results);
      r.program[made].results = r.types_of(results);
    }
    r.end(number, std::vector<any>());
    ir::function_id const callee = only_callee(r.program, made);
    if (callee == ir::nothing) return made;
    r.program.erase(made); // it only forwards its arguments
    r.find(key)->id = callee;
    return callee;
  }
  return staged(id);
}

} // namespace overdub::detail
