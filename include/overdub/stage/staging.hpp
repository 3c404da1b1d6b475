// The context that stages: it appends each call to a program, and returns the symbol of its result. It is always the innermost context.
#pragma once

#include <overdub/array/primitives.hpp>
#include <overdub/call/exempt.hpp>
#include <overdub/call/leaf.hpp>
#include <overdub/call/recurse.hpp>
#include <overdub/call/run.hpp>
#include <overdub/call/tag.hpp>
#include <overdub/control/if.hpp>
#include <overdub/control/loop.hpp>
#include <overdub/control/map.hpp>
#include <overdub/control/reduce.hpp>
#include <overdub/stage/context_identity.hpp>
#include <overdub/stage/derivatives.hpp>
#include <overdub/stage/op_code.hpp>
#include <overdub/stage/recorder.hpp>

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {

class staging;

namespace detail {

// The contexts in which the body of a staged function runs. A function is staged once for each list of them.
template <class F>
std::vector<context_identity> contexts_of(F const&) {
  return {};
}
template <class S, class F>
std::vector<context_identity> contexts_of(derived<S, F> const& f) {
  std::vector<context_identity> all = contexts_of(f.f);
  if (!f.stack.top().is_null()) add_context(all, f.stack.top().get());
  return all;
}

// Appends the lengths of the trees whose types do not determine them, such as std::vector. A function is staged once for each list of them.
template <class X>
void add_lengths(std::vector<std::size_t>& all, X const& x) {
  if constexpr (!is_symbol<X> && !is_struct_of_symbols<X> && tree<X>) {
    if constexpr (requires { x.size(); } && !generated_tree<X>) all.push_back(x.size());
    if constexpr (std::tuple_size_v < typename tree_traits<X>::children >> 0)
      each_child([&](auto const& child) { add_lengths(all, child); }, x);
  }
}

// Calls a leaf when the program runs.
template <class F, class R, class... X>
void run_leaf(void*, void const* const* arguments, void* const* results) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (std::is_same_v<R, none>)
      (void)F{}.compute(*static_cast<X const*>(arguments[I])...);
    else
      *static_cast<R*>(results[0]) = F{}.compute(*static_cast<X const*>(arguments[I])...);
  }
  (std::index_sequence_for<X...>{});
}

// The constants of a plain struct's members.
template <class C, class S>
auto constant_members(C& context, S const& x) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple{context.constant(member<I>(x))...};
  }
  (std::make_index_sequence<member_count<S>>{});
}

} // namespace detail

/// Stages the functions that run in it: an ordinary context, with one rule for each kind of call. `stage` (stage.hpp) runs it.
class staging : public context {
  detail::recorder* recorder_;

  template <class X>
  using inner_t = typename detail::symbol_type<std::remove_cvref_t<X>>::type;

  template <class X>
  static ir::value_id index(X const& x) {
    constexpr bool whole = !std::is_floating_point_v<inner_t<X>>;
    static_assert(
        whole, "overdub: an index or a count must be an integer; write overdub::convert<overdub::i64>(x)");
    return x.metadata.id;
  }
  template <class X>
  ir::value_id value_of(X const& x) {
    if constexpr (detail::is_value<X>)
      return x.context().is_null() ? recorder_->literal(x.inner()) : x.metadata().id;
    else
      return recorder_->literal(x);
  }
  static std::vector<ir::value_id> with(ir::value_id first, std::vector<ir::value_id> rest) {
    rest.insert(rest.begin(), first);
    return rest;
  }
  static auto number(ir::value_id v) { return overdub::tag(i64{}, symbol_of_value{v}); }

  // The result of an operation, as a symbol of the C++ type R.
  template <class R, class... V>
  auto made(ir::op code, V... operands) {
    return made<R>(ir::attributes{}, code, operands...);
  }
  template <class R, class... V>
  auto made(ir::attributes const& a, ir::op code, V... operands) {
    ir::value_id const all[] = {operands...};
    return overdub::tag(R{}, symbol_of_value{recorder_->add(code, all, detail::ir_type_of<R>, a)});
  }
  // The result of an operation, as a symbol of the type R and of the level of another symbol.
  template <class R, class Symbol, class... V>
  auto like(Symbol const&, ir::op code, V... operands) {
    ir::value_id const all[] = {operands...};
    return detail::symbol_for<R, typename detail::symbol_type<Symbol>::level>(
        recorder_->add(code, all, detail::ir_type_of<R>));
  }

  template <class... A>
  ir::value_id length(A const&... a) {
    auto const arrays = detail::flat(without_metadata(a)...);
    return recorder_->add(ir::op::length, arrays, ir::i64);
  }
  // Removes the metadata, whose sizes are those of the values.
  template <class X>
  static auto without_metadata(X const& x) {
    if constexpr (detail::is_symbol<X>)
      return x;
    else if constexpr (detail::is_tagged<X>)
      return without_metadata(x.inner);
    else if constexpr (detail::tree<X>)
      return tree_traits<X>::map([](auto const& child) { return without_metadata(child); }, x);
    else
      return x;
  }
  // Converts plain arrays to symbols of constants.
  template <class A>
  auto as_symbols(A const& a) {
    if constexpr (detail::is_array<A> && is_scalar_leaf<A>)
      return overdub::tag(A{}, symbol_of_value{recorder_->literal(a)});
    else if constexpr (detail::tree<A> && !detail::is_tagged<A>)
      return tree_traits<A>::map([&](auto const& child) { return as_symbols(child); }, a);
    else
      return a;
  }
  // The tree of elements of a tree of arrays.
  template <class A>
  auto elements_at(A const& a, ir::value_id i) {
    return detail::map_symbols(
        [&](auto const& s) {
          return like<typename inner_t<decltype(s)>::value_type>(s, ir::op::at, s.metadata.id, i);
        },
        a);
  }
  // The tree of arrays whose elements are trees of this structure.
  template <class E>
  static auto stacked(E const& element) {
    return detail::map_symbols(
        [](auto const& s) {
          using S = std::remove_cvref_t<decltype(s)>;
          return detail::symbol_for<array<inner_t<S>>, typename detail::symbol_type<S>::level>(s.metadata.id);
        },
        element);
  }

  // ---- operations with regions, which get their results after the regions have been staged

  ir::node_id open(
      ir::op code, std::vector<ir::value_id> const& operands,
      std::vector<std::vector<ir::type>> const& regions, ir::attributes const& a = {}) {
    return recorder_->insert(code, operands, {}, a, regions);
  }
  ir::id_range<ir::value_id> arguments(ir::node_id n, std::uint32_t region = 0) {
    return recorder_->here().arguments_of(recorder_->region_of(n, region));
  }
  ir::value_id argument(ir::node_id n, std::uint32_t i) { return arguments(n)[i]; }

  template <class Make>
  auto in_region(ir::node_id n, std::uint32_t region, Make const& make) {
    auto const scope = recorder_->enter(recorder_->region_of(n, region));
    auto const tree = make();
    recorder_->yield(detail::flat(tree));
    return tree;
  }
  // Adds results to an operation: a tree of the structure that its region yielded, with arrays from the `carried`-th value on.
  template <class Tree>
  Tree finish(ir::node_id n, Tree const& like, std::size_t carried = ~std::size_t{}) {
    std::vector<ir::type> types;
    for (ir::value_id const v : detail::flat(like))
      types.push_back(
          types.size() < carried ? recorder_->here().type_of(v) : recorder_->here().type_of(v).array_of());
    recorder_->set_results(n, types);
    return detail::refilled(like, recorder_->here().results_of(n));
  }
  template <class State, class Next>
  static State next_state(Next&& next) {
    using Owned = decltype(detail::owned_tree(std::forward<Next>(next)));
    if constexpr (detail::carried_state<State, Owned>())
      return detail::owned_tree(std::forward<Next>(next));
    else
      return State{};
  }

  template <class F, class... A>
  auto mapped(F const& f, A const&... xs) {
    ir::node_id const node = open(ir::op::map, {length(xs...)}, {{ir::i64}});
    auto const element =
        in_region(node, 0, [&] { return detail::owned_tree(f(elements_at(xs, argument(node, 0))...)); });
    return finish(node, stacked(element), 0);
  }

  template <bool Reversed, class X, class Step>
  auto scanned(ir::value_id n, X const& state, Step const& take_step) {
    auto const start = detail::flat(state);
    auto carried = recorder_->types_of(start);
    carried.insert(carried.begin(), ir::i64);
    ir::attributes a;
    if (Reversed) a.flags = ir::attributes::reversed;
    ir::node_id const node = open(ir::op::loop, with(n, start), {carried}, a);
    auto const step = in_region(node, 0, [&] {
      return detail::owned_tree(take_step(argument(node, 0), detail::refilled(state, arguments(node), 1)));
    });
    return with_outputs<X>(node, step, start.size());
  }
  // Adds the results of a loop whose iterations yield {state, outputs}.
  template <class X, class Step>
  auto with_outputs(ir::node_id n, Step const& step, std::size_t carried) {
    auto const outputs = stacked(std::get<1>(step));
    std::tuple<X, std::remove_cvref_t<decltype(outputs)>> const result{
        next_state<X>(std::get<0>(step)), outputs};
    return finish(n, result, carried);
  }
  // Opens a `while`, and stages its condition.
  template <class X, class C>
  ir::node_id open_while(X const& state, std::vector<ir::value_id> const& start, C const& condition) {
    auto const carried = recorder_->types_of(start);
    ir::node_id const node = open(ir::op::while_, start, {carried, carried});
    (void)in_region(
        node, 0, [&] { return detail::owned_tree(condition(detail::refilled(state, arguments(node)))); });
    return node;
  }

  template <class E>
  E reduced_by(ir::op operation, ir::attributes a, std::vector<ir::value_id> const& operands) {
    a.operation = operation;
    return symbol_of<E>(recorder_->add(ir::op::reduce, operands, detail::ir_type_of<inner_t<E>>, a));
  }
  template <class F, class A, class... Initial>
  auto reduced(F const& f, A const& xs, Initial const&... initial) {
    using E = decltype(elements_at(xs, ir::value_id{}));
    using Given = detail::given_t<F>;
    ir::attributes a;
    if (sizeof...(Initial) > 0) a.flags |= ir::attributes::started;
    auto const operands = detail::flat(xs, initial...);
    if constexpr (detail::is_symbol<A> && is_lowered<F, Given> && detail::op_code<Given> != ir::op::none)
      return reduced_by<E>(detail::op_code<Given>, a, operands);
    else {
      if constexpr (detail::is_symbol<A> && detail::names_operation<Given>)
        if (!detail::given_of(f).is_intercepted)
          return reduced_by<E>(detail::given_of(f).operation, a, operands);
      if (detail::in_lanes<E, F>) a.flags |= ir::attributes::in_lanes;
      std::vector<ir::type> pair;
      for (int side = 0; side < 2; ++side)
        for (ir::value_id const v : detail::flat(xs))
          pair.push_back(recorder_->here().type_of(v).element_type());
      ir::node_id const n = open(ir::op::reduce, operands, {pair}, a);
      E const shape = elements_of(xs);
      E const result = in_region(n, 0, [&] {
        return next_state<E>(
            f(detail::refilled(shape, arguments(n)), detail::refilled(shape, arguments(n), pair.size() / 2)));
      });
      return finish(n, result);
    }
  }
  // A tree of the types of the elements of a tree of arrays, with the symbols of the arrays.
  template <class A>
  static auto elements_of(A const& a) {
    return detail::map_symbols(
        [](auto const& s) {
          using S = std::remove_cvref_t<decltype(s)>;
          return detail::symbol_for<typename inner_t<S>::value_type, typename detail::symbol_type<S>::level>(
              s.metadata.id);
        },
        a);
  }
  template <class E>
  static E symbol_of(ir::value_id v) {
    return detail::symbol_for<inner_t<E>, typename detail::symbol_type<E>::level>(v);
  }

  // ---- functions

  // Runs a body with arguments that a braced list evaluates in order.
  template <class R>
  struct result_of_body {
    template <class Call, class F, class... X>
    result_of_body(Call const& call, F const& f, X const&... x) : tree(run_body(call, f, x...)) {}
    R tree;
  };
  template <class Call, class F, class... X>
  static auto run_body(Call const& call, F const& f, X const&... x) {
    auto const& levels = call.levels();
    return detail::strip(levels, detail::wrap(levels, f.run(levels, detail::wrap(levels, x)...)));
  }
  // The types of the leaves of a tree, if its C++ type determines their number.
  template <class R>
  static std::vector<ir::type> known_types() {
    std::vector<ir::type> types;
    add_types<R>(types);
    return types;
  }
  template <class R>
  static void add_types(std::vector<ir::type>& types) {
    if constexpr (detail::is_symbol<R>)
      types.push_back(detail::ir_type_of<inner_t<R>>);
    else if constexpr (detail::is_struct_of_symbols<R>) {
      if constexpr (detail::is_made_of_members<detail::bottom_t<R>>())
        (void)detail::map_symbols(
            [&]<class Symbol>(Symbol const& s) {
              types.push_back(detail::ir_type_of<inner_t<Symbol>>);
              return s;
            },
            R{});
    } else if constexpr (detail::tree<R>) {
      if constexpr (detail::generated_tree<R>)
        detail::for_each_child_type<R>(
            [&]<class Child>(std::type_identity<Child>) { add_types<Child>(types); });
    }
  }

public:
  static constexpr bool symbolic = true;
  static constexpr std::string_view name = "staging";
  template <class T>
  using metadata = symbol_of_value;
  template <class A>
  using array_metadata = symbol_of_value;

  explicit staging(detail::recorder& r) : recorder_(&r) {}
  detail::recorder& recorder() const { return *recorder_; }

  template <class T>
  auto constant(T const& x) {
    if constexpr (detail::plain_described<T>)
      return detail::constant_members(*this, x);
    else
      return symbol_of_value{recorder_->literal(x)};
  }

  // ---- operations on numbers

  template <class L, class F, class... X>
  auto stage_operation(stack<L> const& levels, F const&, X const&... x) {
    using R = detail::computed_t<F, detail::bottom_t<X>...>;
    if constexpr (!detail::has_ir_type<R>())
      return detail::refused{};
    else {
      ir::value_id operands[] = {value_of(x)...};
      return value<R, staging, typename L::run>(
          R{}, {recorder_->elementwise(detail::op_code<F>, operands, detail::ir_type_of<R>)}, levels.top());
    }
  }

  // ---- arrays

  // Calls f if the arguments are arrays. Other arguments occur where a rule is compiled for numbers, and are rejected.
  template <class F, class... A>
  static auto of_arrays(F const& f, A const&... a) {
    if constexpr (detail::trees_of_arrays<A...>())
      return f(a...);
    else
      return detail::refused{};
  }
  template <class A, class I>
  auto overdub(at_t const&, A const& a, I const& i) {
    return of_arrays([&](auto const& xs) { return elements_at(xs, index(i)); }, a);
  }
  template <class... A>
  auto overdub(array_size_t const&, A const&... a) {
    return of_arrays([&](auto const&... xs) { return number(length(xs...)); }, a...);
  }
  template <class A, class I, class N>
  auto overdub(slice_t const&, A const& a, I const& first, N const& count) {
    auto const slice_of = [&](auto const& s) {
      return like<inner_t<decltype(s)>>(s, ir::op::slice, s.metadata.id, index(first), index(count));
    };
    return of_arrays([&](auto const& xs) { return detail::map_symbols(slice_of, xs); }, a);
  }
  template <class A, class I>
  auto overdub(gather_t const&, A const& a, I const& indices) {
    auto const elements_of = [&](auto const& s) {
      return like<inner_t<decltype(s)>>(s, ir::op::gather, s.metadata.id, index(indices));
    };
    return of_arrays(
        [&](auto const& xs, auto const&) { return detail::map_symbols(elements_of, xs); }, a, indices);
  }
  template <class N>
  auto overdub(iota_t const&, N const& n) {
    return made<array<i64>>(ir::op::iota, index(n));
  }
  template <class N, class X>
  auto overdub(fill_t const&, N const& n, X const& x) {
    ir::value_id const count = index(n);
    return detail::map_symbols(
        [&](auto const& s) {
          return like<array<inner_t<decltype(s)>>>(s, ir::op::fill, count, s.metadata.id);
        },
        x);
  }
  template <class A, class I, class X>
  auto overdub(update_t const&, A const& a, I const& i, X const& x) {
    ir::value_id const where = index(i);
    auto const elements = detail::flat(x);
    auto const types = recorder_->types_of(elements);
    std::size_t next = 0;
    auto const updated = [&](auto const& s) {
      using E = typename inner_t<decltype(s)>::value_type;
      ir::value_id const element = recorder_->converted(elements.at(next++), detail::ir_type_of<E>);
      return like<inner_t<decltype(s)>>(s, ir::op::update, s.metadata.id, where, element);
    };
    return of_arrays([&](auto const& xs) { return detail::map_symbols(updated, xs); }, a);
  }
  template <class A, class B>
  auto overdub(concat_t const&, A const& a, B const& b) {
    auto const others = detail::flat(b);
    std::size_t next = 0;
    auto const joined = [&](auto const& s) {
      return like<inner_t<decltype(s)>>(s, ir::op::concat, s.metadata.id, others.at(next++));
    };
    return of_arrays([&](auto const& xs, auto const&) { return detail::map_symbols(joined, xs); }, a, b);
  }
  template <class... A>
  auto overdub(zip_t const&, A const&... a) {
    return of_arrays(
        [&](auto const&... xs) {
          (void)length(xs...);
          return std::tuple<A...>{xs...};
        },
        a...);
  }

  // ---- control

  template <class C, class T, class E>
  auto overdub(if_t const&, C const& condition, T const& then, E const& otherwise) {
    using R = std::remove_cvref_t<decltype(detail::owned_tree(then()))>;
    if constexpr (!detail::branches_agree<
                      R, std::remove_cvref_t<decltype(detail::owned_tree(otherwise()))>>())
      return detail::refused{};
    else {
      ir::node_id const n = open(ir::op::if_, {index(condition)}, {{}, {}});
      R const result = in_region(n, 0, [&] { return detail::owned_tree(then()); });
      (void)in_region(n, 1, [&] { return detail::owned_tree(otherwise()); });
      return finish(n, result);
    }
  }
  template <class N, class X, class F>
  auto overdub(loop_t const&, N const& n, X const& state, F const& body) {
    auto const start = detail::flat(state);
    auto carried = recorder_->types_of(start);
    carried.insert(carried.begin(), ir::i64);
    ir::node_id const node = open(ir::op::loop, with(index(n), start), {carried});
    X const last = in_region(node, 0, [&] {
      return next_state<X>(body(number(argument(node, 0)), detail::refilled(state, arguments(node), 1)));
    });
    return finish(node, last);
  }
  template <class X, class C, class F>
  auto overdub(while_t const&, X const& state, C const& condition, F const& body) {
    ir::node_id const node = open_while(state, detail::flat(state), condition);
    X const last =
        in_region(node, 1, [&] { return next_state<X>(body(detail::refilled(state, arguments(node, 1)))); });
    return finish(node, last);
  }
  template <class X, class C, class F>
  auto overdub(detail::while_scan_t const&, X const& state, C const& condition, F const& body) {
    auto const start = detail::flat(state);
    ir::node_id const node = open_while(state, start, condition);
    auto const step = in_region(
        node, 1, [&] { return detail::owned_tree(body(detail::refilled(state, arguments(node, 1)))); });
    return with_outputs<X>(node, step, start.size());
  }
  template <class F, class X, class A>
  auto overdub(scan_t const&, F const& f, X const& state, A const& xs) {
    return of_arrays(
        [&](auto const& arrays) {
          return scanned<false>(length(arrays), state, [&](ir::value_id i, auto const& s) {
            return f(s, elements_at(arrays, i));
          });
        },
        as_symbols(xs));
  }
  template <bool Reversed, class N, class X, class F>
  auto overdub(detail::indexed_scan_t<Reversed> const&, N const& n, X const& state, F const& f) {
    return scanned<Reversed>(index(n), state, [&](ir::value_id i, auto const& s) { return f(number(i), s); });
  }
  template <class F, class... A>
  auto overdub(map_t const&, F const& f, A const&... xs) {
    return of_arrays([&](auto const&... arrays) { return mapped(f, arrays...); }, as_symbols(xs)...);
  }
  template <class N, class F>
  auto overdub(tabulate_t const&, N const& n, F const& f) {
    ir::node_id const node = open(ir::op::map, {index(n)}, {{ir::i64}});
    auto const element = in_region(node, 0, [&] { return detail::owned_tree(f(number(argument(node, 0)))); });
    return finish(node, stacked(element), 0);
  }
  template <class F, class A>
  auto overdub(reduce_t const&, F const& f, A const& xs) {
    return of_arrays([&](auto const& arrays) { return reduced(f, arrays); }, xs);
  }
  template <class F, class X, class A>
  auto overdub(reduce_t const&, F const& f, X const& initial, A const& xs) {
    return of_arrays([&](auto const& arrays) { return reduced(f, arrays, initial); }, xs);
  }

  // ---- functions

  template <class R, class Call, class F, class... X>
  R stage_function(Call const& call, F const& f, X const&... x) {
    if constexpr (detail::of_kind<F, kind::of_program>)
      return run_body(call, f, x...); // the evaluator stages functions of other programs
    else if constexpr (detail::is_exempt_call<F>)
      return stage_call<R>(ir::attributes::exempt, call, f.function, x...);
    else
      return stage_call<R>(0, call, f, x...);
  }

private:
  template <class R, class Call, class F, class... X>
  R stage_call(std::uint8_t flags, Call const& call, F const& f, X const&... x) {
    static_assert(
        std::is_empty_v<origin_t<F>>, "overdub: a function that is staged captures nothing, since a program "
                                      "is used again; give what it captures as an argument");
    void const* key = &detail::type_key<F, X...>;
    std::vector<std::size_t> lengths;
    (detail::add_lengths(lengths, x), ...);
    if constexpr (F::depth > 0)
      key = recorder_->key_of(key, {.contexts = detail::contexts_of(f), .lengths = std::move(lengths)});
    else if (!lengths.empty())
      key = recorder_->key_of(key, {.contexts = {}, .lengths = std::move(lengths)});
    auto const operands = detail::flat(x...);
    if (recorder_->find(key) == nullptr) {
      std::string_view origin;
      if constexpr (F::depth > 0) origin = origin_t<F>::name();
      auto const body = [&](std::vector<ir::value_id>& yielded) {
        auto const parameters = recorder_->here().parameters();
        std::size_t next = 0;
        [[maybe_unused]] auto next_parameter = [&] { return parameters[next++]; };
        result_of_body<R> const result{call, f, detail::refilled(x, next_parameter)...};
        yielded = detail::flat(result.tree);
        return std::any(std::in_place_type<R>, result.tree); // R may convert to anything
      };
      recorder_->stage_function(
          {key, f.name(), origin, &detail::type_key<origin_t<F>>}, operands, known_types<R>(), body);
      if constexpr (detail::says_derivative<F>)
        if constexpr (!detail::derivative_of<F>::is_rule || detail::takes_as_written<F>) {
          detail::recorder::staged const known = *recorder_->find(key);
          detail::derivative_stager<Call, F, R, X...>(call, f, known.id, recorder_->types_of(operands))
              .run(std::any_cast<R const&>(known.results), x...);
        }
    }
    detail::recorder::staged const& known = *recorder_->find(key);
    auto const results = recorder_->call(known, operands, flags);
    if constexpr (detail::is_symbol<R>)
      return symbol_of<R>(results[0]);
    else if (known.results.has_value())
      return detail::refilled(std::any_cast<R const&>(known.results), results);
    else
      return detail::refilled(detail::make_symbols{}(std::type_identity<R>{}), results);
  }

public:
  template <native_leaf F, class... X>
  requires(!detail::of_kind<F, kind::native_of_program>) auto overdub(F const& f, X const&... x) {
    static_assert(
        std::is_empty_v<F>,
        "overdub: a native function that is staged captures nothing; give what it captures as an argument");
    using R = detail::computed_t<F, decltype(concrete(x))...>;
    constexpr bool leaves = (detail::is_symbol<X> && ...);
    static_assert(
        leaves, "overdub: a native function that is staged takes bool, i64, float, double and arrays of "
                "them, one by one");
    constexpr bool known = std::is_same_v<R, none> || static_cast<bool>(detail::ir_type_of<R>);
    static_assert(
        known || detail::is_refused<R>,
        "overdub: a native function that is staged returns bool, i64, float, double or an array of them");
    if constexpr (!leaves || !known)
      return detail::refused{};
    else {
      ir::attributes a = ir::attributes::of(recorder_->bind(
          std::string(f.name()), &detail::run_leaf<F, R, decltype(concrete(x))...>, nullptr,
          ir::host_binding::no_context, &detail::type_key<F>));
      a.effects = F::effects;
      auto const operands = detail::flat(x...);
      if constexpr (std::is_same_v<R, none>) {
        recorder_->insert(ir::op::host, operands, {}, a);
        return none{};
      } else
        return overdub::tag(
            R{}, symbol_of_value{recorder_->add(ir::op::host, operands, detail::ir_type_of<R>, a)});
    }
  }
  // A native function of another program: copies the operation.
  template <rule_call Call, native_leaf F, class... X>
  requires detail::of_kind<F, kind::native_of_program>
  auto overdub(Call const& call, F const& f, X const&... x) { return f.stage(call.levels(), x...); }
  // A random choice stages itself.
  template <rule_call Call, random_choice F, class... X>
  auto overdub(Call const& call, F const& f, X const&... x) {
    return f.stage(call, x...);
  }
};

} // namespace overdub
