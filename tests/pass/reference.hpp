// A reference semantics of programs, slow and obvious, for the tests of passes. Values are trees, every operation follows
// its definition literally, and a log records effects.
#pragma once

#include <overdub/control/reduce.hpp>
#include <overdub/ir/consistent.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/special.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace reference {

using namespace overdub::ir;
using overdub::effect;
using std::int64_t;
using std::uint64_t;

struct function_value;

/// A number by its bits as in literals, an array by its rows, or a function.
struct value {
  scalar element = scalar::none;
  int rank = 0;
  uint64_t bits = 0;
  std::vector<value> rows;
  std::shared_ptr<function_value const> calls;
  value* accumulator = nullptr; // of an argument of accumulate: the target of additions

  // Functions are not compared: programs return none.
  bool operator==(value const& other) const {
    return element == other.element && rank == other.rank && bits == other.bits && rows == other.rows;
  }
};
struct function_value {
  function_id callee;
  std::vector<value> captured;
};

/// A program's assertion does not hold.
struct assertion_failed : overdub::error {
  using error::error;
};
/// A host function threw.
struct host_failed : overdub::error {
  using error::error;
};
/// The program runs longer than the test's limit.
struct too_long {};

template <class T>
T number(value const& v) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(v.bits));
  else if constexpr (std::is_same_v<T, bool>)
    return v.bits != 0;
  else
    return std::bit_cast<T>(v.bits);
}
// All NaNs are equal.
template <class T>
value of_number(T x) {
  if constexpr (std::is_same_v<T, bool>)
    return {scalar::boolean, 0, x ? 1u : 0u, {}, {}};
  else if constexpr (std::is_same_v<T, float>)
    return {
        scalar::f32,
        0,
        std::bit_cast<std::uint32_t>(x == x ? x : std::numeric_limits<float>::quiet_NaN()),
        {},
        {}};
  else if constexpr (std::is_same_v<T, double>)
    return {
        scalar::f64,
        0,
        std::bit_cast<uint64_t>(x == x ? x : std::numeric_limits<double>::quiet_NaN()),
        {},
        {}};
  else
    return {scalar::i64, 0, static_cast<uint64_t>(static_cast<int64_t>(x)), {}, {}};
}
inline value of_bits(type t, uint64_t bits) {
  value v{t.element, t.rank, bits, {}, {}};
  if (t == f64) return of_number(number<double>(v));
  if (t == f32) return of_number(number<float>(v));
  return v;
}
inline int64_t integer(value const& v) { return static_cast<int64_t>(v.bits); }

// The extents; after an extent of 0, all are 0.
inline std::vector<std::size_t> shape(value const& v) {
  std::vector<std::size_t> all(static_cast<std::size_t>(v.rank));
  value const* at = &v;
  for (std::size_t& extent : all) {
    extent = at->rows.size();
    if (extent == 0) break;
    at = &at->rows.front();
  }
  return all;
}

// ---- elementwise operations, from the table

template <class X>
std::optional<value> compute_unary(op code, X x) {
  using namespace overdub;
  constexpr bool floating = std::is_floating_point_v<X>, is_bool = std::is_same_v<X, bool>;
  (void)x;
  switch (code) {
#define OVERDUB_UNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                              \
  case op::NAME: {                                                                                           \
    constexpr type_rule rule = type_rule::TYPES;                                                             \
    if constexpr (                                                                                           \
        (rule == type_rule::numeric && !is_bool) || (rule == type_rule::floating && floating) ||             \
        (rule == type_rule::test && floating) || (rule == type_rule::logical && is_bool) ||                  \
        (rule == type_rule::integer && std::is_same_v<X, int64_t>))                                          \
      return of_number(NATIVE);                                                                              \
    break;                                                                                                   \
  }
#include <overdub/core/ops.def>
  default:
    break;
  }
  return {};
}
template <class X>
std::optional<value> compute_binary(op code, X x, X y) {
  using namespace overdub;
  constexpr bool floating = std::is_floating_point_v<X>, is_bool = std::is_same_v<X, bool>;
  (void)x, (void)y;
  switch (code) {
#define OVERDUB_BINARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                             \
  case op::NAME: {                                                                                           \
    constexpr type_rule rule = type_rule::TYPES;                                                             \
    if constexpr (                                                                                           \
        (rule == type_rule::numeric && !is_bool) || (rule == type_rule::floating && floating) ||             \
        rule == type_rule::comparison || (rule == type_rule::logical && is_bool) ||                          \
        (rule == type_rule::integer && std::is_same_v<X, int64_t>))                                          \
      return of_number(NATIVE);                                                                              \
    break;                                                                                                   \
  }
#include <overdub/core/ops.def>
  default:
    break;
  }
  return {};
}
template <class X>
std::optional<value> compute_ternary(op code, X x, X y, X z) {
  using namespace overdub;
  (void)x, (void)y, (void)z;
  constexpr bool floating = std::is_floating_point_v<X>, is_bool = std::is_same_v<X, bool>;
  switch (code) {
#define OVERDUB_TERNARY(NAME, KIND, TYPES, EFFECT, COST, TRAITS, NATIVE, TANGENT)                            \
  case op::NAME: {                                                                                           \
    constexpr type_rule rule = type_rule::TYPES;                                                             \
    if constexpr ((rule == type_rule::numeric && !is_bool) || (rule == type_rule::floating && floating))     \
      return of_number(NATIVE);                                                                              \
    break;                                                                                                   \
  }
#include <overdub/core/ops.def>
  default:
    break;
  }
  return {};
}

template <class F>
auto on_number(scalar element, F f) {
  switch (element) {
  case scalar::boolean:
    return f(bool{});
  case scalar::i64:
    return f(int64_t{});
  case scalar::f32:
    return f(float{});
  default:
    return f(double{});
  }
}

inline value compute(math_mode math, op code, std::span<value const> x) {
  if (code == op::select) return x[0].bits != 0 ? x[1] : x[2];
  if (code == op::ldexp)
    return x[0].element == scalar::f32
               ? of_number(overdub::native::ldexp(number<float>(x[0]), integer(x[1])))
               : of_number(overdub::native::ldexp(number<double>(x[0]), integer(x[1])));
  if (code == op::polygamma)
    return x[1].element == scalar::f32
               ? of_number(overdub::native::polygamma(integer(x[0]), number<float>(x[1])))
               : of_number(overdub::native::polygamma(integer(x[0]), number<double>(x[1])));
  return *on_number(x[0].element, [&](auto zero) -> std::optional<value> {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>)
      if (math == math_mode::consistent && is_elementary(code)) {
        auto const& all = consistent->of<T>();
        auto const i = static_cast<std::size_t>(code);
        return of_number(
            all.one[i] != nullptr ? all.one[i](number<T>(x[0]))
                                  : all.two[i](number<T>(x[0]), number<T>(x[1])));
      }
    if (x.size() == 1) return compute_unary(code, number<T>(x[0]));
    if (x.size() == 2) return compute_binary(code, number<T>(x[0]), number<T>(x[1]));
    return compute_ternary(code, number<T>(x[0]), number<T>(x[1]), number<T>(x[2]));
  });
}
inline value convert(value const& x, type to) {
  return on_number(x.element, [&](auto from) {
    return on_number(to.element, [&](auto result) {
      return of_number(overdub::native::convert<decltype(result)>(number<decltype(from)>(x)));
    });
  });
}

// ---- programs

/// Observes a program during evaluation.
struct observer {
  virtual ~observer() = default;
  virtual void entered(function const&, region_id, std::span<value const> /*arguments*/) {}
  virtual void begun(function const&, node_id, std::span<value const> /*operands*/) {}
  virtual void
  done(function const&, node_id, std::span<value const> /*operands*/, std::span<value const> /*results*/) {}
};

class evaluator {
public:
  explicit evaluator(program const& p, long steps = 200'000, observer* seen_by = nullptr)
      : p_(p), steps_(steps), observer_(seen_by) {}

  std::vector<std::string> log;     // ordered effects
  std::vector<std::string> samples; // address and value; they commute
  uint64_t total = 0;               // what the host accumulated; it commutes

  std::vector<value> call(function_id id, std::vector<value> const& arguments) {
    if (++depth_ > 200) throw too_long{};
    function const& f = p_[id];
    frame x{f, std::vector<value>(f.value_count())};
    auto results = region(x, function::body, arguments);
    --depth_;
    return results;
  }

private:
  struct frame {
    function const& f;
    std::vector<value> values;
  };
  using values = std::vector<value>;

  void step(std::size_t n = 1) {
    if ((steps_ -= static_cast<long>(n)) < 0) throw too_long{};
  }
  static value get(frame& x, value_id v) {
    return x.f.is_literal(v) ? of_bits(x.f.type_of(v), x.f.bits_of(v)) : x.values[index_of(v)];
  }
  values region(frame& x, region_id r, values const& arguments) {
    for (std::uint32_t i = 0; i < arguments.size(); ++i)
      x.values[index_of(x.f.argument(r, i))] = arguments[i];
    if (observer_) observer_->entered(x.f, r, arguments);
    for (node_id const n : x.f.nodes_of(r)) {
      step();
      values operands;
      for (value_id const v : x.f.operands_of(n)) operands.push_back(get(x, v));
      if (x.f[n].code == op::yield) return operands;
      if (observer_) observer_->begun(x.f, n, operands);
      values const results = run(x, n, operands);
      if (observer_) observer_->done(x.f, n, operands, results);
      for (std::uint32_t i = 0; i < results.size(); ++i) x.values[index_of(x.f.result(n, i))] = results[i];
    }
    return {};
  }

  static void check_index(value const& a, int64_t i) {
    auto const size = static_cast<int64_t>(a.rows.size());
    if (i < 0 || i >= size) overdub::detail::throw_index("at", i, size);
  }
  static value* part(value& a, std::span<value const> indices) {
    value* at = &a;
    for (value const& i : indices) {
      check_index(*at, integer(i));
      at = &at->rows[static_cast<std::size_t>(integer(i))];
    }
    return at;
  }
  // Arrays are rectangular.
  static void append(values& rows, value const& row) {
    if (!rows.empty() && shape(row) != shape(rows[0])) overdub::detail::throw_sizes("array", 0, 1);
    rows.push_back(row);
  }
  value array_of(type t, values rows) {
    for (value const& row : rows)
      if (shape(row) != shape(rows[0])) overdub::detail::throw_sizes("array", 0, 1);
    step(rows.size());
    return {t.element, t.rank, 0, std::move(rows), {}};
  }
  std::size_t length(int64_t n) {
    if (n < 0) overdub::detail::throw_negative("array", n);
    step(static_cast<std::size_t>(n));
    return static_cast<std::size_t>(n);
  }
  static void add(value& to, value const& x) {
    if (shape(to) != shape(x)) overdub::detail::throw_sizes("add_to", 0, 1);
    if (to.rank == 0) {
      value const pair[] = {to, x};
      to = compute(math_mode::exact, op::add, pair);
    }
    for (std::size_t i = 0; i < to.rows.size(); ++i) add(to.rows[i], x.rows[i]);
  }

  values run(frame& x, node_id n, values const& a) {
    function const& f = x.f;
    function::node const& node = f[n];
    auto type_of = [&](std::uint32_t i) { return f.type_of(f.result(n, i)); };
    auto region_at = [&](std::uint32_t i) { return f.region_at(n, i); };
    if (is_elementwise(node.code)) return {compute(p_.math, node.code, a)};
    switch (node.code) {
    case op::convert:
      return {convert(a[0], type_of(0))};
    case op::copy:
      return {a[0]};
    case op::array:
      return {array_of(type_of(0), a)};
    case op::length:
      for (value const& other : a)
        if (other.rows.size() != a[0].rows.size()) overdub::detail::throw_sizes("length", 0, 1);
      return {of_number(static_cast<int64_t>(a[0].rows.size()))};
    case op::at: {
      value from = a[0];
      return {*part(from, std::span(a).subspan(1))};
    }
    case op::update: {
      value into = a[0];
      value* const at = part(into, std::span(a).subspan(1, a.size() - 2));
      if (shape(*at) != shape(a.back())) overdub::detail::throw_sizes("update", 0, 1);
      *at = a.back();
      return {into};
    }
    case op::slice: {
      int64_t const first = integer(a[1]), count = integer(a[2]);
      auto const size = static_cast<int64_t>(a[0].rows.size());
      if (count < 0) overdub::detail::throw_negative("slice", count);
      if (first < 0 || first > size || count > size - first)
        overdub::detail::throw_index("slice", first, size);
      auto const begin = a[0].rows.begin() + first;
      return {array_of(type_of(0), values(begin, begin + count))};
    }
    case op::fill:
      return {array_of(type_of(0), values(length(integer(a[0])), a[1]))};
    case op::iota: {
      values rows;
      for (std::size_t i = 0, size = length(integer(a[0])); i < size; ++i)
        rows.push_back(of_number(static_cast<int64_t>(i)));
      return {array_of(type_of(0), rows)};
    }
    case op::concat: {
      values rows;
      for (value const& part_of : a) rows.insert(rows.end(), part_of.rows.begin(), part_of.rows.end());
      return {array_of(type_of(0), rows)};
    }
    case op::gather: {
      values rows;
      for (value const& i : a[1].rows) {
        check_index(a[0], integer(i));
        rows.push_back(a[0].rows[static_cast<std::size_t>(integer(i))]);
      }
      return {array_of(type_of(0), rows)};
    }
    case op::if_:
      return region(x, region_at(a[0].bits != 0 ? 0 : 1), {});
    case op::loop: {
      int64_t const times = integer(a[0]);
      values state(a.begin() + 1, a.end());
      std::size_t const carried = state.size();
      std::vector<values> outputs(node.result_count - carried);
      for (int64_t k = 0; k < times; ++k) {
        values arguments{of_number(node.attributes.is_reversed() ? times - 1 - k : k)};
        arguments.insert(arguments.end(), state.begin(), state.end());
        values const yielded = region(x, region_at(0), arguments);
        for (std::size_t i = 0; i < carried; ++i) state[i] = yielded[i];
        for (std::size_t i = carried; i < yielded.size(); ++i) append(outputs[i - carried], yielded[i]);
      }
      for (std::uint32_t i = 0; i < outputs.size(); ++i) {
        if (node.attributes.is_reversed()) std::reverse(outputs[i].begin(), outputs[i].end());
        state.push_back(array_of(type_of(static_cast<std::uint32_t>(carried) + i), outputs[i]));
      }
      return state;
    }
    case op::while_: {
      values state = a;
      std::size_t const carried = state.size();
      std::vector<values> outputs(node.result_count - carried);
      while (region(x, region_at(0), state)[0].bits != 0) {
        values const yielded = region(x, region_at(1), state);
        for (std::size_t i = 0; i < carried; ++i) state[i] = yielded[i];
        for (std::size_t i = carried; i < yielded.size(); ++i) append(outputs[i - carried], yielded[i]);
      }
      for (std::uint32_t i = 0; i < outputs.size(); ++i)
        state.push_back(array_of(type_of(static_cast<std::uint32_t>(carried) + i), outputs[i]));
      return state;
    }
    case op::map: {
      std::vector<values> rows(node.result_count);
      auto const size = static_cast<int64_t>(length(integer(a[0])));
      for (int64_t i = 0; i < size; ++i) {
        values const yielded = region(x, region_at(0), {of_number(i)});
        for (std::size_t k = 0; k < rows.size(); ++k) append(rows[k], yielded[k]);
      }
      values results;
      for (std::uint32_t k = 0; k < rows.size(); ++k) results.push_back(array_of(type_of(k), rows[k]));
      return results;
    }
    case op::reduce:
      return reduce(x, n, a);
    case op::accumulate: {
      values sums = a;
      values arguments(a.size());
      for (std::size_t i = 0; i < a.size(); ++i) arguments[i].accumulator = &sums[i];
      values const yielded = region(x, region_at(0), arguments);
      sums.insert(sums.end(), yielded.begin(), yielded.end());
      return sums;
    }
    case op::add_to:
      add(*part(*a[0].accumulator, std::span(a).subspan(1, a.size() - 2)), a.back());
      return {};
    case op::protect:
      try {
        return region(x, region_at(0), {});
      } catch (overdub::error const&) {
        region(x, region_at(1), {});
        throw;
      }
    case op::call:
      return call(node.attributes.callee(), a);
    case op::closure:
      return {{scalar::function, 0, 0, {}, std::make_shared<function_value>(node.attributes.callee(), a)}};
    case op::apply: {
      values arguments = a[0].calls->captured;
      arguments.insert(arguments.end(), a.begin() + 1, a.end());
      return call(a[0].calls->callee, arguments);
    }
    case op::reabstract:
      return {a[0]};
    case op::host:
      return host(f, n, a);
    case op::sample: {
      std::string address = std::string(p_.text(node.attributes.text()));
      for (std::size_t i = 0; i < node.attributes.count; ++i)
        address += "[" + std::to_string(integer(a[i])) + "]";
      value const drawn =
          invented(type_of(0), hash(address + std::string(p_.text(node.attributes.detail)), a));
      samples.push_back(address + " " + std::to_string(drawn.bits));
      return {drawn};
    }
    case op::assert_:
      if (a[0].bits == 0)
        throw assertion_failed(overdub::message("%s", std::string(p_.text(node.attributes.text())).c_str()));
      return {};
    default:
      throw too_long{};
    }
  }

  // The order of control/reduce.hpp, the left part first: side effects of the region have an order, too.
  template <class F, class Get>
  static values reduce_tree(F const& combine, Get const& element, int64_t first, int64_t n) {
    if (n == 1) return element(first);
    int64_t half = 1;
    while (2 * half < n) half *= 2;
    values const left = reduce_tree(combine, element, first, half);
    return combine(left, reduce_tree(combine, element, first + half, n - half));
  }
  template <class F, class Get>
  static values reduce_lanes(F const& combine, Get const& element, int64_t n) {
    std::vector<values> lane;
    for (int64_t i = 0; i < n; ++i) {
      auto const l = static_cast<std::size_t>(i % 8);
      if (i < 8)
        lane.push_back(element(i));
      else
        lane[l] = combine(lane[l], element(i));
    }
    constexpr std::size_t folds[][2] = {{0, 4}, {2, 6}, {0, 2}, {1, 5}, {3, 7}, {1, 3}, {0, 1}};
    for (auto const& [to, from] : folds)
      if (from < lane.size()) lane[to] = combine(lane[to], lane[from]);
    return lane[0];
  }
  values reduce(frame& x, node_id n, values const& a) {
    function::node const& node = x.f[n];
    attributes const& says = node.attributes;
    std::size_t const count = says.is_started() ? a.size() / 2 : a.size();
    auto const size = static_cast<int64_t>(a[0].rows.size());
    for (std::size_t i = 0; i < count; ++i)
      if (a[i].rows.size() != a[0].rows.size()) overdub::detail::throw_sizes("reduce", 0, 1);
    auto combine = [&](values left, values const& right) -> values {
      step();
      if (says.operation != op::none) {
        value const pair[] = {left[0], right[0]};
        return {compute(p_.math, says.operation, pair)};
      }
      left.insert(left.end(), right.begin(), right.end());
      return region(x, x.f.region_at(n, 0), left);
    };
    auto element = [&](int64_t i) {
      values all;
      for (std::size_t k = 0; k < count; ++k) all.push_back(a[k].rows[static_cast<std::size_t>(i)]);
      return all;
    };
    values const initial(a.begin() + static_cast<std::ptrdiff_t>(count), a.end());
    if (says.is_in_order()) {
      values all = initial;
      for (int64_t i = 0; i < size; ++i) all = combine(all, element(i));
      return all;
    }
    if (size == 0 && says.is_started()) return initial;
    if (size == 0) overdub::detail::throw_empty("reduce");
    bool const in_lanes =
        says.is_in_lanes() || (says.operation == op::add && x.f.type_of(x.f.result(n)).is_floating());
    values const all =
        in_lanes ? reduce_lanes(combine, element, size) : reduce_tree(combine, element, 0, size);
    return says.is_started() ? combine(initial, all) : all;
  }

  // ---- the host: functions that differ by their names alone
  static uint64_t mixed(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15;
    return h ^ h >> 32;
  }
  static uint64_t hash(std::string_view name, std::span<value const> all, uint64_t h = 7) {
    for (char const c : name) h = mixed(h, static_cast<unsigned char>(c));
    for (value const& v : all) h = hash({}, v.rows, mixed(mixed(h, v.bits), v.rows.size()));
    return h;
  }
  value invented(type t, uint64_t h) {
    switch (t.element) {
    case scalar::boolean:
      return of_number(h % 2 == 0);
    case scalar::i64:
      return of_number(static_cast<int64_t>(h % 5));
    case scalar::f32:
      return of_number(static_cast<float>(h % 64) / 8 - 4);
    default:
      return of_number(static_cast<double>(h % 64) / 8 - 4);
    }
  }
  values host(function const& f, node_id n, values const& a) {
    attributes const& says = f[n].attributes;
    std::string_view const name = p_.text(says.text());
    uint64_t h = hash(name, a);
    if (says.effects == effect::reads_context) h = mixed(h, log.size());
    if (says.effects == effect::accumulates) total += h;
    if (says.effects == effect::ordered) log.push_back(std::string(name) + " " + std::to_string(h));
    if ((says.effects == effect::may_fail || says.effects == effect::ordered) && h % 16 == 0)
      throw host_failed(overdub::message("host"));
    values results;
    for (value_id const v : f.results_of(n)) results.push_back(invented(f.type_of(v), h = mixed(h, 1)));
    return results;
  }

  program const& p_;
  long steps_;
  observer* observer_;
  int depth_ = 0;
};

enum class failure { none, index, size, division, assertion, host };

/// The observable behaviour of a run.
struct outcome {
  failure failed = failure::none;
  std::vector<value> results;
  std::vector<std::string> log;
  std::vector<std::string> samples; // sorted; of runs that do not fail
  uint64_t total = 0;               // the same

  bool operator==(outcome const&) const = default;
};

/// Runs the program's entry; nothing if it takes too long.
inline std::optional<outcome>
run(program const& p, std::vector<value> const& arguments, long steps = 200'000,
    observer* seen_by = nullptr) {
  evaluator e(p, steps, seen_by);
  outcome seen;
  try {
    seen.results = e.call(p.entry, arguments);
    std::sort(e.samples.begin(), e.samples.end());
    seen.samples = std::move(e.samples);
    seen.total = e.total;
  } catch (overdub::index_error const&) {
    seen.failed = failure::index;
  } catch (overdub::size_error const&) {
    seen.failed = failure::size;
  } catch (overdub::division_by_zero const&) {
    seen.failed = failure::division;
  } catch (assertion_failed const&) {
    seen.failed = failure::assertion;
  } catch (host_failed const&) {
    seen.failed = failure::host;
  } catch (too_long const&) {
    return {};
  }
  seen.log = std::move(e.log);
  return seen;
}

} // namespace reference
