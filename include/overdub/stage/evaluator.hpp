// Runs the functions of a program by dispatch, in whatever contexts: on numbers it interprets, on values of a context it runs
// in that context, on symbols it stages again. It is the reference that every executor is held against.
#pragma once

#include <overdub/stage/thunk.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// Combines as a function does, in the order of sums of floating-point numbers.
template <class F>
struct summing {
  F const& f;
  template <class X>
  constexpr auto operator()(X const& a, X const& b) const {
    return f(a, b);
  }
};
template <class F>
struct given<summing<F>> {
  using type = add_t;
};

template <class S>
class evaluator {
public:
  using any = cell<S>;
  using any_element = element_cell<S>;
  using any_array = array_cell<S>;
  template <class T>
  using in = wrap_t<S, T>;

  // Literals are constants for a context that keeps metadata: its rules see the difference.
  static constexpr bool tells_literals = !S::empty;
  static constexpr bool symbolic = is_symbolic<S>;
  static constexpr std::size_t most_stack = std::size_t{1} << 20; // bytes of the host's stack

  struct closure;
  // What a value of the function is: a leaf, a function value, or an accumulator.
  struct slot {
    any leaf;
    std::shared_ptr<closure const> function_value;
    std::vector<ir::value_id> accumulators; // symbols, in symbolic contexts
  };
  struct closure {
    ir::function_id f;
    std::vector<slot> captured;
  };
  struct frame {
    ir::function const& f;
    std::vector<slot> slots;
  };
  using thunks = thunk_table<evaluator, frame>;

  evaluator(ir::program const& p, S const& contexts) : program_(p), stack_(contexts) {
    char const here = 0;
    bottom_ = reinterpret_cast<std::uintptr_t>(&here);
  }

  S const& stack() const { return stack_; }

  /// Runs a function on cells of its parameters' types.
  std::vector<any> run(ir::function_id id, std::vector<any> const& arguments) {
    std::vector<slot> slots;
    for (any const& a : arguments) slots.push_back({a, nullptr, {}});
    std::vector<any> results;
    for (slot& s : run_slots(id, std::move(slots))) results.push_back(leaf(s));
    return results;
  }

  // ---- for thunks

  template <class T, bool Literal>
  decltype(auto) operand(frame& at, ir::value_id v) const {
    if constexpr (!std::is_arithmetic_v<T>)
      return *at.slots[index_of(v)].leaf.template get<in<T>>();
    else if constexpr (Literal || S::empty)
      return at.f.is_literal(v) ? literal_value<T>(at.f, v) : plain_operand<T>(at, v);
    else
      return at.f.is_literal(v) ? in<T>(wrap(stack_, literal_value<T>(at.f, v)))
                                : *at.slots[index_of(v)].leaf.template get<in<T>>();
  }
  template <class X>
  void set(frame& at, ir::value_id v, X&& x) {
    at.slots[index_of(v)].leaf = any(wrap(stack_, std::forward<X>(x)));
  }

private:
  using node = ir::function::node;

  template <class T>
  T plain_operand(frame& at, ir::value_id v) const {
    if constexpr (S::empty)
      return *at.slots[index_of(v)].leaf.template get<T>();
    else
      throw evaluation_error(message("overdub: evaluate: no literal"));
  }

  static any const& leaf(slot const& s) {
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

  // Calls f with what a cell holds, and the C++ type of that.
  template <class Cell, class F>
  static decltype(auto) opened(Cell const& c, F const& f) {
    return c.visit([&]<class X>(X const& x) { return f(x, std::type_identity<plain_t<X>>{}); });
  }
  // A cell of fewer types, or of more. Ranks that are too high are refused.
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
  // What gave nothing, since there were no elements: empty arrays of the declared types.
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
      check_rows(at.slots[index_of(v)].leaf);
    }
  }
  // Arrays of programs are rectangular.
  static void check_rows(any const& a) {
    if constexpr (S::empty)
      opened(a, []<class T>(auto const& x, std::type_identity<T>) {
        if constexpr (is_array<T>)
          if constexpr (is_array<typename T::value_type>)
            for (i64 i = 1; i < x.size(); ++i)
              if (x[i].size() != x[0].size()) throw_sizes("map", x[0].size(), x[i].size());
      });
  }

  // ---- functions and regions

  std::vector<slot> run_slots(ir::function_id id, std::vector<slot> arguments) {
    check_depth();
    ir::function const& f = program_[id];
    frame at{f, std::vector<slot>(f.value_count())};
    return region_slots(at, ir::function::body, std::move(arguments));
  }
  void check_depth() const {
    char const here = 0;
    auto const now = reinterpret_cast<std::uintptr_t>(&here);
    if ((now < bottom_ ? bottom_ - now : now - bottom_) > most_stack)
      throw evaluation_error(
          message("overdub: evaluate: calls are nested too deeply; does a recursion not end?"));
  }

  std::vector<slot> region_slots(frame& at, ir::region_id r, std::vector<slot> arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i)
      at.slots[index_of(at.f.argument(r, static_cast<std::uint32_t>(i)))] = std::move(arguments[i]);
    ir::node_id const last = at.f.yield_of(r);
    for (ir::node_id n = at.f[r].first; n != last; n = at.f[n].next) evaluate(at, n);
    std::vector<slot> yielded;
    for (ir::value_id const v : at.f.operands_of(last)) yielded.push_back(slot_of(at, v));
    return yielded;
  }
  // A region whose arguments and results are leaves.
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

  // ---- operations

  void evaluate(frame& at, ir::node_id n) {
    node const& x = at.f[n];
    if (ir::is_elementwise(x.code)) return elementwise(at, n);
    switch (x.code) {
    case ir::op::convert:
      return convert_number(at, n);
    case ir::op::array:
      return make_array(at, n);
    case ir::op::length:
      return length(at, n);
    case ir::op::at:
      return element_at(at, n);
    case ir::op::slice:
      return on_array(at, n, [&](auto const& a) {
        return call(stack_, overdub::slice, a, integer(at, n, 1), integer(at, n, 2));
      });
    case ir::op::update:
      return update_array(at, n);
    case ir::op::fill:
      return fill_array(at, n);
    case ir::op::iota:
      return set(at, at.f.result(n), call(stack_, overdub::iota, integer(at, n, 0)));
    case ir::op::concat:
      return concat_arrays(at, n);
    case ir::op::gather:
      return on_array(at, n, [&](auto const& a) {
        return call(stack_, overdub::gather, a, typed<array<i64>>(at, at.f.operand(n, 1)));
      });
    case ir::op::copy:
      return on_array(at, n, [](auto const& a) { return a; });
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
    if (!t.is_scalar()) return select_array(at, n);
    unsigned literals = 0;
    if constexpr (tells_literals) {
      for (std::uint32_t i = 0; i < x.operand_count; ++i)
        literals |= at.f.is_literal(at.f.operand(n, i)) ? 1u << i : 0u;
      if (literals == (1u << x.operand_count) - 1) literals &= ~1u;
      if (x.operand_count == 1) literals = 0;
    }
    thunks::find(x.code, t.element, literals)(*this, at, n);
  }
  void select_array(frame& at, ir::node_id n) {
    auto const branches = cells(at, n, 1, 2);
    set_all(
        at, n,
        call(
            stack_, if_, typed<bool>(at, at.f.operand(n, 0)), [&] { return std::vector<any>{branches[0]}; },
            [&] { return std::vector<any>{branches[1]}; }));
  }
  void convert_number(frame& at, ir::node_id n) {
    with_type(at.f.type_of(at.f.operand(n, 0)), [&]<class From>(std::type_identity<From>) {
      with_type(at.f.type_of(at.f.result(n)), [&]<class To>(std::type_identity<To>) {
        if constexpr (std::is_arithmetic_v<From> && std::is_arithmetic_v<To>)
          set(at, at.f.result(n), call(stack_, convert<To>, typed<From>(at, at.f.operand(n, 0))));
      });
    });
  }

  // ---- arrays

  template <class F>
  void on_array(frame& at, ir::node_id n, F const& f) {
    any const a = cell_of(at, at.f.operand(n, 0));
    opened(a, [&]<class T>(auto const& x, std::type_identity<T>) {
      if constexpr (is_array<T>) set(at, at.f.result(n), f(x));
    });
  }
  void make_array(frame& at, ir::node_id n) {
    ir::value_id const result = at.f.result(n);
    with_type(at.f.type_of(result), [&]<class T>(std::type_identity<T>) {
      if constexpr (is_array<T>) {
        using E = typename T::value_type;
        bool literal = true;
        for (ir::value_id const v : at.f.operands_of(n)) literal = literal && at.f.is_literal(v);
        if constexpr (std::is_arithmetic_v<E>)
          if (literal || S::empty) {
            array_builder<E> out(at.f[n].operand_count);
            i64 i = 0;
            for (ir::value_id const v : at.f.operands_of(n)) out.put(i++, operand<E, true>(at, v));
            return set(at, result, out.finish(i));
          }
        i64 const size = at.f[n].operand_count;
        if (size == 0) return set(at, result, T{});
        auto all = in<T>(call(stack_, overdub::fill, wrap(stack_, size), typed<E>(at, at.f.operand(n, 0))));
        for (i64 i = 1; i < size; ++i)
          all = call(
              stack_, overdub::update, std::move(all), wrap(stack_, i),
              typed<E>(at, at.f.operand(n, static_cast<std::uint32_t>(i))));
        set(at, result, all);
        check_rows(at.slots[index_of(result)].leaf);
      }
    });
  }
  void length(frame& at, ir::node_id n) {
    if (at.f[n].operand_count == 1)
      return on_array_number(at, n, [&](auto const& a) { return call(stack_, overdub::size, a); });
    set(at, at.f.result(n),
        call(stack_, overdub::size, narrowed_all<any_array>(cells(at, n, 0, at.f[n].operand_count))));
  }
  template <class F>
  void on_array_number(frame& at, ir::node_id n, F const& f) {
    on_array(at, n, f);
  }
  void element_at(frame& at, ir::node_id n) {
    any part = cell_of(at, at.f.operand(n, 0));
    for (std::uint32_t i = 1; i < at.f[n].operand_count; ++i)
      part = opened(part, [&]<class T>(auto const& a, std::type_identity<T>) -> any {
        if constexpr (is_array<T>)
          return call(stack_, overdub::at, a, integer(at, n, i));
        else
          return {};
      });
    at.slots[index_of(at.f.result(n))].leaf = part;
  }
  void update_array(frame& at, ir::node_id n) {
    std::uint32_t const last = at.f[n].operand_count - 1;
    any const x = cell_of(at, at.f.operand(n, last));
    at.slots[index_of(at.f.result(n))].leaf =
        updated(at, n, cell_of(at, at.f.operand(n, 0)), 1, last, [&](any const&) { return x; });
  }
  // `a` with the part that the operands from the i-th to before the last-th select replaced by what f makes of it.
  template <class F>
  any updated(frame& at, ir::node_id n, any const& a, std::uint32_t i, std::uint32_t last, F const& f) {
    if (i == last) return f(a);
    return opened(a, [&]<class T>(auto const& x, std::type_identity<T>) -> any {
      if constexpr (is_array<T>) {
        using E = typename T::value_type;
        auto const index = integer(at, n, i);
        any const element = updated(at, n, any(in<E>(call(stack_, overdub::at, x, index))), i + 1, last, f);
        return in<T>(call(stack_, overdub::update, x, index, *element.template get<in<E>>()));
      } else
        return {};
    });
  }
  void fill_array(frame& at, ir::node_id n) {
    auto const x = narrowed<any_element>(cell_of(at, at.f.operand(n, 1)));
    opened(x, [&](auto const& e, auto) {
      set(at, at.f.result(n), call(stack_, overdub::fill, integer(at, n, 0), e));
    });
  }
  void concat_arrays(frame& at, ir::node_id n) {
    any all = cell_of(at, at.f.operand(n, 0));
    for (std::uint32_t i = 1; i < at.f[n].operand_count; ++i) {
      any const next = cell_of(at, at.f.operand(n, i));
      all = opened(all, [&]<class T>(auto const& a, std::type_identity<T>) -> any {
        if constexpr (is_array<T>)
          return in<T>(call(stack_, overdub::concat, a, *next.template get<in<T>>()));
        else
          return {};
      });
    }
    check_rows(all);
    at.slots[index_of(at.f.result(n))].leaf = all;
  }

  // ---- control

  void branch(frame& at, ir::node_id n) {
    auto take = [&](std::uint32_t i) { return [&, i] { return region(at, at.f.region_at(n, i)); }; };
    set_all(at, n, call(stack_, if_, typed<bool>(at, at.f.operand(n, 0)), take(0), take(1)));
  }
  void run_loop(frame& at, ir::node_id n) {
    node const& x = at.f[n];
    ir::region_id const body = at.f.region_at(n, 0);
    std::uint32_t const carried = x.operand_count - 1;
    auto const count = integer(at, n, 0);
    auto const start = cells(at, n, 1, carried);
    auto whole = [&](auto const& i, std::vector<any> const& state) {
      return region(at, body, in<i64>(wrap(stack_, i)), state);
    };
    if (x.result_count == carried && !x.attributes.is_reversed())
      return set_all(at, n, call(stack_, loop, count, start, whole));
    auto step = [&](auto const& i, std::vector<any> const& state) {
      auto all = whole(i, state);
      std::vector<any_element> outputs;
      for (std::size_t k = carried; k < all.size(); ++k) outputs.push_back(narrowed<any_element>(all[k]));
      all.resize(carried);
      return std::tuple{std::move(all), std::move(outputs)};
    };
    auto finish = [&](auto const& result) {
      set_all(at, n, std::get<0>(result));
      set_arrays(at, n, carried, std::get<1>(result));
    };
    if (x.attributes.is_reversed())
      finish(call(stack_, indexed_scan_t<true>{}, count, start, step));
    else
      finish(call(stack_, indexed_scan_t<false>{}, count, start, step));
  }
  // Outputs are carried along, as arrays that grow.
  void run_while(frame& at, ir::node_id n) {
    node const& x = at.f[n];
    std::uint32_t const carried = x.operand_count;
    auto start = cells(at, n, 0, carried);
    for (std::uint32_t i = carried; i < x.result_count; ++i)
      start.push_back(empty_array(at.f.type_of(at.f.result(n, i))));
    auto condition = [&](std::vector<any> state) {
      state.resize(carried);
      return *region(at, at.f.region_at(n, 0), state)[0].template get<in<bool>>();
    };
    auto body = [&](std::vector<any> const& state) {
      auto next = region(at, at.f.region_at(n, 1), std::vector<any>(state.begin(), state.begin() + carried));
      for (std::size_t k = carried; k < next.size(); ++k) next[k] = extended(state[k], next[k]);
      return next;
    };
    auto const result = call(stack_, while_, start, condition, body);
    set_all(at, n, result);
    for (std::size_t k = carried; k < result.size(); ++k) check_rows(result[k]);
  }
  any extended(any const& arrays, any const& element) {
    return opened(arrays, [&]<class T>(auto const& a, std::type_identity<T>) -> any {
      if constexpr (is_array<T>) {
        auto const& e = *element.template get<in<typename T::value_type>>();
        return in<T>(
            call(stack_, overdub::concat, a, in<T>(call(stack_, overdub::fill, wrap(stack_, i64{1}), e))));
      } else
        return {};
    });
  }
  void run_map(frame& at, ir::node_id n) {
    auto element = [&](auto const& i) {
      return narrowed_all<any_element>(region(at, at.f.region_at(n, 0), in<i64>(wrap(stack_, i))));
    };
    set_arrays(at, n, 0, call(stack_, tabulate, integer(at, n, 0), element));
  }

  // ---- reductions

  void run_reduce(frame& at, ir::node_id n) {
    node const& x = at.f[n];
    std::uint32_t const arrays = x.attributes.is_started() ? x.operand_count / 2 : x.operand_count;
    if (arrays != 1) return reduce_several(at, n, arrays);
    any const xs = cell_of(at, at.f.operand(n, 0));
    opened(xs, [&]<class T>(auto const& a, std::type_identity<T>) {
      if constexpr (is_array<T>) {
        using E = typename T::value_type;
        if (x.region_count > 0) {
          auto combine = [&](auto const& l, auto const& r) {
            return *region(at, at.f.region_at(n, 0), in<E>(wrap(stack_, l)), in<E>(wrap(stack_, r)))[0]
                        .template get<in<E>>();
          };
          if (!x.attributes.is_in_lanes()) return reduce_by<E>(at, n, combine, a);
          if constexpr (std::is_floating_point_v<E>)
            return reduce_by<E>(at, n, summing<decltype(combine)>{combine}, a);
        } else if constexpr (std::is_arithmetic_v<E>)
          reduce_by_operation<E>(at, n, a);
      }
    });
  }
  template <class E, class F, class A>
  void reduce_by(frame& at, ir::node_id n, F const& f, A const& xs) {
    if (at.f[n].attributes.is_started())
      set(at, at.f.result(n), call(stack_, reduce, f, typed<E>(at, at.f.operand(n, 1)), xs));
    else
      set(at, at.f.result(n), call(stack_, reduce, f, xs));
  }
  template <class E, class A>
  void reduce_by_operation(frame& at, ir::node_id n, A const& xs) {
    auto take = [&]<class F>(F const& f) {
      constexpr ir::type_rule rule = ir::row_of(op_code<F>).types;
      constexpr bool combines = takes_type<rule, E>() && combines_type<rule, E>();
      if constexpr (combines)
        if (at.f[n].attributes.operation == op_code<F>) reduce_by<E>(at, n, f, xs);
    };
#define OVERDUB_BINARY(NAME, ...) take(overdub::NAME);
#include <overdub/ir/ops.def>
  }
  void reduce_several(frame& at, ir::node_id n, std::uint32_t arrays) {
    auto const xs = narrowed_all<any_array>(cells(at, n, 0, arrays));
    auto combine = [&](auto const& x, auto const& y) {
      return narrowed_all<any_element>(region(at, at.f.region_at(n, 0), x, y));
    };
    auto by = [&](auto const& f) {
      if (at.f[n].attributes.is_started())
        return narrowed_all<any>(
            call(stack_, reduce, f, narrowed_all<any_element>(cells(at, n, arrays, arrays)), xs));
      return narrowed_all<any>(call(stack_, reduce, f, xs));
    };
    set_all(at, n, at.f[n].attributes.is_in_lanes() ? by(summing<decltype(combine)>{combine}) : by(combine));
  }

  // ---- accumulators: cells that are added to; in symbolic contexts, accumulators of the program that is made

  void accumulate(frame& at, ir::node_id n) {
    node const& x = at.f[n];
    ir::region_id const body = at.f.region_at(n, 0);
    if constexpr (symbolic) {
      accumulate_symbols(at, n);
    } else {
      std::vector<slot> start;
      for (std::uint32_t i = 0; i < x.operand_count; ++i) start.push_back(slot_of(at, at.f.operand(n, i)));
      auto const further = region_slots(at, body, std::move(start));
      for (std::uint32_t i = 0; i < x.operand_count; ++i)
        at.slots[index_of(at.f.result(n, i))] = at.slots[index_of(at.f.argument(body, i))];
      for (std::uint32_t i = 0; i < further.size(); ++i)
        at.slots[index_of(at.f.result(n, x.operand_count + i))] = further[i];
    }
  }
  void add_to(frame& at, ir::node_id n) {
    if constexpr (symbolic)
      add_to_symbols(at, n);
    else {
      std::uint32_t const last = at.f[n].operand_count - 1;
      any const x = cell_of(at, at.f.operand(n, last));
      any& sum = at.slots[index_of(at.f.operand(n, 0))].leaf;
      sum = updated(at, n, sum, 1, last, [&](any const& part) { return added(part, x); });
    }
  }
  any added(any const& a, any const& b) {
    return opened(a, [&]<class T>(auto const& x, std::type_identity<T>) -> any {
      auto const& y = *b.template get<in<T>>();
      if constexpr (std::is_same_v<T, bool>)
        return {};
      else if constexpr (std::is_arithmetic_v<T>)
        return in<T>(call(stack_, overdub::add, x, y));
      else if constexpr (
          std::is_arithmetic_v<typename T::value_type> && !std::is_same_v<typename T::value_type, bool>)
        return in<T>(call(stack_, map, overdub::add, x, y));
      else if constexpr (
          std::is_same_v<T, array<array<double>>> || std::is_same_v<T, array<array<float>>> ||
          std::is_same_v<T, array<array<i64>>>)
        return in<T>(call(
            stack_, map, [](auto const& r, auto const& s) { return map(overdub::add, r, s); }, x, y));
      else
        return {};
    });
  }

  // ---- functions

  void call_function(frame& at, ir::node_id n) {
    std::vector<slot> arguments;
    for (ir::value_id const v : at.f.operands_of(n)) arguments.push_back(slot_of(at, v));
    give(at, n, called(at.f[n].attributes.callee(), std::move(arguments)));
  }
  void make_closure(frame& at, ir::node_id n) {
    auto made = std::make_shared<closure>();
    made->f = at.f[n].attributes.callee();
    for (ir::value_id const v : at.f.operands_of(n)) made->captured.push_back(slot_of(at, v));
    at.slots[index_of(at.f.result(n))] = {{}, std::move(made), {}};
  }
  void apply_closure(frame& at, ir::node_id n) {
    slot const f = slot_of(at, at.f.operand(n, 0));
    if (!f.function_value)
      throw evaluation_error(message("overdub: evaluate: a function value came from outside of the program"));
    std::vector<slot> arguments = f.function_value->captured;
    for (std::uint32_t i = 1; i < at.f[n].operand_count; ++i)
      arguments.push_back(slot_of(at, at.f.operand(n, i)));
    give(at, n, called(f.function_value->f, std::move(arguments)));
  }
  void give(frame& at, ir::node_id n, std::vector<slot> results) {
    for (std::uint32_t i = 0; i < results.size(); ++i)
      at.slots[index_of(at.f.result(n, i))] = std::move(results[i]);
  }
  std::vector<slot> called(ir::function_id id, std::vector<slot> arguments) {
    if constexpr (symbolic) {
      std::vector<any> cells;
      for (slot const& s : arguments) cells.push_back(leaf(s));
      std::vector<slot> results;
      for (any const& r : call_staged(id, cells)) results.push_back({r, nullptr, {}});
      return results;
    } else
      return run_slots(id, std::move(arguments));
  }

  // An exception runs the second region, and goes on.
  void protect(frame& at, ir::node_id n) {
    if constexpr (symbolic) {
      ir::node_id const made =
          recorder_().insert(ir::op::protect, {}, {}, {}, std::vector<std::vector<ir::type>>(2));
      std::vector<any> results;
      in_region(made, 0, [&] { return results = region(at, at.f.region_at(n, 0)); });
      in_region(made, 1, [&] { return region(at, at.f.region_at(n, 1)); });
      set_all(at, n, results_of(made, results));
    } else {
      try {
        set_all(at, n, region(at, at.f.region_at(n, 0)));
      } catch (...) {
        (void)region(at, at.f.region_at(n, 1));
        throw;
      }
    }
  }
  void leave_program(frame& at, ir::node_id n) {
    node const& x = at.f[n];
    std::string const text(program_.text(x.attributes.text()));
    if constexpr (symbolic) {
      emit_host(at, n);
    } else if (x.code == ir::op::assert_) {
      if (!concrete(typed<bool>(at, at.f.operand(n, 0))))
        throw evaluation_error(message("overdub: an assertion failed: %s", text.c_str()));
    } else
      call_host(at, n, text);
  }
  void call_host(frame& at, ir::node_id n, std::string const& name) {
    ir::host_binding const* const known = program_.host(at.f[n].attributes.text());
    if (at.f[n].code != ir::op::host || known == nullptr)
      throw evaluation_error(message(
          "overdub: evaluate: \"%s\" is a function of the host's, or a random choice, and is not known; run "
          "the program by an "
          "executable that is told",
          name.c_str()));
    if constexpr (S::empty) {
      auto const operands = cells(at, n, 0, at.f[n].operand_count);
      std::vector<any> results;
      for (ir::value_id const v : at.f.results_of(n)) results.push_back(empty_of(at.f.type_of(v)));
      std::vector<void const*> arguments;
      std::vector<void*> places;
      for (any const& x : operands) opened(x, [&](auto const& held, auto) { arguments.push_back(&held); });
      for (any& x : results) x.visit([&](auto& held) { places.push_back(&held); });
      known->run(known->object, arguments.data(), places.data());
      set_all(at, n, results);
    } else
      throw evaluation_error(message(
          "overdub: evaluate: \"%s\" is a function of the host's; in contexts, rewrite the program first: "
          "overdub(context, program)",
          name.c_str()));
  }

public:
  // ---- symbols: the program that is made

  /// The function of the program in the contexts of the stack, staged once.
  ir::function_id staged(ir::function_id id) requires symbolic {
    recorder& r = recorder_();
    void const* const key = r.key_of(&type_key<S>, &program_, ir::index_of(id));
    if (auto const* known = r.find(key)) return known->id;
    ir::function const& f = program_[id];
    auto types_of = [](std::vector<any> const& cells) {
      std::vector<ir::type> types;
      auto const collect = [&]<class T>(symbol_of_value s, std::type_identity<T>) {
        types.push_back(ir_type_of<T>);
        return s;
      };
      for (any const& c : cells) (void)transform_symbols(c, collect);
      return types;
    };
    std::vector<any> parameters;
    std::vector<any> results;
    for (ir::value_id const v : f.parameters()) parameters.push_back(placeholder(f.type_of(v)));
    for (ir::type const t : f.results) results.push_back(placeholder(t));
    std::size_t const number = r.begin(
        key, std::string(recorder::base_name(program_.text(f.name))) + suffix<S>(), types_of(parameters));
    ir::function_id const made = r.id_of(number);
    r.program[made].results = types_of(results);
    auto const scope = r.enter(made);
    std::vector<slot> slots;
    for (any const& a : filled(parameters, r.here().parameters())) slots.push_back({a, nullptr, {}});
    std::vector<any> yielded;
    for (slot const& s : run_slots(id, std::move(slots))) yielded.push_back(leaf(s));
    r.at().yield(symbols(yielded));
    r.end(number, results);
    return made;
  }

private:
  template <class T>
  static std::string suffix() {
    if constexpr (T::depth <= 1)
      return {};
    else
      return "." + std::string(context_name_v<typename T::context>) + suffix<typename T::tail>();
  }
  template <class T>
  static recorder& recorder_in(T const& contexts) {
    if constexpr (T::depth == 1)
      return contexts.top().get().recorder();
    else
      return recorder_in(contexts.rest());
  }
  recorder& recorder_() const { return recorder_in(stack_); }

  // The symbols of cells, of their metadata too; and cells like them, of other symbols.
  static std::vector<ir::value_id> symbols(std::vector<any> const& cells) {
    std::vector<ir::value_id> all;
    auto const collect = [&](symbol_of_value s, auto) {
      all.push_back(s.id);
      return s;
    };
    for (any const& c : cells) (void)transform_symbols(c, collect);
    return all;
  }
  static std::vector<any> filled(std::vector<any> const& like, ir::id_range<ir::value_id> values) {
    std::size_t next = 0;
    auto const take = [&](symbol_of_value, auto) { return symbol_of_value{values[next++]}; };
    std::vector<any> all;
    for (any const& c : like) all.push_back(transform_symbols(c, take));
    return all;
  }
  // A cell of a type, to be filled.
  any placeholder(ir::type t) {
    auto const scope = recorder_().enter(recorder_().scratch());
    return empty_of(t);
  }
  template <class Make>
  void in_region(ir::node_id n, std::uint32_t i, Make const& make) {
    auto const scope = recorder_().enter(recorder_().region_of(n, i));
    recorder_().at().yield(symbols(make()));
  }
  // Gives an operation the results that its region yielded.
  std::vector<any> results_of(ir::node_id n, std::vector<any> const& like) {
    recorder_().at().set_results(n, recorder_().types_of(symbols(like)));
    return filled(like, recorder_().here().results_of(n));
  }

  std::vector<any> call_staged(ir::function_id id, std::vector<any> const& arguments) {
    recorder& r = recorder_();
    ir::function_id const callee = staged(id);
    std::vector<any> like;
    for (ir::type const t : program_[id].results) like.push_back(placeholder(t));
    auto const types = r.program[callee].results;
    ir::node_id const n = r.insert(ir::op::call, symbols(arguments), types, ir::attributes::of(callee));
    return filled(like, r.here().results_of(n));
  }

  void accumulate_symbols(frame& at, ir::node_id n) {
    ir::region_id const body = at.f.region_at(n, 0);
    auto const start = cells(at, n, 0, at.f[n].operand_count);
    auto const operands = symbols(start);
    auto accumulators = recorder_().types_of(operands);
    for (ir::type& t : accumulators) t = t.accumulator();
    ir::node_id const made = recorder_().insert(
        ir::op::accumulate, operands, {}, {}, std::vector<std::vector<ir::type>>{accumulators});
    std::vector<slot> arguments;
    std::uint32_t next = 0;
    for (any const& c : start) {
      slot& s = arguments.emplace_back();
      for (std::size_t k = symbols({c}).size(); k > 0; --k)
        s.accumulators.push_back(recorder_().here().argument(recorder_().region_of(made, 0), next++));
    }
    std::vector<any> results = start;
    std::vector<any> further;
    in_region(made, 0, [&] {
      for (slot const& s : region_slots(at, body, std::move(arguments))) further.push_back(leaf(s));
      return further;
    });
    results.insert(results.end(), further.begin(), further.end());
    set_all(at, n, results_of(made, results));
  }
  // Sums are linear: what is added to a value is added to its metadata, symbol by symbol.
  void add_to_symbols(frame& at, ir::node_id n) {
    std::uint32_t const last = at.f[n].operand_count - 1;
    std::vector<ir::value_id> operands(1);
    for (ir::value_id const i : symbols(cells(at, n, 1, last - 1))) operands.push_back(i);
    operands.push_back(operands[0]);
    auto const values = symbols(cells(at, n, last, 1));
    auto const& accumulators = at.slots[index_of(at.f.operand(n, 0))].accumulators;
    for (std::size_t k = 0; k < accumulators.size(); ++k) {
      operands.front() = accumulators[k];
      operands.back() = values[k];
      recorder_().insert(ir::op::add_to, operands, {});
    }
  }
  // What leaves the program stays as it is, on inner values; it has no metadata to give.
  void emit_host(frame& at, ir::node_id n) {
    recorder& r = recorder_();
    ir::attributes a = at.f[n].attributes;
    ir::host_binding const* const known = at.f[n].code == ir::op::host ? program_.host(a.text()) : nullptr;
    a.subject = ir::index_of(
        known != nullptr ? r.bind(std::string(program_.text(a.text())), known->run, known->object)
                         : r.program.intern(program_.text(a.text())));
    if (a.detail != ir::nothing) a.detail = r.program.intern(program_.text(a.detail));
    auto const arguments = cells(at, n, 0, at.f[n].operand_count);
    auto operands = symbols(arguments);
    if (at.f[n].code == ir::op::assert_) operands.resize(1);
    std::vector<any> like;
    for (ir::value_id const v : at.f.results_of(n)) like.push_back(placeholder(at.f.type_of(v)));
    auto const types = r.types_of(symbols(like));
    if (operands.size() != at.f[n].operand_count || types.size() != at.f[n].result_count)
      throw evaluation_error(message(
          "overdub: \"%s\" is a function of the host's, or a random choice, and a context keeps metadata "
          "for its values; give the context a rule for the function that calls it",
          std::string(r.program.text(a.text())).c_str()));
    ir::node_id const made = r.insert(at.f[n].code, operands, types, a);
    set_all(at, n, filled(like, r.here().results_of(made)));
  }

  ir::program const& program_;
  S const& stack_;
  std::uintptr_t bottom_ = 0; // of the host's stack, where the run began
};

} // namespace overdub::detail
