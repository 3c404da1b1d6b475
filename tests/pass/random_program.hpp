// Random valid programs: branches, loops, maps, reductions, accumulators, arrays, calls, recursion, function values,
// samples and host effects. All programs terminate after few steps, and most without an error. A seed determines the
// program on every machine.
#pragma once

#include <overdub/ir/consistent.hpp>
#include <overdub/ir/cursor.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace random_program {

using namespace overdub::ir;
using overdub::effect;

struct options {
  int functions = 3;              // besides the entry
  int operations = 7;             // of a region, at most
  int depth = 3;                  // of nested regions
  bool effects = true;            // of the host
  bool function_values = true;    // and protect
  bool carried_functions = true;  // by loops
  bool functions_in_data = false; // in arrays, and as arguments of functions
  bool samples = true;            // random choices
  bool failing = true;            // errors are possible
  // Mostly loops of numbers: with operations on numbers, branches and elements of arrays.
  bool loops_of_numbers = false;
  bool elementary = true; // functions like sin, which are slow and differ between libraries
};

/// Numbers that are the same with every compiler (splitmix64).
class random_numbers {
public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// From 0 on, less than n.
  std::uint32_t below(std::size_t n) { return static_cast<std::uint32_t>(bits() % n); }
  bool chance(int percent) { return below(100) < static_cast<std::uint32_t>(percent); }

private:
  std::uint64_t state_;
};

class maker {
public:
  maker(std::uint64_t seed, options const& wanted) : random_(seed), wanted_(wanted) {}

  program make() {
    for (int i = 0; i < wanted_.functions; ++i) add_function("f" + std::to_string(i), false);
    add_function("main", true);
    made_.entry = functions_.back();
    return std::move(made_);
  }

private:
  using types = std::vector<type>;
  using values = std::vector<value_id>;
  // Facts about a value, so that most indices are in range: an array's minimum length, an integer's bound.
  struct known {
    value_id value;
    int least = 0; // the minimum length of an array
    int bound = 0; // an i64 is in [0, bound)
  };
  using scope = std::vector<known>;

  static constexpr int parameter_length = 3; // of array arguments, along each axis

  // ---- functions
  void add_function(std::string const& name, bool is_entry) {
    types parameters{i64}; // the remaining depth of recursion
    for (std::uint32_t i = 0, n = 1 + random_.below(4); i < n; ++i) parameters.push_back(any_type());
    if (is_entry)
      parameters = {i64, f64, boolean, f64.array_of(), i64.array_of(), f64.array_of().array_of(), f32};
    function_id const f = made_.add(name, parameters);
    types results;
    for (std::uint32_t i = 0, n = 1 + random_.below(3); i < n; ++i) results.push_back(any_type());
    made_[f].results = results;
    functions_.push_back(f);
    cursor c(made_, f, function::body);
    cursor_ = &c;
    scope all;
    for (value_id const v : c->parameters()) all.push_back(described(v));
    all[0].bound = parameter_length;
    if (!is_entry && random_.chance(30))
      recursive_body(f, all);
    else
      operations(all, wanted_.depth);
    c.to_end(function::body);
    yield(all, results);
    cursor_ = nullptr;
  }
  // argument() chose the arguments and results of regions and functions.
  known described(value_id v) const {
    type const t = (**cursor_).type_of(v);
    return {v, t.is_array() ? parameter_length : 0, 0};
  }
  // if (n > 0) f(n - 1, ...) else ...
  void recursive_body(function_id f, scope& all) {
    value_id const n = all[0].value;
    node_id const branch = insert(
        op::if_, {cursor_->add(op::gt, n, cursor_->literal(std::int64_t{0}))}, made_[f].results, {{}, {}});
    in_region(branch, 0, all, [&](scope& inner) {
      operations(inner, wanted_.depth - 1);
      values arguments{cursor_->add(op::sub, n, cursor_->literal(std::int64_t{1}))};
      for (std::uint32_t i = 1; i < (**cursor_)[function::body].argument_count; ++i)
        arguments.push_back(argument(inner, (**cursor_).type_of((**cursor_).argument(function::body, i))));
      node_id const call = cursor_->insert(op::call, arguments, made_[f].results, attributes::of(f));
      note_results(inner, call);
      return made_[f].results;
    });
    in_region(branch, 1, all, [&](scope& inner) {
      operations(inner, 1);
      return made_[f].results;
    });
    note_results(all, branch);
  }

  // ---- types and values
  type any_scalar() {
    static constexpr type all[] = {boolean, i64, i64, f32, f64, f64, f64};
    return all[random_.below(std::size(all))];
  }
  type any_type() {
    type t = any_scalar();
    if (wanted_.loops_of_numbers) return t;
    if (random_.chance(35)) t = t.array_of();
    if (t.rank == 1 && random_.chance(20)) t = t.array_of();
    return t;
  }
  value_id literal(type t) {
    static constexpr double special[] = {
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        0.5,
        -3.25,
        1e300,
        5e-324,
        std::numeric_limits<double>::infinity(),
        -std::numeric_limits<double>::infinity(),
        std::numeric_limits<double>::quiet_NaN()};
    static constexpr std::int64_t whole[] = {0,
                                             1,
                                             -1,
                                             2,
                                             3,
                                             7,
                                             std::numeric_limits<std::int64_t>::min(),
                                             std::numeric_limits<std::int64_t>::max()};
    double const x = special[random_.below(std::size(special))];
    switch (t.element) {
    case scalar::boolean:
      return cursor_->literal(random_.chance(50));
    case scalar::i64:
      return cursor_->literal(whole[random_.below(random_.chance(80) ? 5 : std::size(whole))]);
    case scalar::f32:
      return cursor_->literal(static_cast<float>(x > 1e38 ? 1e38 : x));
    default:
      return cursor_->literal(x);
    }
  }
  // A value in scope, or a new one.
  known pick_known(scope& all, type t) {
    auto is_fit = [&](known const& x) {
      return (**cursor_).type_of(x.value) == t &&
             (!t.is_array() || x.least > 0 || (wanted_.failing && random_.chance(5)));
    };
    if (!t.is_scalar() || random_.chance(85)) {
      // Later ones are preferred, so that operations depend on each other.
      for (int attempt = 0; attempt < 6; ++attempt) {
        std::size_t const n = all.size();
        std::size_t const i = random_.chance(60) ? n - 1 - random_.below(n < 8 ? n : 8) : random_.below(n);
        if (is_fit(all[i])) return all[i];
      }
      for (known const& x : all)
        if (is_fit(x)) return x;
    }
    if (t.is_scalar()) {
      value_id const v = literal(t);
      std::uint64_t const bits = (**cursor_).bits_of(v);
      return {v, 0, t == i64 && bits < 100 ? static_cast<int>(bits) + 1 : 0};
    }
    // A new array, of at least three elements.
    int const least = 3 + static_cast<int>(random_.below(2));
    value_id const n = cursor_->literal(std::int64_t{least});
    known const made{cursor_->add(op::fill, n, pick(all, t.element_type())), least, 0};
    all.push_back(made);
    return made;
  }
  value_id pick(scope& all, type t) { return pick_known(all, t).value; }
  // An array of at least the length of array arguments.
  value_id argument(scope& all, type t) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      known const x = pick_known(all, t);
      if (!t.is_array() || x.least >= parameter_length) return x.value;
    }
    if (!t.is_array()) return pick(all, t);
    value_id const element = argument(all, t.element_type());
    known const made{
        cursor_->add(op::fill, cursor_->literal(std::int64_t{parameter_length}), element), parameter_length,
        0};
    all.push_back(made);
    return made.value;
  }
  // An index that is nearly always in bounds.
  value_id index_below(scope& all, int length) {
    if (wanted_.failing && random_.chance(1)) return pick(all, i64);
    for (int attempt = 0; attempt < 8; ++attempt) {
      known const& x = all[random_.below(all.size())];
      if ((**cursor_).type_of(x.value) == i64 && x.bound > 0 && x.bound <= length) return x.value;
    }
    return cursor_->literal(
        static_cast<std::int64_t>(length > 0 ? random_.below(static_cast<std::size_t>(length)) : 0));
  }
  // A small trip count, with its bounds.
  struct count {
    value_id value;
    int least;
    int most;
  };
  count few(scope& all) {
    if (random_.chance(30)) {
      int const n = static_cast<int>(random_.below(5));
      return {cursor_->literal(std::int64_t{n}), n, n};
    }
    if (random_.chance(50)) {
      type const t = any_scalar().array_of();
      known const a = pick_known(all, t);
      return {cursor_->add(op::length, a.value), a.least, a.least};
    }
    value_id const any = pick(all, i64);
    value_id const n = cursor_->add(op::bit_and, any, cursor_->literal(std::int64_t{3}));
    all.push_back({n, 0, 4});
    return {n, 0, 0};
  }

  // ---- operations
  node_id insert(
      op code, values const& operands, types const& results, std::vector<types> const& regions = {},
      attributes const& says = {}) {
    return cursor_->insert(code, operands, results, says, regions);
  }
  void note_results(scope& all, node_id n) {
    for (value_id const v : (**cursor_).results_of(n)) all.push_back(described(v));
  }
  // The same of a loop, which stacks its last results.
  void note_results(scope& all, node_id n, std::size_t carried, int times) {
    std::size_t i = 0;
    for (value_id const v : (**cursor_).results_of(n))
      all.push_back(i++ < carried ? described(v) : known{v, times, 0});
  }
  void yield(scope& all, types const& wanted) {
    values yielded;
    for (type const t : wanted) yielded.push_back(argument(all, t));
    cursor_->yield(yielded);
  }
  // Fills a region; `body` returns the types that it yields.
  template <class Body>
  void in_region(node_id n, std::uint32_t i, scope const& outer, Body body, int first_bound = 0) {
    region_id const r = (**cursor_).region_at(n, i);
    scope inner = outer;
    bool first = true;
    for (value_id const v : (**cursor_).arguments_of(r)) {
      if ((**cursor_).type_of(v).is_accumulator) continue;
      inner.push_back(described(v));
      inner.back().bound = std::exchange(first, false) ? first_bound : 0;
    }
    region_id const outside = cursor_->region();
    cursor_->to_end(r);
    types const yielded = body(inner);
    yield(inner, yielded);
    cursor_->to_end(outside);
  }

  void operations(scope& all, int depth) {
    int const n = 1 + static_cast<int>(random_.below(static_cast<std::size_t>(wanted_.operations)));
    for (int i = 0; i < n; ++i)
      if (random_.chance(8))
        again(all);
      else
        operation(all, depth);
  }
  // Returns a value that exists already.
  void again(scope& all) {
    known const x = all[random_.below(all.size())];
    function const& f = **cursor_;
    if (!f.is_result(x.value)) return;
    std::map<value_id, value_id> copied;
    cursor_->clone(cursor_->id(), f.node_of(x.value), copied);
    all.push_back({copied.at(x.value), x.least, x.bound});
  }
  void operation(scope& all, int depth) {
    if (wanted_.loops_of_numbers && random_.chance(95)) {
      std::uint32_t const which = random_.below(10);
      if (which < 3 && depth > 0) return counted_loop(all, depth - 1);
      if (which < 4 && depth > 0) return branch(all, depth - 1);
      if (which < 5) return element(all);
      return elementwise(all);
    }
    switch (random_.below(depth > 0 ? 20 : 11)) {
    default:
      return elementwise(all);
    case 5: {
      type const to = any_scalar();
      all.push_back({cursor_->convert(pick(all, any_scalar()), to), 0, 0});
      return;
    }
    case 6:
    case 7:
    case 8:
      return data(all);
    case 9:
      return outside(all);
    case 10:
      return call(all);
    case 11:
    case 12:
      return branch(all, depth - 1);
    case 13:
    case 14:
      return counted_loop(all, depth - 1);
    case 15:
      return conditional_loop(all, depth - 1);
    case 16:
    case 17:
      return map(all, depth - 1);
    case 18:
      return reduce(all, depth - 1);
    case 19:
      return random_.chance(60) ? accumulate(all, depth - 1) : protect(all, depth - 1);
    }
  }

  void elementwise(scope& all) {
    op code;
    do code = static_cast<op>(random_.below(static_cast<std::size_t>(op::convert)));
    while (!is_wanted(code));
    op_row const& row = row_of(code);
    static constexpr type numbers[] = {i64, f32, f64, f64};
    static constexpr type floats[] = {f32, f64, f64};
    static constexpr type scalars[] = {boolean, i64, f32, f64};
    type t = f64;
    switch (row.types) {
    case type_rule::numeric:
      t = numbers[random_.below(std::size(numbers))];
      break;
    case type_rule::integer:
      t = i64;
      break;
    case type_rule::floating:
    case type_rule::test:
    case type_rule::floating_integer:
      t = floats[random_.below(std::size(floats))];
      break;
    case type_rule::logical:
      t = boolean;
      break;
    case type_rule::select:
      t = any_type();
      break;
    default:
      t = scalars[random_.below(std::size(scalars))];
      break;
    }
    values operands;
    for (std::uint32_t i = 0; i < row.least; ++i) operands.push_back(pick(all, t));
    if (row.types == type_rule::select) operands[0] = pick(all, boolean);
    if (row.types == type_rule::floating_integer) operands[1] = pick(all, i64);
    if ((code == op::rem || code == op::div) && t == i64 && !(wanted_.failing && random_.chance(3)))
      operands[1] = cursor_->literal(std::int64_t{1} + random_.below(4));
    known made{cursor_->literal(false), 0, 0};
    made.value = (**cursor_).result(cursor_->insert(code, operands));
    all.push_back(made);
  }
  bool is_wanted(op code) const {
    if (code == op::polygamma || code == op::digamma) return false;
    return wanted_.elementary || row_of(code).cost < 12 || code == op::rem;
  }

  void element(scope& all) {
    type const t = any_scalar();
    known const a = pick_known(all, t.array_of());
    all.push_back({cursor_->add(op::at, a.value, index_below(all, a.least)), 0, 0});
  }
  void data(scope& all) {
    type const element = any_scalar();
    type const t = random_.chance(20) ? element.array_of().array_of() : element.array_of();
    known const a = pick_known(all, t);
    auto number = [&](std::int64_t x) { return cursor_->literal(x); };
    int const half = a.least / 2;
    switch (random_.below(11)) {
    default: { // of one or two indices
      values operands{a.value, index_below(all, a.least)};
      if (t.rank == 2 && random_.chance(50)) operands.push_back(index_below(all, 1));
      type part = element;
      part.rank = static_cast<std::uint8_t>(t.rank + 1u - operands.size()) & max_rank;
      all.push_back({(**cursor_).result(insert(op::at, operands, {part})), 0, 0});
      return;
    }
    case 3:
      all.push_back({cursor_->add(op::length, a.value), 0, 0});
      if (a.least > 0 && random_.chance(20))
        all.push_back({cursor_->add(op::length, a.value, a.value), 0, 0});
      return;
    case 4: {
      values elements;
      for (std::uint32_t i = 0, n = random_.below(4); i < n; ++i) elements.push_back(pick(all, element));
      int const least = static_cast<int>(elements.size());
      all.push_back({(**cursor_).result(insert(op::array, elements, {element.array_of()})), least, 0});
      return;
    }
    case 5:
      if (t.rank > 1) return; // rows may have different lengths
      {
        value_id const index = index_below(all, a.least), x = pick(all, element);
        all.push_back({cursor_->add(op::update, a.value, index, x), a.least, 0});
      }
      return;
    case 6:
      all.push_back({cursor_->add(op::slice, a.value, number(a.least - half), number(half)), half, 0});
      return;
    case 7: {
      count const n = few(all);
      all.push_back({cursor_->add(op::fill, n.value, pick(all, t.element_type())), n.least, 0});
      return;
    }
    case 8: {
      count const n = few(all);
      all.push_back({cursor_->add(op::iota, n.value), n.least, 0});
      return;
    }
    case 9: {
      if (t.rank > 1 || a.least > 12) return;
      known const b = pick_known(all, t);
      all.push_back({cursor_->add(op::concat, a.value, b.value), a.least + b.least, 0});
      return;
    }
    case 10: {
      if (random_.chance(30)) {
        all.push_back({cursor_->add(op::copy, a.value), a.least, 0});
        return;
      }
      values indices;
      for (std::uint32_t i = 0, n = 1 + random_.below(4); i < n; ++i)
        indices.push_back(index_below(all, a.least));
      value_id const which = (**cursor_).result(insert(op::array, indices, {i64.array_of()}));
      all.push_back(
          {cursor_->add(op::gather, a.value, which), a.least > 0 ? static_cast<int>(indices.size()) : 0, 0});
      return;
    }
    }
  }

  // Operations that leave the program: host calls, random choices, assertions.
  void outside(scope& all) {
    auto named = [&](std::string_view name, effect e) {
      attributes says = attributes::of(made_.intern(name));
      says.effects = e;
      return says;
    };
    std::uint32_t const which = random_.below(9);
    if (which == 0 && wanted_.failing && random_.chance(40)) {
      bool const is_any = random_.chance(10);
      value_id const x = pick(all, is_any ? boolean : i64);
      value_id const holds = is_any ? x : cursor_->add(op::le, x, literal(i64));
      insert(op::assert_, {holds}, {}, {}, attributes::of(made_.intern("it holds")));
      return;
    }
    if (which < 4 && wanted_.samples) {
      static constexpr std::string_view addresses[] = {"x", "y", "z"};
      attributes says = attributes::of(made_.intern(addresses[random_.below(3)]));
      says.detail = made_.intern("normal");
      values operands;
      if (random_.chance(50)) {
        operands.push_back(pick(all, i64));
        says.count = 1;
      }
      operands.push_back(pick(all, f64));
      note_results(all, insert(op::sample, operands, {any_scalar()}, {}, says));
      return;
    }
    if (!wanted_.effects) return wanted_.function_values && which == 8 ? closure(all) : elementwise(all);
    values const operands{pick(all, any_scalar()), pick(all, any_scalar())};
    switch (which) {
    case 4:
      note_results(all, insert(op::host, operands, {any_scalar()}, {}, named("pure", effect::pure)));
      return;
    case 5:
      if (wanted_.failing)
        note_results(
            all, insert(op::host, operands, {any_scalar()}, {}, named("may_fail", effect::may_fail)));
      return;
    case 6:
      note_results(
          all, insert(op::host, operands, {any_scalar()}, {}, named("reads", effect::reads_context)));
      return;
    case 7:
      note_results(all, insert(op::host, operands, {}, {}, named("adds", effect::accumulates)));
      return;
    default:
      if (wanted_.function_values && random_.chance(50)) return closure(all);
      note_results(
          all, insert(op::host, operands, {any_scalar(), i64}, {}, named("prints", effect::ordered)));
      return;
    }
  }
  // A function value, which is copied and applied.
  void closure(scope& all) {
    if (functions_.size() < 2) return;
    function_id const f = functions_[random_.below(functions_.size() - 1)];
    types parameters;
    for (value_id const v : made_[f].parameters()) parameters.push_back(made_[f].type_of(v));
    std::size_t captured = 1 + random_.below(parameters.size());
    if (wanted_.functions_in_data &&
        random_.chance(90)) // arrays of functions that captured arrays are not converted
      for (std::size_t i = 1; i < captured; ++i)
        if (parameters[i].rank > 0) captured = i;
    signature left;
    left.parameters.assign(parameters.begin() + static_cast<std::ptrdiff_t>(captured), parameters.end());
    left.results = made_[f].results;
    parameters.resize(captured);
    auto const made = [&] { return function_value(all, f, parameters, left); };
    value_id given = on_its_way(all, made(), made);
    if (random_.chance(40)) given = through_function(given, left);
    if (wanted_.functions_in_data)
      for (std::uint32_t n = random_.below(4); n > 0; --n)
        given = through_data(all, given, [&] { return on_its_way(all, made(), made); });
    values arguments{given};
    for (type const t : left.parameters) arguments.push_back(argument(all, t));
    if (wanted_.functions_in_data && random_.chance(30))
      return apply_in_recursion(all, arguments, left.results);
    note_results(all, insert(op::apply, arguments, left.results));
  }

  // ---- function values in data
  value_id result_of(op code, values const& operands, type t) {
    return (**cursor_).result(insert(code, operands, {t}));
  }
  value_id like(value_id v, type t) {
    return (**cursor_).type_of(v) == t ? v : reabstracted(v, made_.signature_of(t).calls);
  }
  // A region in which `body` makes the yielded value.
  template <class Body>
  void yielding(node_id n, std::uint32_t i, Body const& body) {
    region_id const outside = cursor_->region(), r = (**cursor_).region_at(n, i);
    cursor_->to_end(r);
    std::vector<value_id> arguments;
    for (value_id const v : (**cursor_).arguments_of(r)) arguments.push_back(v);
    cursor_->yield(body(arguments));
    cursor_->to_end(outside);
  }
  // An array of the function value and others, operations on the array; then one of its elements.
  template <class Other>
  value_id through_array(scope& all, value_id v, Other const& other) {
    type const t = (**cursor_).type_of(v), many = t.array_of();
    auto const number = [&](std::int64_t x) { return cursor_->literal(x); };
    auto const another = [&] { return random_.chance(30) ? v : like(other(), t); };
    value_id array = result_of(op::array, {v, another(), another()}, many);
    for (std::uint32_t n = random_.below(3); n > 0; --n) switch (random_.below(9)) {
      case 0:
        array = result_of(op::update, {array, index_below(all, 3), another()}, many);
        break;
      case 1:
        array = result_of(op::concat, {array, result_of(op::fill, {number(2), another()}, many)}, many);
        break;
      case 2:
        array =
            result_of(op::slice, {result_of(op::concat, {array, array}, many), number(2), number(3)}, many);
        break;
      case 3: {
        values indices;
        for (int i = 0; i < 3; ++i) indices.push_back(index_below(all, 3));
        array = result_of(op::gather, {array, result_of(op::array, indices, i64.array_of())}, many);
        break;
      }
      case 4: {
        node_id const m = insert(op::map, {result_of(op::length, {array}, i64)}, {many}, {{i64}});
        yielding(m, 0, [&](values const& i) {
          return values{
              result_of(op::select, {pick(all, boolean), result_of(op::at, {array, i[0]}, t), v}, t)};
        });
        array = (**cursor_).result(m);
        break;
      }
      case 5: { // loop-carried, and stacked
        value_id const b = another();
        node_id const m = insert(op::loop, {number(3), v}, {t, many}, {{i64, t}});
        yielding(m, 0, [&](values const& x) { return values{random_.chance(50) ? b : x[1], x[1]}; });
        array = (**cursor_).result(m, 1);
        break;
      }
      case 6: {
        value_id const b = another();
        node_id const m = insert(op::if_, {pick(all, boolean)}, {many}, {{}, {}});
        yielding(m, 0, [&](values const&) { return values{array}; });
        yielding(m, 1, [&](values const&) { return values{result_of(op::array, {b, v, b}, many)}; });
        array = (**cursor_).result(m);
        break;
      }
      case 7: {
        type const rows = many.array_of();
        value_id const two = result_of(op::array, {array, array}, rows);
        value_id const one = result_of(op::at, {two, index_below(all, 2), index_below(all, 3)}, t);
        array = result_of(
            op::at, {result_of(op::update, {two, number(1), number(2), one}, rows), number(1)}, many);
        break;
      }
      default:
        array = result_of(op::copy, {array}, many);
      }
    if (random_.chance(25)) {
      attributes says;
      bool const started = random_.chance(50);
      if (started) says.flags = attributes::started;
      node_id const m =
          insert(op::reduce, started ? values{array, another()} : values{array}, {t}, {{t, t}}, says);
      yielding(m, 0, [&](values const& x) {
        return values{result_of(op::select, {pick(all, boolean), x[0], random_.chance(20) ? v : x[1]}, t)};
      });
      return (**cursor_).result(m);
    }
    return result_of(op::at, {array, index_below(all, 3)}, t);
  }
  template <class Other>
  value_id through_data(scope& all, value_id v, Other const& other) {
    type const t = (**cursor_).type_of(v);
    signature const left = made_.signature_of(t);
    switch (random_.below(5)) {
    default:
      return through_array(all, v, other);
    case 1: // a closure that selects one of two
      return through_function(result_of(op::select, {pick(all, boolean), like(other(), t), v}, t), left);
    case 2: { // a loop that swaps two of them
      value_id const b = like(other(), t);
      node_id const n = insert(
          op::while_, {cursor_->literal(std::int64_t{0}), v, b}, {i64, t, t}, {{i64, t, t}, {i64, t, t}});
      yielding(n, 0, [&](values const& x) {
        return values{cursor_->add(op::lt, x[0], cursor_->literal(std::int64_t{3}))};
      });
      yielding(n, 1, [&](values const& x) {
        return values{cursor_->add(op::add, x[0], cursor_->literal(std::int64_t{1})), x[2], x[1]};
      });
      return (**cursor_).result(n, 1 + random_.below(2));
    }
    case 3: { // returned by another function value
      function_id const f = made_.add("g" + std::to_string(made_.functions.size()), types{t});
      made_[f].results = {t};
      cursor inner(made_, f, function::body);
      value_id const x = inner->argument(function::body, 0);
      inner.yield({&x, 1});
      signature const gives{.calls = any_convention(), .parameters = {t}, .results = {t}};
      node_id const n = insert(op::closure, {}, {made_.function_type(gives)}, {}, attributes::of(f));
      return result_of(op::apply, {(**cursor_).result(n), v}, t);
    }
    }
  }
  // A recursive function passes the function value on.
  void apply_in_recursion(scope& all, values operands, types const& results) {
    types parameters{i64};
    for (value_id const v : operands) parameters.push_back((**cursor_).type_of(v));
    function_id const f = made_.add("r" + std::to_string(made_.functions.size()), parameters);
    made_[f].results = results;
    cursor inner(made_, f, function::body);
    cursor* const outer = std::exchange(cursor_, &inner);
    values given;
    for (value_id const v : inner->parameters()) given.push_back(v);
    value_id const goes_on = inner.add(op::gt, given[0], inner.literal(std::int64_t{0}));
    node_id const n = insert(op::if_, {goes_on}, results, {{}, {}});
    for (std::uint32_t i = 0; i < 2; ++i)
      yielding(n, i, [&](values const&) {
        values all_given = given;
        if (i == 0)
          all_given[0] = inner.add(op::sub, given[0], inner.literal(std::int64_t{1}));
        else
          all_given.erase(all_given.begin());
        node_id const call = i == 0 ? insert(op::call, all_given, results, {}, attributes::of(f))
                                    : insert(op::apply, all_given, results);
        values made;
        for (value_id const v : inner->results_of(call)) made.push_back(v);
        return made;
      });
    values made;
    for (value_id const v : inner->results_of(n)) made.push_back(v);
    inner.to_end(function::body);
    inner.yield(made);
    cursor_ = outer;
    operands.insert(operands.begin(), cursor_->literal(std::int64_t{random_.below(3)}));
    note_results(all, insert(op::call, operands, results, {}, attributes::of(f)));
  }
  convention any_convention() { return static_cast<convention>(random_.below(3)); }
  value_id function_value(scope& all, function_id f, types const& captured, signature left) {
    values operands{cursor_->literal(std::int64_t{1})};
    for (std::size_t i = 1; i < captured.size(); ++i) operands.push_back(argument(all, captured[i]));
    left.calls = any_convention();
    return (**cursor_).result(
        insert(op::closure, operands, {made_.function_type(left)}, {}, attributes::of(f)));
  }
  value_id reabstracted(value_id v, convention calls) {
    signature s = made_.signature_of((**cursor_).type_of(v));
    s.calls = calls;
    return (**cursor_).result(insert(op::reabstract, {v}, {made_.function_type(s)}));
  }
  // The function value is reabstracted twice; or is one of two, the other of which `made` makes; or is loop-carried.
  template <class Made>
  value_id on_its_way(scope& all, value_id v, Made const& made) {
    for (std::uint32_t n = random_.below(3); n > 0; --n) v = reabstracted(v, any_convention());
    convention const calls = made_.signature_of((**cursor_).type_of(v)).calls;
    auto const like_it = [&](value_id x) {
      return random_.chance(50) && made_.signature_of((**cursor_).type_of(x)).calls == calls
                 ? x
                 : reabstracted(x, calls);
    };
    type const t = (**cursor_).type_of(v);
    auto const in_regions = [&](node_id n, auto const& yielded) {
      region_id const outside = cursor_->region();
      std::size_t const known_outside = all.size();
      for (std::uint32_t i = 0; i < (**cursor_)[n].region_count; ++i) {
        cursor_->to_end((**cursor_).region_at(n, i));
        value_id const y = yielded(i);
        cursor_->yield({&y, 1});
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(known_outside), all.end());
      }
      cursor_->to_end(outside);
      return (**cursor_).result(n);
    };
    switch (random_.below(wanted_.carried_functions ? 8 : 7)) {
    case 0: {
      value_id const other = made();
      if (made_.signature_of((**cursor_).type_of(other)).calls != calls) return v;
      return (**cursor_).result(insert(op::select, {pick(all, boolean), other, v}, {t}));
    }
    case 1:
      return (**cursor_).result(
          insert(op::select, {pick(all, boolean), reabstracted(v, calls), like_it(made())}, {t}));
    case 2:
    case 3:
      return in_regions(insert(op::if_, {pick(all, boolean)}, {t}, {{}, {}}), [&](std::uint32_t i) {
        return like_it(i == 0 ? v : made());
      });
    case 7: {
      node_id const n = insert(op::loop, {cursor_->literal(std::int64_t{2}), v}, {t}, {{i64, t}});
      return in_regions(n, [&](std::uint32_t) {
        value_id const x = (**cursor_).argument((**cursor_).region_at(n, 0), 1);
        return reabstracted(reabstracted(x, any_convention()), calls);
      });
    }
    default:
      return v;
    }
  }
  // The result of a function that takes the value, reabstracted, and applies it: a function value, or one that captures it.
  value_id through_function(value_id v, signature left) {
    bool const returns = random_.chance(30);
    type const taken = (**cursor_).type_of(v);
    types parameters{taken};
    left.calls = any_convention();
    type const given = made_.function_type(left);
    if (!returns) parameters.insert(parameters.end(), left.parameters.begin(), left.parameters.end());
    function_id const f = made_.add("h" + std::to_string(made_.functions.size()), parameters);
    made_[f].results = returns ? types{given} : left.results;
    cursor inner(made_, f, function::body);
    cursor* const outer = std::exchange(cursor_, &inner);
    value_id x = inner->argument(function::body, 0);
    if (random_.chance(50)) x = reabstracted(x, any_convention());
    if (returns)
      x = reabstracted(x, left.calls);
    else {
      values arguments{x};
      for (std::uint32_t i = 1; i < parameters.size(); ++i)
        arguments.push_back(inner->argument(function::body, i));
      node_id const n = insert(op::apply, arguments, left.results);
      values results;
      for (value_id const r : inner->results_of(n)) results.push_back(r);
      inner.yield(results);
    }
    if (returns) inner.yield({&x, 1});
    cursor_ = outer;
    values const operands{v};
    node_id const n = insert(returns ? op::call : op::closure, operands, {given}, {}, attributes::of(f));
    return (**cursor_).result(n);
  }
  void call(scope& all) {
    if (functions_.size() < 2) return;
    function_id const f = functions_[random_.below(functions_.size() - 1)];
    values arguments{cursor_->literal(static_cast<std::int64_t>(random_.below(3)))};
    for (std::uint32_t i = 1; i < made_[f][function::body].argument_count; ++i)
      arguments.push_back(argument(all, made_[f].type_of(made_[f].argument(function::body, i))));
    note_results(all, insert(op::call, arguments, made_[f].results, {}, attributes::of(f)));
  }

  // ---- operations with regions
  types several(std::size_t most) {
    types all;
    for (std::size_t i = 0, n = random_.below(most + 1); i < n; ++i) all.push_back(any_type());
    return all;
  }
  // Arrays of the yielded values. Rows are scalars, or arrays that nearly always have one shape.
  types stacked(types const& yielded) {
    types all;
    for (type const t : yielded) all.push_back(t.array_of());
    return all;
  }
  types scalars(std::size_t most) {
    types all;
    for (std::size_t i = 0, n = random_.below(most + 1); i < n; ++i)
      all.push_back(wanted_.failing && random_.chance(5) ? f64.array_of() : any_scalar());
    return all;
  }
  static types joined(types a, types const& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }

  void branch(scope& all, int depth) {
    types const results = several(3);
    node_id const n = insert(op::if_, {pick(all, boolean)}, results, {{}, {}});
    for (std::uint32_t i = 0; i < 2; ++i)
      in_region(n, i, all, [&](scope& inner) {
        operations(inner, depth);
        return results;
      });
    note_results(all, n);
  }
  void counted_loop(scope& all, int depth) {
    types const carried = several(3), outputs = wanted_.loops_of_numbers ? types{} : scalars(2);
    count const times = few(all);
    values operands{times.value};
    for (type const t : carried) operands.push_back(argument(all, t));
    attributes says;
    if (random_.chance(30)) says.flags = attributes::reversed;
    node_id const n =
        insert(op::loop, operands, joined(carried, stacked(outputs)), {joined({i64}, carried)}, says);
    in_region(
        n, 0, all,
        [&](scope& inner) {
          operations(inner, depth);
          return joined(carried, outputs);
        },
        times.most);
    note_results(all, n, carried.size(), times.least);
  }
  void conditional_loop(scope& all, int depth) {
    types const carried = joined({i64}, several(2)), outputs = scalars(1);
    values operands{cursor_->literal(std::int64_t{0})};
    for (std::size_t i = 1; i < carried.size(); ++i) operands.push_back(argument(all, carried[i]));
    node_id const n = insert(op::while_, operands, joined(carried, stacked(outputs)), {carried, carried});
    std::int64_t const most = random_.below(4);
    value_id const times = (**cursor_).argument((**cursor_).region_at(n, 1), 0);
    region_id const outside = cursor_->region();
    {
      region_id const r = (**cursor_).region_at(n, 0);
      scope inner = all;
      for (value_id const v : (**cursor_).arguments_of(r)) inner.push_back(described(v));
      cursor_->to_end(r);
      if (random_.chance(50)) operations(inner, 0);
      value_id const few_times = cursor_->add(op::lt, (**cursor_).argument(r, 0), cursor_->literal(most));
      value_id const go_on =
          random_.chance(50) ? few_times : cursor_->add(op::logical_and, few_times, pick(inner, boolean));
      cursor_->yield(values{go_on});
    }
    {
      region_id const r = (**cursor_).region_at(n, 1);
      scope inner = all;
      for (value_id const v : (**cursor_).arguments_of(r)) inner.push_back(described(v));
      cursor_->to_end(r);
      operations(inner, depth);
      values yielded{cursor_->add(op::add, times, cursor_->literal(std::int64_t{1}))};
      for (std::size_t i = 1; i < carried.size(); ++i) yielded.push_back(argument(inner, carried[i]));
      for (type const t : outputs) yielded.push_back(argument(inner, t));
      cursor_->yield(yielded);
    }
    cursor_->to_end(outside);
    note_results(all, n, carried.size(), 0);
  }
  void map(scope& all, int depth) {
    if (random_.chance(50)) return map_of_elements(all, depth);
    types const yielded = scalars(2);
    // Sometimes a long one, of several blocks and a remainder.
    bool const is_long = depth == wanted_.depth - 1 && random_.chance(2);
    int const length = 100 + static_cast<int>(random_.below(300));
    count const size = is_long ? count{cursor_->literal(std::int64_t{length}), length, length} : few(all);
    if (is_long) depth = 0;
    node_id const n = insert(op::map, {size.value}, stacked(yielded), {{i64}});
    in_region(
        n, 0, all,
        [&](scope& inner) {
          operations(inner, depth);
          return yielded;
        },
        size.most);
    note_results(all, n, 0, size.least);
  }
  // A reduction of an array, or of two arrays of equal length; then often another one of the result.
  void map_of_elements(scope& all, int depth) {
    known a = pick_known(all, any_scalar().array_of());
    for (bool again = true; again; again = random_.chance(60)) {
      value_id const size = cursor_->add(op::length, a.value);
      type const result = any_scalar();
      node_id const n = insert(op::map, {size}, {result.array_of()}, {{i64}});
      in_region(n, 0, all, [&](scope& inner) {
        inner.push_back({cursor_->add(op::at, a.value, inner.back().value), 0, 0});
        if (random_.chance(20)) operations(inner, depth > 0 ? 1 : 0);
        for (int i = 0; i < 2; ++i) elementwise(inner);
        return types{result};
      });
      note_results(all, n, 0, a.least);
      a = all.back();
    }
  }
  void reduce(scope& all, int depth) {
    type const element = any_scalar();
    known const a = pick_known(all, element.array_of());
    bool const started = a.least == 0 || random_.chance(50);
    attributes says;
    if (started) says.flags = attributes::started;
    if (started && element != boolean && random_.chance(20)) says.flags |= attributes::in_order;
    if (element != boolean && (says.is_in_order() || random_.chance(60))) {
      static constexpr op combining[] = {op::add, op::mul, op::min, op::max, op::sub};
      says.operation = combining[random_.below(std::size(combining))];
      values operands{a.value};
      if (started) operands.push_back(pick(all, element));
      note_results(all, insert(op::reduce, operands, {element}, {}, says));
      return;
    }
    if (random_.chance(30)) says.flags |= attributes::in_lanes;
    types elements{element};
    values operands{a.value};
    if (random_.chance(40)) { // twice the same array: the lengths are equal
      elements.push_back(element);
      operands.push_back(a.value);
    }
    if (started)
      for (type const t : elements) operands.push_back(pick(all, t));
    node_id const n = insert(op::reduce, operands, elements, {joined(elements, elements)}, says);
    in_region(n, 0, all, [&](scope& inner) {
      operations(inner, depth > 0 ? 1 : 0);
      return elements;
    });
    note_results(all, n);
  }
  void accumulate(scope& all, int depth) {
    static constexpr type numbers[] = {i64, f32, f64};
    type const t = numbers[random_.below(3)].array_of();
    known const initial = pick_known(all, t);
    types const yielded = several(1);
    node_id const n = insert(op::accumulate, {initial.value}, joined({t}, yielded), {{t.accumulator()}});
    accumulators_.push_back({(**cursor_).argument((**cursor_).region_at(n, 0), 0), initial.least, 0});
    in_region(n, 0, all, [&](scope& inner) {
      operations(inner, depth);
      add_to(inner);
      count const times = few(inner);
      node_id const inside = insert(op::map, {times.value}, {}, {{i64}});
      in_region(
          inside, 0, inner,
          [&](scope& innermost) {
            operations(innermost, 0);
            add_to(innermost);
            return types{};
          },
          times.most);
      return yielded;
    });
    accumulators_.pop_back();
    note_results(all, n);
    all[all.size() - 1 - yielded.size()].least = initial.least;
  }
  void add_to(scope& all) {
    known const acc = accumulators_[random_.below(accumulators_.size())];
    type const t = (**cursor_).type_of(acc.value).accumulated().element_type();
    cursor_->insert(op::add_to, {acc.value, index_below(all, acc.least), pick(all, t)});
  }
  void protect(scope& all, int depth) {
    if (!wanted_.function_values) return branch(all, depth);
    types const results = several(2);
    node_id const n = insert(op::protect, {}, results, {{}, {}});
    in_region(n, 0, all, [&](scope& inner) {
      operations(inner, depth);
      return results;
    });
    in_region(n, 1, all, [&](scope& inner) {
      operations(inner, 0);
      return types{};
    });
    note_results(all, n);
  }

  random_numbers random_;
  options wanted_;
  program made_;
  std::vector<function_id> functions_;
  cursor* cursor_ = nullptr;
  scope accumulators_;
};

/// Small and large programs, with and without difficult features.
inline options any_options(std::uint64_t seed) {
  random_numbers random(~seed);
  options o;
  o.functions = static_cast<int>(random.below(4));
  o.operations = 2 + static_cast<int>(random.below(7));
  o.depth = 1 + static_cast<int>(random.below(3));
  o.failing = random.chance(60);
  o.effects = random.chance(50);
  o.function_values = o.effects;
  o.samples = random.chance(50);
  return o;
}

/// The program of a seed. Its entry takes (i64, f64, bool, f64[], i64[], f64[][], f32), arrays of at least 3 elements on
/// each axis.
inline program make(std::uint64_t seed, options const& wanted = {}) { return maker(seed, wanted).make(); }

/// Replaces operations that reveal the sign of a NaN, which is unspecified.
inline program without_signs(program p) {
  for (std::uint32_t f = 0; f < p.functions.size(); ++f)
    for (cursor c(p, function_id{f}); c.next();) {
      if (c.code() == op::copysign) c.set_code(c.node(), op::hypot);
      if (c.code() == op::signbit) c.set_code(c.node(), op::isnan);
    }
  return p;
}

/// The program, in one of four cases with consistent mathematics if it is available.
inline program of_some_mode(program p, std::uint64_t seed) {
  if (seed % 4 == 0 && consistent != nullptr) p.math = math_mode::consistent;
  return p;
}

} // namespace random_program
