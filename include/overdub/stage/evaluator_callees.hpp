// How an evaluator calls a function that a context hears: by the dispatcher, as a function of C++ is called (program_function.hpp).
#pragma once

#include <overdub/ir/walk.hpp>
#include <overdub/stage/evaluator.hpp>
#include <overdub/stage/program_function.hpp>

#include <algorithm>
#include <optional>
#include <string_view>

namespace overdub::detail {

// A name without the contexts and the number behind it, where it is this one.
inline bool is_name_of(std::string_view name, std::string_view callee) {
  if (!name.starts_with(callee)) return false;
  return name.size() == callee.size() || name[callee.size()] == '.' || name[callee.size()] == '#';
}

template <class S>
class evaluator<S>::function_call {
  using numbers = types<bool, i64, double>;
  using integers_or_reals = types<i64, double>;
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
      bool const is_named = ((is_called_as<F>() && (results = run_as<F>(), true)) || ...);
      if (!is_named) results = run_as<unnamed_function>();
      return results;
    }(named_functions_t<S>{});
  }

  // Whether a context hears some call of a program's function.
  static consteval bool is_heard() {
    return []<class... F, std::size_t... N>(types<F...>, std::index_sequence<N...>) {
      return sizeof...(F) > 0 || (hears_typed<unnamed_function, double>(list_of_t<double, N>{}) || ...) ||
             hears_untyped<unnamed_function>();
    }(named_functions_t<S>{}, std::make_index_sequence<most_typed + 1>{});
  }

private:
  template <class F, class R>
  using function = program_function<evaluator, F, R>;

  template <class F>
  bool is_called_as() const {
    if constexpr (!is_symbol_name<F>)
      if (f_.origin_in_cpp != nullptr) return f_.origin_in_cpp == &type_key<F>;
    return is_name_of(name_, F::name());
  }

  // ---- calls of numbers

  template <class F, class R, class... X>
  static consteval bool hears_typed(types<X...>) {
    return any_hears_function<S, function<F, R>, in<R>, in<X>...>();
  }
  static consteval bool hears_untyped_one() { return false; }
  template <class F>
  static consteval bool hears_untyped() {
    return any_hears_function<S, function<F, one_cell>, any>() ||
           any_hears_function<S, function<F, one_cell>, any, any>();
  }
  template <class T>
  static bool is(ir::type t) {
    return t == ir_type_of<T>;
  }
  template <class T>
  bool all_are() const {
    for (ir::value_id const v : f_.parameters())
      if (!is<T>(f_.type_of(v))) return false;
    return f_.results.size() == 1;
  }
  std::size_t count() const { return f_.parameters().size(); }
  ir::type parameter(std::size_t i) const { return f_.type_of(f_.parameters()[i]); }

  template <class F>
  std::optional<std::vector<slot>> run_as() {
    std::optional<std::vector<slot>> results;
    bool was_typed = false;
    // Of a real number each, and of up to two numbers.
    [&]<std::size_t... N>(std::index_sequence<N...>) {
      (void)((count() == N && all_are<double>() && is<double>(f_.results[0]) &&
              (was_typed = true, run_typed<F, double>(list_of_t<double, N>{}, results), true)) ||
             ...);
    }(std::make_index_sequence<most_typed + 1>{});
    if (!was_typed && f_.results.size() == 1 && count() <= 2) was_typed = run_small<F>(results);
    if (!was_typed) run_untyped<F>(results);
    return results;
  }
  template <class F>
  bool run_small(std::optional<std::vector<slot>>& results) {
    return [&]<class... R>(types<R...>) {
      return ((is<R>(f_.results[0]) && run_returning<F, R>(results)) || ...);
    }(numbers{});
  }
  template <class F, class R>
  bool run_returning(std::optional<std::vector<slot>>& results) {
    return [&]<class... X>(types<X...>) {
      if (count() == 0) {
        run_typed<F, R>(types<>{}, results);
        return true;
      }
      if (count() == 1)
        return ((is<X>(parameter(0)) && (run_typed<F, R>(types<X>{}, results), true)) || ...);
      return ((is<X>(parameter(0)) && run_second<F, R, X>(results)) || ...);
    }(integers_or_reals{});
  }
  template <class F, class R, class First>
  bool run_second(std::optional<std::vector<slot>>& results) {
    return [&]<class... X>(types<X...>) {
      return ((is<X>(parameter(1)) && (run_typed<F, R>(types<First, X>{}, results), true)) || ...);
    }(integers_or_reals{});
  }

  // A rule is looked at for real numbers first: one for these need not compile for integers.
  template <class F, class R, class... X>
  static consteval bool is_typed(types<X...>) {
    if constexpr (!is_called_with<F, X...>)
      return false;
    else
      return (std::is_same_v<R, double> && ... && std::is_same_v<X, double>) || !has_rule<F, double>(list_of_t<double, sizeof...(X)>{});
  }
  template <class F, class R, class... X>
  void run_typed(types<X...>, std::optional<std::vector<slot>>& results) {
    if constexpr (is_typed<F, R>(types<X...>{})) {
      if constexpr (hears_typed<F, R>(types<X...>{})) {
        refuse_unheard_rule<F, has_rule<F, R>(types<X...>{})>();
        [&]<std::size_t... I>(std::index_sequence<I...>) {
          results = {{slot{any(called<F, R>(*by_.leaf(arguments_[I]).template get<in<X>>()...)), nullptr, {}}}};
        }(std::index_sequence_for<X...>{});
      } else
        refuse_unheard_rule<F, false>();
    } else
      run_untyped<F>(results);
  }
  template <class F, class R, class... X>
  static consteval bool has_rule(types<X...>) {
    return any_has_function_rule<S, function<F, R>, in<X>...>();
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
  template <class F, class T = S>
  static consteval bool is_in_rules() {
    if constexpr (T::empty)
      return false;
    else if constexpr (detail::symbolic<typename T::context>)
      return false;
    else
      return []<class... N>(types<N...>) {
        return (std::is_same_v<N, F> || ...);
      }(typename level_names<T>::rules{}) || is_in_rules<F, typename T::tail>();
  }

  template <class F, class R, class... X>
  auto called(X const&... x) {
    name_during_call const named(name_);
    function<F, R> f;
    f.evaluator = &by_;
    f.id = id_;
    f.arguments = &arguments_;
    f.results = &results_;
    return call(by_.stack_, f, x...);
  }

  // ---- calls of other values

  template <class F>
  void run_untyped(std::optional<std::vector<slot>>& results) {
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
      (void)((std::min(all.size(), most_seen) == N &&
              (result = call_on<F>(all, std::make_index_sequence<N>{}), true)) ||
             ...);
    }(std::make_index_sequence<most_seen + 1>{});
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
  // Rules are made for calls of numbers.
  template <class F>
  void refuse_rules() const {
    [&]<std::size_t... N>(std::index_sequence<N...>) {
      bool const has =
          is_in_rules<F>() || ((count() == N && has_rule_for_reals<F>(list_of_t<double, N>{})) || ...);
      if (has)
        throw evaluation_error(message(
            "overdub: a rule answers @%.*s, whose arguments and results are not numbers, or too many; in programs, "
            "rules answer functions of up to %d numbers f64, and of two numbers i64 or f64, that return one "
            "number; stage the function of C++ in the context",
            static_cast<int>(name_.size()), name_.data(), static_cast<int>(most_typed)));
    }(std::make_index_sequence<most_typed + 1>{});
  }
  template <class F, class... X>
  static consteval bool has_rule_for_reals(types<X...>) {
    if constexpr (is_called_with<F, X...>)
      return any_has_function_rule<S, function<F, double>, in<X>...>();
    else
      return false;
  }
};

template <class S>
auto evaluator<S>::called(ir::function_id id, std::vector<slot> arguments) -> std::vector<slot> {
  if constexpr (hears_functions())
    if (auto results = function_call(*this, id, arguments).run()) return *std::move(results);
  return call_unseen(id, std::move(arguments));
}
template <class S>
consteval bool evaluator<S>::hears_functions() {
  if constexpr (S::empty)
    return false;
  else
    return function_call::is_heard();
}

/// Whether an entry is what contexts with hooks do around a call, and not a function: it calls that function, named after them, and hooks.
inline bool is_run_of_function(ir::program const& p, ir::function_id entry) {
  std::string_view const own = recorder::base_name(p.name_of(entry));
  bool has_hooks = false, calls = false;
  ir::walk(p[entry], ir::function::body, [&](ir::node_id n) {
    ir::function::node const& x = p[entry][n];
    has_hooks = has_hooks || (x.code == ir::op::host && x.result_count == 0);
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
  if constexpr (!hears_functions())
    return staged(id);
  else if (id == program_.entry && is_run_of_function(program_, id))
    return staged(id);
  else {
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
}

} // namespace overdub::detail
