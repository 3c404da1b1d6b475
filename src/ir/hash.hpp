// A hash of programs, consistent with equality.
#pragma once

#include <overdub/ir/program.hpp>
#include <overdub/ir/walk.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace overdub::ir {
namespace detail {

class program_hash {
public:
  explicit program_hash(program const& p) : p_(p) {}

  std::size_t value() {
    add(static_cast<std::size_t>(p_.math));
    add_callee(p_.entry);
    for (std::uint32_t i = 0; i < p_.functions.size(); ++i)
      if (!p_.is_erased(function_id{i})) add(p_[function_id{i}]);
    return hash_;
  }

private:
  void add(std::size_t x) { hash_ = (hash_ ^ x ^ (hash_ >> 29)) * std::size_t{0x9e3779b97f4a7c15}; }
  void add(std::string_view text) { add(std::hash<std::string_view>()(text)); }
  void add_text(symbol s) { s == nothing ? add(0) : add(p_.text(s)); }
  void add_callee(function_id f) { f == nothing ? add(0) : add(p_.name_of(f)); }
  // Indices of function types and opaque types differ between equal programs.
  void add(type t) { add(std::size_t{t.rank} << 8 | static_cast<std::size_t>(t.element)); }

  // Values are numbered in the order of definitions: ids are no part of equality.
  void define(id_range<value_id> values) {
    for (value_id const v : values) {
      order_[index_of(v)] = ++defined_;
      add(f_->type_of(v));
    }
  }
  void add_operand(value_id v) {
    if (!f_->is_literal(v)) return add(order_[index_of(v)]);
    add(f_->type_of(v));
    add(f_->bits_of(v));
  }
  void add(function const& f) {
    f_ = &f;
    order_.assign(f.value_count(), 0);
    defined_ = 0;
    add_text(f.name);
    for (type const t : f.results) add(t);
    define(f.parameters());
    walk(
        f, function::body, [&](node_id n) { enter(n); }, [&](node_id n) { define(f.results_of(n)); });
  }
  void enter(node_id n) {
    function::node const& node = (*f_)[n];
    attributes const& a = node.attributes;
    add(static_cast<std::size_t>(node.code));
    add(std::size_t{node.operand_count} << 32 | node.region_count);
    add(std::size_t{a.flags} << 16 | static_cast<std::size_t>(a.operation));
    switch (node.code) {
    case op::call:
    case op::closure:
      add_callee(a.callee());
      break;
    case op::host:
    case op::sample:
    case op::assert_:
      add_text(a.text());
      break;
    default:
      break;
    }
    for (std::uint32_t i = 0; i < node.operand_count; ++i) add_operand(f_->operand(n, i));
    for (std::uint32_t i = 0; i < node.region_count; ++i) define(f_->arguments_of(f_->region_at(n, i)));
  }

  program const& p_;
  function const* f_ = nullptr;
  std::vector<std::size_t> order_;
  std::size_t defined_ = 0;
  std::size_t hash_ = 0;
};

} // namespace detail

/// Equal programs have equal hashes. O(program).
inline std::size_t hash_of(program const& p) { return detail::program_hash(p).value(); }

} // namespace overdub::ir
