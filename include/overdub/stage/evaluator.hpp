// The evaluator runs the functions of a program by dispatching each operation in a stack of contexts. On numbers it interprets the
// program, on values of a context it runs the program in that context, and on symbols it stages the program again. It is the
// reference of all executors.
#pragma once

#include <overdub/call/stack_limit.hpp>
#include <overdub/control/if.hpp>
#include <overdub/control/loop.hpp>
#include <overdub/control/map.hpp>
#include <overdub/control/reduce.hpp>
#include <overdub/stage/array_calls.hpp>
#include <overdub/stage/evaluated_in_library.hpp>
#include <overdub/stage/recorder.hpp>
#include <overdub/stage/thunk.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// A function that combines elements in the order of sums of floating-point numbers.
template <class F>
struct summing {
  F const& f;
  template <class X>
  constexpr auto operator()(X const& a, X const& b) const {
    return f(a, b);
  }
};
template <class F>
inline constexpr bool combines_in_lanes<summing<F>> = true;

// A function that combines elements by an operation.
template <class F>
struct named {
  F const& f;
  ir::op operation;
  bool is_intercepted; // by a context; otherwise the operation is staged
  template <class X>
  constexpr auto operator()(X const& a, X const& b) const {
    return f(a, b);
  }
};

// Contexts of forward mode with one tangent, which is their metadata.
template <class C>
concept keeps_tangents = requires {
  requires C::directions == 1;
};
// Whether the outermost context with metadata keeps tangents.
template <class S>
consteval bool finds_tangents() {
  if constexpr (S::empty)
    return false;
  else if constexpr (keeps_tangents<typename S::context>)
    return true;
  else if constexpr (carries_metadata<typename S::context>)
    return false;
  else
    return finds_tangents<typename S::tail>();
}
template <class S>
inline constexpr bool differentiates = finds_tangents<S>();

// Whether a context of the stack, except `staging`, has metadata.
template <class S>
consteval bool keeps_metadata() {
  if constexpr (S::empty)
    return false;
  else if constexpr (detail::symbolic<typename S::context>)
    return false;
  else
    return carries_metadata<typename S::context> || keeps_metadata<typename S::tail>();
}

// Whether a context of the stack may distinguish constants from other values: by metadata, or by the types of its rules' arguments.
template <class S>
consteval bool finds_constants() {
  if constexpr (S::empty)
    return false;
  else if constexpr (detail::symbolic<typename S::context>)
    return finds_constants<typename S::tail>();
  else
    return carries_metadata<typename S::context> || declares_rules<typename S::context> ||
           finds_constants<typename S::tail>();
}
template <class S>
inline constexpr bool has_constants = finds_constants<S>();

// The names of the outer contexts of S, down to T.
template <class S, class T>
std::string names_above() {
  if constexpr (std::is_same_v<S, T>)
    return {};
  else
    return std::string(1, '.').append(context_name_v<typename S::context>) +
           names_above<typename S::tail, T>();
}

struct reduction_interest;

template <class S>
class evaluator {
public:
  using stack_type = S;
  using any = cell<S>;
  using any_element = element_cell<S>;
  using any_array = array_cell<S>;
  template <class T>
  using in = wrap_t<S, T>;

  // Whether literals must be passed as constants, since rules of the contexts may distinguish them.
  static constexpr bool tells_literals = has_constants<S>;
  static constexpr bool symbolic = is_symbolic<S>;
  // Whether a program is rewritten in contexts without metadata: then each value is one symbol, and operations that are not
  // intercepted are copied unchanged.
  static constexpr bool keeps_form = symbolic && !keeps_metadata<S>();
  static constexpr bool on_numbers = S::empty;
  static constexpr std::size_t most_stack = std::size_t{1} << 20; // bytes of the host's stack

  struct closure;
  // A value of the function: a leaf, a function value, or an accumulator.
  struct slot {
    mutable any leaf; // made from the symbol at the first read
    std::shared_ptr<closure> function_value;
    std::vector<ir::value_id> accumulators; // symbols, in symbolic contexts
    ir::value_id symbol = ir::nothing; // of an unknown function value, or of a result of a copied operation
    ir::type type{};                   // the symbol's type in the program that is evaluated
  };
  struct closure {
    ir::function_id f;
    std::vector<slot> captured;
    std::shared_ptr<closure> next = {}; // in the list of closures to destroy

    // Chains of function values that capture one another may be long: they are destroyed without recursion.
    ~closure() {
      std::shared_ptr<closure> left;
      auto const take_from = [&](closure& c) {
        for (slot& s : c.captured) {
          std::shared_ptr<closure> inner = std::move(s.function_value);
          if (inner.use_count() != 1) continue;
          inner->next = std::move(left);
          left = std::move(inner);
        }
      };
      take_from(*this);
      while (left) {
        std::shared_ptr<closure> const one = std::move(left);
        left = std::move(one->next);
        take_from(*one);
      }
    }
  };
  struct frame {
    ir::function const& f;
    std::vector<slot> slots;
  };
  using thunks = thunk_table<evaluator, frame>;

  // Functions that it stages are named by their original name, followed by `above` and the names of the contexts.
  evaluator(ir::program const& p, S const& contexts, std::string above = {})
      : evaluator(p, contexts, std::move(above), finds_functions(p)) {}

  S const& stack() const { return stack_; }
  /// Whether elementary functions are those of the math mode `consistent`. (Programs of the mode `fast` are evaluated as `exact`.)
  bool is_consistent() const { return program_.math == ir::math_mode::consistent; }

  /// Runs a function on cells of its parameters' types.
  std::vector<any> run(ir::function_id id, std::vector<any> const& arguments);

  /// The operation that threw, in the innermost region and function.
  evaluation_place const& failed() const { return failed_; }

  // ---- for thunks

  template <class T, bool Literal>
  decltype(auto) operand(frame& at, ir::value_id v) const {
    if constexpr (!std::is_arithmetic_v<T>)
      return *leaf(at.slots[index_of(v)]).template get<in<T>>();
    else if constexpr (Literal || S::empty)
      return at.f.is_literal(v) ? literal_value<T>(at.f, v) : plain_operand<T>(at, v);
    else
      return at.f.is_literal(v) ? in<T>(wrap(stack_, literal_value<T>(at.f, v)))
                                : *leaf(at.slots[index_of(v)]).template get<in<T>>();
  }
  template <class X>
  void set(frame& at, ir::value_id v, X&& x) {
    at.slots[index_of(v)].leaf = any(wrap(stack_, std::forward<X>(x)));
  }

  // ---- for functions that contexts intercept

  ir::program const& program() const { return program_; }
  /// Runs the body of a function in the contexts, without interception of the call.
  std::vector<slot> call_unseen(ir::function_id id, std::vector<slot> arguments);
  /// An evaluator in other contexts.
  template <class T>
  evaluator<T> in_contexts(T const& contexts) const {
    auto const made = [&] {
      if constexpr (intercepts_same_functions<T>())
        return evaluator<T>(program_, contexts, above_, intercepts_functions_);
      else
        return evaluator<T>(program_, contexts, above_);
    };
    evaluator<T> other = made();
    other.limit_ = limit_;
    return other;
  }
  /// The cell of a slot; none, if the value has no cell type.
  any cell_or_none(slot const& s) const;
  static bool is_cell(ir::type t) { return t.rank <= 2 && t.element <= ir::scalar::f64 && !t.is_function(); }
  /// The symbols of a function's results, and results of such symbols.
  std::vector<ir::value_id> symbols_of_results(ir::function_id id, std::vector<slot> const& results) {
    std::vector<ir::value_id> all;
    for (std::size_t i = 0; i < results.size(); ++i) append_symbols(all, results[i], program_[id].results[i]);
    return all;
  }
  std::vector<slot> results_of_symbols(ir::function_id id, ir::id_range<ir::value_id> symbols) {
    return slots_of(program_[id].results, symbols);
  }

  /// Calls a native function with pointers to its arguments, and to its result, if any.
  void run_native(ir::function::node const& x, std::vector<void const*> const& given, void* result) const;
  /// Stages the call of a native function. Returns the result, if there is one.
  ir::value_id native_in_program(
      ir::function::node const& x, std::span<ir::value_id const> operands,
      std::vector<ir::type> const& results);

  /// Copies an operation that no context intercepts to the staged program. Its regions are evaluated.
  void copy(frame& at, ir::node_id n);
  /// Copies an operation with one result, between the calls of the hooks that observe it.
  void observe(frame& at, ir::node_id n, std::string_view name, std::span<observation const> contexts);

private:
  template <class>
  friend class evaluator;
  evaluator(ir::program const& p, S const& contexts, std::string above, bool intercepts_functions)
      : program_(p), stack_(contexts), above_(std::move(above)), intercepts_functions_(intercepts_functions) {
    check_math();
  }

  using node = ir::function::node;

  template <class T>
  T plain_operand(frame& at, ir::value_id v) const {
    if constexpr (S::empty)
      return *at.slots[index_of(v)].leaf.template get<T>();
    else
      throw evaluation_error(message("overdub: evaluate: no literal"));
  }

  // Rejects programs of a math mode that is not available.
  void check_math() const;

  any const& leaf(slot const& s) const {
    if constexpr (keeps_form)
      if (!s.leaf && s.symbol != ir::nothing && !s.type.is_function())
        s.leaf = with_type(
            s.type, [&]<class T>(std::type_identity<T>) -> any { return symbol_in<T>(stack_, s.symbol); });
    if (!s.leaf)
      throw evaluation_error(message(
          "overdub: evaluate: a function value or an accumulator stands where only numbers and arrays "
          "can; inline the function first, or use an executable"));
    return s.leaf;
  }
  any cell_of(frame& at, ir::value_id v) {
    if (!at.f.is_literal(v)) return leaf(at.slots[index_of(v)]);
    return with_type(at.f.type_of(v), [&]<class T>(std::type_identity<T>) -> any {
      if constexpr (std::is_arithmetic_v<T>)
        return wrap(stack_, literal_value<T>(at.f, v));
      else
        return {};
    });
  }
  slot slot_of(frame& at, ir::value_id v) {
    if (at.f.is_literal(v)) return {cell_of(at, v), nullptr, {}};
    return at.slots[index_of(v)];
  }
  template <class T>
  in<T> typed(frame& at, ir::value_id v) {
    return operand<T, false>(at, v);
  }
  in<i64> integer(frame& at, ir::node_id n, std::uint32_t i) { return typed<i64>(at, at.f.operand(n, i)); }

  // Calls f with the value of a cell and its C++ type without contexts.
  template <class Cell, class F>
  static decltype(auto) opened(Cell const& c, F const& f) {
    return c.visit([&]<class X>(X const& x) { return f(x, std::type_identity<plain_t<X>>{}); });
  }
  // Converts a cell to one of another list of types. Throws evaluation_error for ranks that are too high.
  template <class To, class From>
  static To narrowed(From const& from) {
    return from.visit([]<class X>(X const& x) -> To {
      if constexpr (std::is_constructible_v<To, X const&>)
        return To(x);
      else
        throw evaluation_error(message("overdub: evaluate: an array of rank 3 or higher; evaluation goes up "
                                       "to rank 2, use an executable"));
    });
  }
  template <class To, class From>
  static std::vector<To> narrowed_all(std::vector<From> const& all) {
    std::vector<To> result;
    for (auto const& x : all) result.push_back(narrowed<To>(x));
    return result;
  }
  any empty_of(ir::type t) {
    return with_type(t, [&]<class T>(std::type_identity<T>) { return any(wrap(stack_, T{})); });
  }
  // The result of an operation that yielded no elements: an empty array of the declared type.
  any empty_array(ir::type t) {
    return with_type(t, [&]<class T>(std::type_identity<T>) -> any {
      if constexpr (is_array<T>)
        return wrap(stack_, T{});
      else
        return {};
    });
  }
  template <class Arrays>
  void set_arrays(frame& at, ir::node_id n, std::size_t first, Arrays const& arrays) {
    for (std::size_t i = first; i < at.f[n].result_count; ++i) {
      ir::value_id const v = at.f.result(n, static_cast<std::uint32_t>(i));
      bool const none = arrays.empty() || !arrays[i - first];
      at.slots[index_of(v)].leaf = none ? empty_array(at.f.type_of(v)) : narrowed<any>(arrays[i - first]);
    }
  }
  // Arrays of programs are rectangular: throws size_error at the first iteration that yields a row of another size.
  using row_sizes = std::vector<i64>;
  static void
  check_rows(std::string_view op, row_sizes& sizes, std::vector<any> const& yielded, std::size_t first) {
    if constexpr (!symbolic) {
      bool const is_first = sizes.empty();
      sizes.resize(yielded.size());
      for (std::size_t k = first; k < yielded.size(); ++k)
        opened(yielded[k], [&]<class T>(auto const& x, std::type_identity<T>) {
          if constexpr (is_array<T>) {
            i64 const size = concrete(x).size();
            if (is_first) sizes[k] = size;
            if (size != sizes[k]) throw_sizes(op, sizes[k], size);
          }
        });
    }
  }
  static void check_rows(any const& a) {
    if constexpr (!symbolic)
      opened(a, []<class T>(auto const& x, std::type_identity<T>) {
        if constexpr (is_array<T>)
          if constexpr (is_array<typename T::value_type>) {
            T const& rows = concrete(x);
            for (i64 i = 1; i < rows.size(); ++i)
              if (rows[i].size() != rows[0].size()) throw_sizes("map", rows[0].size(), rows[i].size());
          }
      });
  }

  // ---- functions and regions

  std::vector<slot> run_slots(ir::function_id id, std::vector<slot> arguments) {
    if constexpr (differentiates<S>)
      if (program_[id].derivative.how != ir::derivative::by::body) return by_rule(id, arguments);
    ir::function const& f = program_[id];
    frame at{f, std::vector<slot>(f.value_count())};
    return region_slots(at, ir::function::body, std::move(arguments));
  }
  void check_depth() const {
    if (limit_.is_reached())
      throw stack_overflow(
          message("overdub: evaluate: calls, or function values that capture one another, are nested too "
                  "deeply; does a recursion not end?"));
  }

  std::vector<slot> region_slots(frame& at, ir::region_id r, std::vector<slot> arguments) {
    check_depth();
    for (std::size_t i = 0; i < arguments.size(); ++i)
      at.slots[index_of(at.f.argument(r, static_cast<std::uint32_t>(i)))] = std::move(arguments[i]);
    ir::node_id const last = at.f.yield_of(r);
    for (ir::node_id n = at.f[r].first; n != last; n = at.f[n].next)
      if constexpr (S::empty)
        evaluate_noting(at, n);
      else
        evaluate(at, n);
    std::vector<slot> yielded;
    for (ir::value_id const v : at.f.operands_of(last)) yielded.push_back(slot_of(at, v));
    return yielded;
  }
  // Evaluates an operation. If it throws, records it as failed_.
  void evaluate_noting(frame& at, ir::node_id n) {
    try {
      evaluate(at, n);
    } catch (...) {
      if (failed_.operation == ir::nothing)
        failed_ = {ir::function_id{static_cast<std::uint32_t>(&at.f - program_.functions.data())}, n};
      throw;
    }
  }
  // Evaluates a region whose arguments and results are leaves.
  template <class... Arguments>
  std::vector<any> region(frame& at, ir::region_id r, Arguments const&... arguments) {
    std::vector<slot> slots;
    (append(slots, arguments), ...);
    std::vector<any> results;
    for (slot const& s : region_slots(at, r, std::move(slots))) results.push_back(leaf(s));
    return results;
  }
  template <class X>
  static void append(std::vector<slot>& slots, X const& x) {
    slots.push_back({any(x), nullptr, {}});
  }
  template <class Cell>
  static void append(std::vector<slot>& slots, std::vector<Cell> const& all) {
    for (auto const& each : all) slots.push_back({narrowed<any>(each), nullptr, {}});
  }
  std::vector<any> cells(frame& at, ir::node_id n, std::uint32_t first, std::uint32_t count) {
    std::vector<any> all;
    for (std::uint32_t i = 0; i < count; ++i) all.push_back(cell_of(at, at.f.operand(n, first + i)));
    return all;
  }
  void set_all(frame& at, ir::node_id n, std::vector<any> const& results) {
    for (std::uint32_t i = 0; i < results.size(); ++i)
      at.slots[index_of(at.f.result(n, i))].leaf = results[i];
  }

  // ---- operations that no context intercepts (evaluator_copy.hpp)

  // Whether no context intercepts a call of F with these arguments, which returns an R, so that the operation is copied.
  template <class F, class R, class... X>
  static consteval bool is_copied() {
    if constexpr (keeps_form)
      return !any_intercepts<S, F, R, X...>();
    else
      return false;
  }
  // Whether no context has a rule for such a call, so that the operation is kept, between the calls of the hooks that observe it.
  template <class F, class R, class... X>
  static consteval bool is_kept() {
    if constexpr (keeps_form)
      return !any_rule<S, F, R, X...>();
    else
      return false;
  }
  // Whether calls of all F on arrays of all types are copied, or kept.
  template <class... F>
  static consteval bool are_copied_on_arrays();
  template <class... F>
  static consteval bool are_kept_on_arrays();
  // Whether a context intercepts an array operation or a conversion for values of some type. If not, no code is instantiated for it.
  template <ir::op Code>
  static consteval bool is_intercepted_for_any();
  // Whether no context can intercept an operation as a whole.
  static bool is_always_copied(ir::op code);
  // Calls that contexts intercept, and those that leave them, are not copied.
  bool is_call_of_contexts(node const& x) const {
    if (x.code == ir::op::call && x.attributes.is_exempt()) return true;
    return intercepts_functions_ && (x.code == ir::op::call || x.code == ir::op::closure ||
                                     x.code == ir::op::apply || x.code == ir::op::reabstract);
  }
  ir::value_id symbol_at(frame& at, ir::value_id v);
  std::vector<ir::value_id> symbols_at(frame& at, ir::node_id n);
  void set_symbol(frame& at, ir::value_id v, ir::value_id symbol);
  // Stages an operation by `stage`, between the calls of the hooks that observe it. `stage_on`: a kept operation on an array of this
  // type, or one that creates such an array.
  ir::value_id stage_between_hooks(
      std::string_view name, std::span<observation const> contexts, std::span<ir::value_id const> operands,
      function_view<ir::value_id()> stage);
  ir::value_id stage_on(array_calls const& calls, ir::type array, std::vector<ir::value_id> const& operands);
  // The symbol of a value that is not a function value.
  ir::value_id symbol_of(slot const& s) const;
  ir::type type_in(ir::type t) { return t.is_function() ? function_type_in(t) : t; }
  // The attributes of an operation in the staged program.
  ir::attributes attributes_in(node const& x);

  // ---- operations

  void evaluate(frame& at, ir::node_id n) {
    node const& x = at.f[n];
    if (x.code == ir::op::host && native(at, n)) return;
    if constexpr (keeps_form)
      if (is_always_copied(x.code) && !is_call_of_contexts(x)) return copy(at, n);
    if (ir::is_elementwise(x.code)) return elementwise(at, n);
    switch (x.code) {
    case ir::op::convert:
      if constexpr (is_intercepted_for_any<ir::op::convert>())
        convert_number(at, n);
      else
        copy(at, n);
      return;
    case ir::op::array:
      if constexpr (is_intercepted_for_any<ir::op::array>())
        make_array(at, n);
      else
        copy(at, n);
      return;
    case ir::op::length:
      if constexpr (is_intercepted_for_any<ir::op::length>())
        length(at, n);
      else
        copy(at, n);
      return;
    case ir::op::at:
      if constexpr (is_intercepted_for_any<ir::op::at>())
        element_at(at, n);
      else
        copy(at, n);
      return;
    case ir::op::slice:
      if constexpr (is_intercepted_for_any<ir::op::slice>())
        part_of_array<slice_t>(at, n, [&](auto const& a) {
          return call(stack_, overdub::slice, a, integer(at, n, 1), integer(at, n, 2));
        });
      else
        copy(at, n);
      return;
    case ir::op::update:
      if constexpr (is_intercepted_for_any<ir::op::update>())
        update_array(at, n);
      else
        copy(at, n);
      return;
    case ir::op::fill:
      if constexpr (is_intercepted_for_any<ir::op::fill>())
        fill_array(at, n);
      else
        copy(at, n);
      return;
    case ir::op::iota:
      if constexpr (is_intercepted_for_any<ir::op::iota>())
        make_iota(at, n);
      else
        copy(at, n);
      return;
    case ir::op::concat:
      if constexpr (is_intercepted_for_any<ir::op::concat>())
        concat_arrays(at, n);
      else
        copy(at, n);
      return;
    case ir::op::gather:
      if constexpr (is_intercepted_for_any<ir::op::gather>())
        part_of_array<gather_t>(at, n, [&](auto const& a) {
          return call(stack_, overdub::gather, a, typed<array<i64>>(at, at.f.operand(n, 1)));
        });
      else
        copy(at, n);
      return;
    case ir::op::copy:
      if constexpr (!keeps_form) on_array(at, n, [](auto const& a) { return a; });
      return;
    case ir::op::if_:
      return branch(at, n);
    case ir::op::loop:
      return run_loop(at, n);
    case ir::op::while_:
      return run_while(at, n);
    case ir::op::map:
      return run_map(at, n);
    case ir::op::reduce:
      return run_reduce(at, n);
    case ir::op::accumulate:
      return accumulate(at, n);
    case ir::op::add_to:
      return add_to(at, n);
    case ir::op::protect:
      return protect(at, n);
    case ir::op::call:
      return call_function(at, n);
    case ir::op::closure:
      return make_closure(at, n);
    case ir::op::apply:
      return apply_closure(at, n);
    case ir::op::reabstract:
      return reabstract(at, n);
    case ir::op::host:
    case ir::op::sample:
    case ir::op::assert_:
      return leave_program(at, n);
    default:
      throw evaluation_error(message("overdub: evaluate: this operation is not known"));
    }
  }

  void elementwise(frame& at, ir::node_id n) {
    node const& x = at.f[n];
    std::uint32_t const main = main_operand(ir::row_of(x.code).types);
    ir::type const t = at.f.type_of(at.f.operand(n, main));
    if (!t.is_literal()) return select_other(at, n);
    unsigned literals = 0;
    if constexpr (tells_literals) {
      for (std::uint32_t i = 0; i < x.operand_count; ++i)
        literals |= at.f.is_literal(at.f.operand(n, i)) ? 1u << i : 0u;
      if (literals == (1u << x.operand_count) - 1) literals &= ~1u;
      if (x.operand_count == 1) literals = 0;
    }
    thunks::find(x.code, t.element, literals)(*this, at, n);
  }
  void convert_number(frame& at, ir::node_id n) {
    with_type(at.f.type_of(at.f.operand(n, 0)), [&]<class From>(std::type_identity<From>) {
      with_type(at.f.type_of(at.f.result(n)), [&]<class To>(std::type_identity<To>) {
        if constexpr (std::is_arithmetic_v<From> && std::is_arithmetic_v<To>) {
          if constexpr (is_copied<convert_t<To>, in<To>, in<From>>())
            copy(at, n);
          else if constexpr (is_kept<convert_t<To>, in<To>, in<From>>())
            observe(at, n, convert_t<To>::name(), observations<S, convert_t<To>, in<To>, in<From>>);
          else
            set(at, at.f.result(n), call(stack_, convert<To>, typed<From>(at, at.f.operand(n, 0))));
        }
      });
    });
  }

  // ---- arrays

  template <class F>
  void on_array(frame& at, ir::node_id n, F const& f);
  void make_array(frame& at, ir::node_id n);
  void make_iota(frame& at, ir::node_id n);
  // Evaluates an operation F that returns an array of the type of its first operand, by f.
  template <class F, class Call>
  void part_of_array(frame& at, ir::node_id n, Call const& f);
  void length(frame& at, ir::node_id n);
  void element_at(frame& at, ir::node_id n);
  void update_array(frame& at, ir::node_id n);
  ir::value_id updated_symbol(
      frame& at, ir::node_id n, ir::value_id a, ir::type t, std::uint32_t i, std::uint32_t last,
      ir::value_id element);
  // Returns `a` with a part replaced by f(part). The operands [i, last) are the indices of the part.
  template <class F>
  any updated(frame& at, ir::node_id n, any const& a, std::uint32_t i, std::uint32_t last, F const& f);
  void fill_array(frame& at, ir::node_id n);
  void concat_arrays(frame& at, ir::node_id n);

  // ---- control

  template <class T>
  struct one_value;
  struct several_values;
  template <class F>
  void in_form(frame const& at, ir::id_range<ir::value_id> values, F const& f);
  template <class F, class Form, class One, class Several>
  static consteval bool is_called_on_list();
  template <class F, class Call>
  static void reject_list(frame const& at, ir::node_id n);
  template <class F, class R, class... X>
  void observe_control(frame& at, ir::node_id n, std::vector<ir::value_id> const& operands);
  template <class Form>
  std::vector<ir::value_id> hook_operands(frame& at, ir::node_id n);
  void branch(frame& at, ir::node_id n);
  void select_other(frame& at, ir::node_id n);
  template <class Given>
  void branch_between(frame& at, ir::node_id n, Given const& given);
  template <class Form, class Given>
  void branch_in(Form, frame& at, ir::node_id n, Given const& given);
  void run_loop(frame& at, ir::node_id n);
  template <class Form>
  void loop_in(Form, frame& at, ir::node_id n);
  void run_scan(frame& at, ir::node_id n);
  void run_while(frame& at, ir::node_id n);
  template <class State>
  in<bool> condition_of(frame& at, ir::node_id n, State const& state);
  template <class Form>
  void while_in(Form, frame& at, ir::node_id n);
  void run_while_scan(frame& at, ir::node_id n);
  using step = std::tuple<std::vector<any>, std::vector<any_element>>;
  static step step_of(std::string_view op, row_sizes& sizes, std::vector<any> all, std::uint32_t carried);
  void
  set_outputs(frame& at, ir::node_id n, std::tuple<std::vector<any>, std::vector<any_array>> const& results);
  void run_map(frame& at, ir::node_id n);
  template <class Form>
  void map_in(Form, frame& at, ir::node_id n);

  // ---- reductions

  template <class F, class Replacement>
  void refuse_named(char const* why) const;
  void run_reduce(frame& at, ir::node_id n);
  // How contexts intercept reductions of elements of type E by F.
  template <class E, class F>
  static consteval reduction_interest interest_in_reduction();
  template <class E>
  class reductions_by_primitive;
  template <class E>
  void reduce_by_region(frame& at, ir::node_id n);
  template <class E>
  void reduce_by_operation(frame& at, ir::node_id n);
  template <class E, class F>
  void reduce_by(frame& at, ir::node_id n, F const& f);
  template <class E, class F>
  void stage_reduction(frame& at, ir::node_id n);
  template <class E>
  void stage_reduction(frame& at, ir::node_id n, std::span<observation const> contexts);
  ir::value_id reduction_by_operation(frame& at, ir::node_id n);
  void reduce_several(frame& at, ir::node_id n, std::uint32_t arrays);

  // ---- accumulators: cells, or, in symbolic contexts, accumulators of the staged program

  void accumulate(frame& at, ir::node_id n);
  void add_to(frame& at, ir::node_id n);
  any added_by_rule(any const& a, any const& b) const;

  // ---- functions

  void call_function(frame& at, ir::node_id n);
  void make_closure(frame& at, ir::node_id n);
  void apply_closure(frame& at, ir::node_id n);
  void reabstract(frame& at, ir::node_id n);
  void select_function(frame& at, ir::node_id n);
  static bool gives_functions(frame const& at, ir::node_id n);
  void branch_to_functions(frame& at, ir::node_id n);
  void loop_on_functions(frame& at, ir::node_id n);
  void give(frame& at, ir::node_id n, std::vector<slot> results);
  // Calls a function, with interception by the contexts (evaluator_callees.hpp).
  std::vector<slot> called(ir::function_id id, std::vector<slot> arguments);
  // Calls a function outside of the contexts. Its results are constants in the contexts.
  std::vector<slot> called_outside(ir::function_id id, std::vector<slot> arguments);
  template <class Callee>
  class intercepted_call;
  struct function_callee;
  // Whether a context may intercept calls of functions; and whether one intercepts calls of functions of this program.
  static consteval bool may_intercept_functions();
  static bool finds_functions(ir::program const& p);
  template <class T>
  static consteval bool intercepts_same_functions();

  // Calls a function with a declared derivative (evaluator_derivatives.hpp).
  std::vector<slot> by_rule(ir::function_id id, std::vector<slot> const& arguments);
  // The declared derivative of a function in these contexts, if they preserve the types of its parameters and results.
  ir::derivative derivative_in_contexts(ir::function_id id);

  // Evaluates `protect`: an exception runs the second region, and is rethrown.
  void protect(frame& at, ir::node_id n);
  void leave_program(frame& at, ir::node_id n);

  // Dispatches a call of a native function to the contexts that observe or replace it (evaluator_natives.hpp).
  struct native_callee;
  bool native(frame& at, ir::node_id n);
  static consteval bool may_intercept_natives();
  any observe_native(
      node const& x, std::vector<any> const& arguments, std::vector<ir::type> const& results,
      std::string_view name, std::span<observation const> contexts);
  [[noreturn]] static void refuse_native(std::string_view name);
  std::string_view name_of_native(node const& x) const;
  void const* origin_of_native(node const& x) const;
  template <class Values>
  static std::vector<ir::type> program_types(frame const& at, Values const& values);

  void call_host(frame& at, ir::node_id n, std::string const& name);
  void refuse_lost_metadata(frame& at, ir::node_id n);
  ir::host_binding const& host_of(node const& x) const;

public:
  // ---- symbols: the staged program

  /// Stages a function in the contexts of the stack, once. Returns it in the staged program.
  ir::function_id staged(ir::function_id id) requires symbolic;
  /// A function of the staged program that calls the function with interception by the contexts.
  ir::function_id as_intercepted(ir::function_id id) requires symbolic;
  /// Stages a call of the staged function with cells of symbols.
  std::vector<any> call_staged(ir::function_id id, std::vector<any> const& arguments);

private:
  template <class T>
  static recorder& recorder_in(T const& contexts);
  recorder& recorder_() const;

  // The symbols of cells and of their metadata; `filled` returns cells of the same types with other symbols.
  static std::vector<ir::value_id> symbols(std::vector<any> const& cells);
  static std::vector<any> filled(std::vector<any> const& like, ir::id_range<ir::value_id> values);
  // A cell of a type, with placeholders as symbols.
  any prototype(ir::type t);
  template <class Make>
  void in_region(ir::node_id n, std::uint32_t i, Make const& make);
  // Sets the results of a staged operation to those that its region yielded.
  std::vector<any> results_of(ir::node_id n, std::vector<any> const& like);

  void accumulate_symbols(frame& at, ir::node_id n);
  // Addition is linear: adds the values and their metadata, symbol by symbol.
  void add_to_symbols(frame& at, ir::node_id n);
  // Copies a host operation with inner values as operands; its results have no metadata.
  void emit_host(frame& at, ir::node_id n);

  // Function values (evaluator_functions.hpp)
  ir::value_id function_symbol(slot const& s, ir::type wanted);
  void append_symbols(std::vector<ir::value_id>& all, slot const& s, ir::type t);
  void append_types_in(std::vector<ir::type>& all, ir::type t);
  ir::type function_type_in(ir::type t);
  std::vector<slot> slots_of(std::vector<ir::type> const& all, ir::id_range<ir::value_id> given);
  std::vector<slot>
  call_staged_on(ir::function_id id, std::vector<slot> const& arguments, std::uint8_t flags = 0);
  std::vector<slot> applied(slot const& f, ir::type t, std::vector<slot> const& arguments);
  void slots_in_region(frame& at, ir::node_id n, ir::node_id made, std::uint32_t i);
  void give_results(frame& at, ir::node_id n, ir::node_id made);

  ir::program const& program_;
  S const& stack_;
  std::string above_;
  evaluation_place failed_;
  bool intercepts_functions_;     // whether contexts intercept calls of this program's functions
  stack_limit limit_{most_stack}; // counted from the start of the run
};

} // namespace overdub::detail
