// Random programs that the verifier accepts, with every operation, all kinds of regions, attributes, literals, names and
// locations. They are printed and parsed, not run.
#pragma once

#include <overdub/ir/cursor.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

class random_text {
public:
  using type = overdub::ir::type;
  using value_id = overdub::ir::value_id;
  using region_id = overdub::ir::region_id;
  using op = overdub::ir::op;

  /// `odd_names`: values may share names, or have names that do not parse; the verifier rejects those.
  explicit random_text(std::uint64_t seed, bool odd_names = false) : random_(seed), odd_names_(odd_names) {}

  overdub::ir::program make() {
    std::size_t const functions = below(4) + 1;
    for (std::size_t i = 0; i < functions; ++i) {
      auto const f = p_.add(unique_text(), some_types(below(4)));
      p_[f].results = some_types(below(4));
      if (chance(3)) p_[f].structure = p_.intern(any_text());
      if (chance(3)) p_[f].place = any_places();
    }
    for (std::uint32_t i = 0; i < functions; ++i) fill_function(overdub::ir::function_id{i});
    if (chance(2)) p_.entry = any_function();
    return std::move(p_);
  }

private:
  // ---- choices
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool chance(unsigned one_in) { return below(one_in) == 0; }
  template <class T>
  T const& one_of(std::vector<T> const& all) {
    return all[below(all.size())];
  }
  std::string any_text() {
    std::string text;
    for (std::uint64_t n = below(8); n-- > 0;)
      text += chance(4) ? static_cast<char>(below(256))
                        : one_of(std::vector{'a', 'Z', '_', '7', '"', '\\', '\n', '@'});
    if (chance(4)) text += "größer";
    return text;
  }
  std::string any_name() {
    static std::vector<std::string> const odd{"same", "", "1x", "a b", "x\"", "%", "-", "7"};
    return odd_names_ && chance(2) ? one_of(odd) : unique_name();
  }
  std::string unique_name() {
    static std::vector<std::string> const stems{"x",       "norm.forward", "x'",    "_", "f<3>",
                                                "Value#2", "inf",          "yield", "at"};
    return one_of(stems) + "_" + std::to_string(counter_++);
  }
  std::string unique_text() {
    return chance(2) ? unique_name() : any_text() + std::to_string(counter_++) + ' ';
  }
  overdub::ir::place_id any_places() {
    overdub::ir::place_id all = overdub::ir::nothing;
    for (std::uint64_t n = below(3) + 1; n-- > 0;)
      all = p_.add_place(any_text(), static_cast<std::uint32_t>(below(1000)), chance(2) ? 0 : 7, all);
    return all;
  }

  type any_number() { return one_of(std::vector{overdub::ir::i64, overdub::ir::f32, overdub::ir::f64}); }
  type any_floating() { return chance(2) ? overdub::ir::f32 : overdub::ir::f64; }
  type any_array(type element) {
    type t = element.array_of();
    while (chance(3)) t = t.array_of();
    return t;
  }
  type any_type() {
    type t = any_number();
    if (chance(4)) t = overdub::ir::boolean;
    if (chance(12)) t = overdub::ir::key;
    if (chance(12)) t = p_.opaque_type(any_text());
    if (chance(12)) t = any_function_type();
    return chance(3) ? any_array(t) : t;
  }
  type any_function_type() {
    overdub::ir::signature s{
        .calls = static_cast<overdub::ir::convention>(below(3)), .parameters = {}, .results = {}};
    s.parameters = some_types(below(3));
    s.results = some_types(below(3));
    return p_.function_type(s);
  }
  // The type of functions with other conventions.
  type with_conventions(type t) {
    if (!t.is_function()) return t;
    overdub::ir::signature s = p_.signature_of(t);
    s.calls = static_cast<overdub::ir::convention>(below(3));
    for (type& each : s.parameters) each = with_conventions(each);
    for (type& each : s.results) each = with_conventions(each);
    return p_.function_type(s);
  }
  std::vector<type> some_types(std::uint64_t n) {
    std::vector<type> all;
    while (n-- > 0) all.push_back(any_type());
    return all;
  }
  overdub::ir::function_id any_function() {
    return overdub::ir::function_id{static_cast<std::uint32_t>(below(p_.functions.size()))};
  }

  // ---- values
  value_id literal(type t) {
    std::uint64_t bits = random_();
    if (t == overdub::ir::boolean) bits &= 1;
    if (t == overdub::ir::f64 && chance(2))
      bits = std::bit_cast<std::uint64_t>(static_cast<double>(below(2000)) / 8 - 100);
    if (t == overdub::ir::f64 && chance(4)) bits |= 0x7ff0000000000000;
    if (t == overdub::ir::f32)
      bits = chance(2) ? std::bit_cast<std::uint32_t>(static_cast<float>(below(99)) / 4) : bits >> 32;
    if (t == overdub::ir::f32 && chance(4)) bits |= 0x7f800000;
    if (t == overdub::ir::i64 && chance(2)) bits = below(10) - 5;
    return c_->literal(t, bits);
  }
  // A value of this type, created if there is none.
  value_id get(type t) {
    std::vector<value_id> fitting;
    for (value_id const v : known_)
      if ((*c_)->type_of(v) == t) fitting.push_back(v);
    if (!fitting.empty() && !chance(4)) return one_of(fitting);
    if (t.is_literal()) return literal(t);
    if (t.is_array() && chance(2)) {
      std::vector<value_id> elements;
      for (std::uint64_t n = below(3); n-- > 0;) elements.push_back(get(t.element_type()));
      return plain(op::array, elements, {t});
    }
    return plain(op::host, {}, {t}, text_attributes());
  }
  std::vector<value_id> get_all(std::vector<type> const& types) {
    std::vector<value_id> all;
    for (type const t : types) all.push_back(get(t));
    return all;
  }
  std::vector<value_id> indices(std::uint64_t n) { return get_all(std::vector<type>(n, overdub::ir::i64)); }
  overdub::ir::attributes text_attributes() {
    auto a = overdub::ir::attributes::of(p_.intern('t' + any_text()));
    a.effects = static_cast<overdub::effect>(below(6));
    return a;
  }
  void name(value_id v) {
    if (chance(2)) c_->set_name(v, p_.intern(any_name()));
  }

  // ---- operations
  overdub::ir::node_id insert(
      op code, std::vector<value_id> const& operands, std::vector<type> const& results,
      overdub::ir::attributes const& a = {}, std::vector<std::vector<type>> const& regions = {}) {
    c_->set_place(chance(4) ? any_places() : overdub::ir::place_id(overdub::ir::nothing));
    return c_->insert(code, operands, results, a, regions);
  }
  void know(overdub::ir::node_id n) {
    for (value_id const v : (*c_)->results_of(n)) {
      name(v);
      known_.push_back(v);
    }
  }
  // The first result.
  value_id plain(
      op code, std::vector<value_id> const& operands, std::vector<type> const& results,
      overdub::ir::attributes const& a = {}) {
    auto const n = insert(code, operands, results, a);
    know(n);
    return results.empty() ? value_id(overdub::ir::nothing) : (*c_)->result(n);
  }
  // Inserts an operation with inferred results.
  void inferred(op code, std::vector<value_id> const& operands, overdub::ir::attributes const& a = {}) {
    plain(code, operands, overdub::ir::infer(p_, **c_, code, operands, a), a);
  }

  void fill_function(overdub::ir::function_id f) {
    overdub::ir::cursor c(p_, f, overdub::ir::function::body);
    c_ = &c;
    known_.clear();
    for (value_id const v : c->parameters()) {
      name(v);
      known_.push_back(v);
    }
    fill(below(12));
    insert(op::yield, get_all(p_[f].results), {});
  }
  void fill(std::uint64_t operations) {
    while (operations-- > 0) add(static_cast<op>(below(overdub::ir::op_count)));
  }
  // Values of a region are out of scope after it.
  void fill_region(overdub::ir::node_id n, std::uint32_t index, std::vector<type> const& yields) {
    region_id const outer = c_->region();
    auto const known = known_.size();
    auto const accumulators = accumulators_.size();
    region_id const r = (*c_)->region_at(n, index);
    c_->to_end(r);
    for (value_id const v : (*c_)->arguments_of(r)) {
      name(v);
      ((*c_)->type_of(v).is_accumulator ? accumulators_ : known_).push_back(v);
    }
    ++depth_;
    fill(below(depth_ > 3 ? 2 : 5));
    --depth_;
    insert(op::yield, get_all(yields), {});
    known_.resize(known);
    accumulators_.resize(accumulators);
    c_->to_end(outer);
  }

  void add(op code) {
    using overdub::ir::boolean, overdub::ir::i64, overdub::ir::type_rule;
    auto const& row = overdub::ir::row_of(code);
    if (row.regions != 0 && depth_ > 5) return;
    switch (row.types) {
    case type_rule::numeric:
      return inferred(code, get_all(std::vector<type>(row.least, any_number())));
    case type_rule::integer:
      return inferred(code, get_all(std::vector<type>(row.least, i64)));
    case type_rule::floating:
    case type_rule::test:
      return inferred(code, get_all(std::vector<type>(row.least, any_floating())));
    case type_rule::comparison:
      return inferred(code, get_all(std::vector<type>(row.least, chance(4) ? boolean : any_number())));
    case type_rule::logical:
      return inferred(code, get_all(std::vector<type>(row.least, boolean)));
    case type_rule::select: {
      type const t = any_type();
      return inferred(code, get_all({boolean, t, t}));
    }
    case type_rule::integer_floating:
      return inferred(code, get_all({i64, any_floating()}));
    case type_rule::floating_integer:
      return inferred(code, get_all({any_floating(), i64}));
    case type_rule::convert:
      return (void)plain(code, {get(any_number())}, {chance(4) ? boolean : any_number()});
    case type_rule::array:
      return (void)get(any_array(any_type()));
    case type_rule::length:
      return inferred(code, get_all({any_array(any_number()), any_array(boolean)}));
    case type_rule::at: {
      value_id const a = get(any_array(any_type()));
      auto operands = indices(below((*c_)->type_of(a).rank) + 1);
      operands.insert(operands.begin(), a);
      return inferred(code, operands);
    }
    case type_rule::slice:
      return inferred(code, get_all({any_array(any_type()), i64, i64}));
    case type_rule::update: {
      type part = any_array(any_type());
      std::vector<value_id> operands{get(part)};
      for (std::uint64_t n = below(part.rank) + 1; n-- > 0; part = part.element_type())
        operands.push_back(get(i64));
      operands.push_back(get(part));
      return inferred(code, operands);
    }
    case type_rule::fill:
      return inferred(code, get_all({i64, any_type()}));
    case type_rule::iota:
      return inferred(code, get_all({i64}));
    case type_rule::concat:
      return inferred(code, get_all(std::vector<type>(2 + below(2), any_array(any_type()))));
    case type_rule::gather:
      return inferred(code, get_all({any_array(any_type()), i64.array_of()}));
    case type_rule::copy:
      return inferred(code, get_all({any_array(any_type())}));
    case type_rule::call: {
      auto const f = any_function();
      std::vector<type> parameters;
      for (value_id const v : p_[f].parameters()) parameters.push_back(p_[f].type_of(v));
      return inferred(code, get_all(parameters), overdub::ir::attributes::of(f));
    }
    case type_rule::closure: {
      auto const f = any_function();
      std::vector<type> captured;
      overdub::ir::signature rest{
          .calls = static_cast<overdub::ir::convention>(below(3)),
          .parameters = {},
          .results = p_[f].results};
      for (value_id const v : p_[f].parameters())
        (rest.parameters.empty() && chance(2) ? captured : rest.parameters).push_back(p_[f].type_of(v));
      type const t = p_.function_type(rest);
      return (void)plain(code, get_all(captured), {t}, overdub::ir::attributes::of(f));
    }
    case type_rule::apply: {
      value_id const f = get(any_function_type());
      auto const parameters = p_.signature_of((*c_)->type_of(f)).parameters;
      auto operands = get_all(parameters);
      operands.insert(operands.begin(), f);
      return inferred(code, operands);
    }
    case type_rule::reabstract: {
      type const t = any_function_type();
      return (void)plain(code, {get(t)}, {with_conventions(t)});
    }
    case type_rule::host:
      return (void)plain(code, get_all(some_types(below(3))), some_types(below(3)), text_attributes());
    case type_rule::sample: {
      overdub::ir::attributes a{
          .subject = index_of(p_.intern('z' + any_text())), .detail = p_.intern(any_text())};
      a.count = static_cast<std::uint16_t>(below(3));
      auto operands = indices(a.count);
      for (value_id const v : get_all(some_types(below(3)))) operands.push_back(v);
      return (void)plain(code, operands, some_types(1), a);
    }
    case type_rule::assert_:
      return inferred(code, {get(boolean)}, overdub::ir::attributes::of(p_.intern(any_text())));
    case type_rule::add_to:
      return add_to_accumulator();
    case type_rule::yield:
      return;
    default:
      return add_with_regions(code);
    }
  }
  void add_to_accumulator() {
    if (accumulators_.empty()) return;
    value_id const accumulator = one_of(accumulators_);
    type part = (*c_)->type_of(accumulator).accumulated();
    std::vector<value_id> operands{accumulator};
    do {
      operands.push_back(get(overdub::ir::i64));
      part = part.element_type();
    } while (part.rank > 0 && chance(2));
    operands.push_back(get(part));
    insert(op::add_to, operands, {});
  }

  static std::vector<type> together(std::vector<type> a, std::vector<type> const& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  static std::vector<type> arrays_of(std::vector<type> all) {
    for (type& t : all) t = t.array_of();
    return all;
  }
  void add_with_regions(op code) {
    using overdub::ir::boolean, overdub::ir::i64;
    using attributes = overdub::ir::attributes;
    std::vector<type> const given = some_types(below(3));
    std::vector<type> const stacked = some_types(below(3));
    auto const start = get_all(given);
    switch (code) {
    case op::if_: {
      auto const n = insert(code, {get(boolean)}, given, {}, {{}, {}});
      fill_region(n, 0, given);
      fill_region(n, 1, given);
      return know(n);
    }
    case op::protect: {
      auto const n = insert(code, {}, given, {}, {{}, {}});
      fill_region(n, 0, given);
      fill_region(n, 1, {});
      return know(n);
    }
    case op::loop: {
      auto operands = start;
      operands.insert(operands.begin(), get(i64));
      std::uint8_t const flags = chance(2) ? attributes::reversed : std::uint8_t{};
      auto const n = insert(
          code, operands, together(given, arrays_of(stacked)), {.flags = flags}, {together({i64}, given)});
      fill_region(n, 0, together(given, stacked));
      return know(n);
    }
    case op::while_: {
      auto const n = insert(code, start, together(given, arrays_of(stacked)), {}, {given, given});
      fill_region(n, 0, {boolean});
      fill_region(n, 1, together(given, stacked));
      return know(n);
    }
    case op::map: {
      auto const n = insert(code, {get(i64)}, arrays_of(stacked), {}, {{i64}});
      fill_region(n, 0, stacked);
      return know(n);
    }
    case op::reduce:
      return add_reduce(given);
    default:
      return add_accumulate(stacked);
    }
  }
  void add_reduce(std::vector<type> elements) {
    using attributes = overdub::ir::attributes;
    attributes a{.flags = chance(2) ? attributes::started : std::uint8_t{}};
    bool const combines = chance(2);
    if (combines || elements.empty()) elements = {any_number()};
    if (combines) a.operation = one_of(std::vector{op::add, op::mul, op::max});
    auto operands = get_all(arrays_of(elements));
    if (a.is_started())
      for (value_id const v : get_all(elements)) operands.push_back(v);
    if (combines && a.is_started() && chance(2)) a.flags |= attributes::in_order;
    if (combines) return (void)plain(op::reduce, operands, elements, a);
    if (chance(2)) a.flags |= attributes::in_lanes;
    auto const n = insert(op::reduce, operands, elements, a, {together(elements, elements)});
    fill_region(n, 0, elements);
    know(n);
  }
  void add_accumulate(std::vector<type> const& others) {
    std::vector<type> arrays;
    for (std::uint64_t k = below(2) + 1; k-- > 0;) arrays.push_back(any_array(any_number()));
    auto accumulators = arrays;
    for (type& t : accumulators) t = t.accumulator();
    auto const n = insert(op::accumulate, get_all(arrays), together(arrays, others), {}, {accumulators});
    fill_region(n, 0, others);
    know(n);
  }

  std::mt19937_64 random_;
  bool odd_names_;
  overdub::ir::program p_;
  overdub::ir::cursor* c_ = nullptr;
  std::vector<value_id> known_;
  std::vector<value_id> accumulators_;
  int depth_ = 0;
  std::size_t counter_ = 0;
};
