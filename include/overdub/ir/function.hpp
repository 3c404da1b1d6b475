// A function of a program: typed values, operations, regions and use lists, in contiguous storage. A plain value: copies
// are independent. Cursors edit it (cursor.hpp).
#pragma once

#include <overdub/core/indirect.hpp>
#include <overdub/core/library.hpp>
#include <overdub/ir/derivative.hpp>
#include <overdub/ir/id.hpp>
#include <overdub/ir/op.hpp>
#include <overdub/ir/type.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace overdub::ir {

/// The maximum nesting of regions in a valid program, including the body: recursion over regions is bounded.
inline constexpr std::uint32_t max_nesting = 400;
namespace detail {
class link_check; // of the verifier
struct literal_table;
} // namespace detail

/// The attributes of an operation. Each operation uses some of them; the others have their defaults.
struct attributes {
  std::uint32_t subject = ~0u; // call, closure: a function_id; host, sample, assert: a symbol
  symbol detail = nothing;     // sample: the name of the distribution
  std::uint16_t count = 0;     // sample: the number of leading operands that are indices of the address
  op operation = op::none;     // reduce: the operation that combines, without a region
  std::uint8_t flags = 0;
  effect effects = effect::pure; // host: its effect

  static constexpr std::uint8_t exempt = 1;   // call: contexts observe neither it nor the calls in it
  static constexpr std::uint8_t reversed = 1; // loop: from the last index to the first
  static constexpr std::uint8_t started = 1;  // reduce: initial values follow the arrays, one for each
  static constexpr std::uint8_t in_lanes = 2; // reduce with a region: in the order of a floating-point sum
  static constexpr std::uint8_t in_order = 4; // reduce by an operation: from the first element to the last

  friend constexpr bool operator==(attributes const&, attributes const&) = default;

  static constexpr attributes of(function_id callee) { return {.subject = index_of(callee)}; }
  static constexpr attributes exempt_call(function_id callee) {
    return {.subject = index_of(callee), .flags = exempt};
  }
  static constexpr attributes of(symbol text) { return {.subject = index_of(text)}; }
  static constexpr attributes of(op operation) { return {.operation = operation}; }
  constexpr function_id callee() const { return function_id{subject}; }
  constexpr symbol text() const { return symbol{subject}; }
  constexpr bool is_exempt() const { return (flags & exempt) != 0; }
  constexpr bool is_reversed() const { return (flags & reversed) != 0; }
  constexpr bool is_started() const { return (flags & started) != 0; }
  constexpr bool is_in_lanes() const { return (flags & in_lanes) != 0; }
  constexpr bool is_in_order() const { return (flags & in_order) != 0; }
};

/// The kind of a value's definition.
enum class origin : std::uint8_t { literal, argument, result };

/// A typed function. Ids of erased parts are not reused; `canonicalise` renumbers densely. Reading is thread-safe, editing
/// is not.
class function {
public:
  struct node {
    op code = op::none;
    std::uint16_t region_count = 0;
    std::uint32_t first_region = 0;
    std::uint32_t first_operand = 0;
    std::uint32_t operand_count = 0;
    std::uint32_t first_result = 0;
    std::uint32_t result_count = 0;
    region_id parent = nothing; // nothing: erased
    node_id previous = nothing;
    node_id next = nothing;
    place_id place = nothing;
    ir::attributes attributes;
  };
  struct region {
    node_id parent = nothing; // nothing: the function's body, or erased
    node_id first = nothing;
    node_id last = nothing; // its yield
    std::uint32_t first_argument = 0;
    std::uint32_t argument_count = 0;
  };
  struct value {
    ir::type type;
    origin from = origin::literal;
    std::uint32_t maker = 0; // the id of the operation or region, or the index of the literal's bits
    std::uint32_t index = 0; // the index among the operation's results or the region's arguments
    use_id first_use = nothing;
    symbol name = nothing; // for people; no part of equality
  };
  // An operand of an operation, in the use list of its value.
  struct use {
    value_id value = nothing;
    node_id user = nothing;
    use_id previous = nothing;
    use_id next = nothing;
  };

  function() : function(nothing, {}) {}
  /// A function with these parameters and an empty body.
  function(symbol named, std::span<type const> parameters);
  function(function const& other);
  function(function&& other) noexcept;
  function& operator=(function const& other);
  function& operator=(function&& other) noexcept;
  ~function();

  symbol name = nothing;      // nothing: erased
  std::vector<type> results;  // the types that the body yields
  symbol structure = nothing; // how structs and tuples of the user were flattened; nothing: there are none
  place_id place = nothing;   // its source location
  ir::derivative derivative;  // how calls of it are differentiated
  // Identifies the C++ function that it was staged from, in this process; no part of equality.
  void const* origin_in_cpp = nullptr;
  // The name of the function that contexts transformed; has static lifetime, no part of equality.
  std::string_view origin_name;

  /// The region of the function's own operations; its arguments are the parameters.
  static constexpr region_id body{0};

  /// Reserves the storage of another function, so that a rewrite does not reallocate.
  void reserve(function const& like);

  node const& operator[](node_id n) const { return nodes_[index_of(n)]; }
  region const& operator[](region_id r) const { return regions_[index_of(r)]; }
  value const& operator[](value_id v) const { return values_[index_of(v)]; }
  use const& operator[](use_id u) const { return uses_[index_of(u)]; }

  /// The number of ids, including those of erased operations.
  std::uint32_t node_count() const { return static_cast<std::uint32_t>(nodes_.size()); }
  std::uint32_t region_count() const { return static_cast<std::uint32_t>(regions_.size()); }
  std::uint32_t value_count() const { return static_cast<std::uint32_t>(values_.size()); }
  std::uint32_t use_count() const { return static_cast<std::uint32_t>(uses_.size()); }

  type type_of(value_id v) const { return (*this)[v].type; }
  id_range<value_id> parameters() const { return arguments_of(body); }
  id_range<value_id> arguments_of(region_id r) const {
    return {(*this)[r].first_argument, (*this)[r].argument_count};
  }
  id_range<value_id> results_of(node_id n) const {
    return {(*this)[n].first_result, (*this)[n].result_count};
  }
  id_range<region_id> regions_of(node_id n) const {
    return {(*this)[n].first_region, (*this)[n].region_count};
  }
  value_id operand(node_id n, std::uint32_t i) const { return uses_[(*this)[n].first_operand + i].value; }
  value_id result(node_id n, std::uint32_t i = 0) const { return value_id{(*this)[n].first_result + i}; }
  region_id region_at(node_id n, std::uint32_t i) const { return region_id{(*this)[n].first_region + i}; }
  value_id argument(region_id r, std::uint32_t i) const { return value_id{(*this)[r].first_argument + i}; }

  /// The operands of an operation.
  auto operands_of(node_id n) const {
    use const* const first = uses_.data() + (*this)[n].first_operand;
    return operand_range{{first, first + (*this)[n].operand_count}};
  }
  /// The operations of a region, in order, without nested ones.
  auto nodes_of(region_id r) const { return node_range{this, (*this)[r].first}; }
  /// The uses of a value, in no particular order.
  auto uses_of(value_id v) const { return use_range{this, (*this)[v].first_use}; }
  bool is_used(value_id v) const { return (*this)[v].first_use != nothing; }
  bool is_erased(node_id n) const { return (*this)[n].parent == nothing; }

  bool is_literal(value_id v) const { return (*this)[v].from == origin::literal; }
  bool is_result(value_id v) const { return (*this)[v].from == origin::result; }
  bool is_argument(value_id v) const { return (*this)[v].from == origin::argument; }
  /// The operation that defines a result.
  node_id node_of(value_id v) const { return node_id{(*this)[v].maker}; }
  /// The bits of a literal: of the double or the float, the integer, 0 or 1.
  std::uint64_t bits_of(value_id v) const { return literals_[(*this)[v].maker]; }
  /// The region that defines a value; nothing for a literal, which is available everywhere.
  region_id region_of(value_id v) const {
    value const& x = (*this)[v];
    if (x.from == origin::literal) return nothing;
    return x.from == origin::argument ? region_id{x.maker} : nodes_[x.maker].parent;
  }
  /// The last operation of a region, the yield of its results.
  node_id yield_of(region_id r) const { return (*this)[r].last; }

  struct operand_range {
    struct iterator {
      use const* at;
      using value_type = value_id;
      using difference_type = std::ptrdiff_t;
      value_id operator*() const { return at->value; }
      iterator& operator++() { return ++at, *this; }
      iterator operator++(int) { return {at++}; }
      bool operator==(iterator const&) const = default;
    };
    std::span<use const> uses;
    iterator begin() const { return {uses.data()}; }
    iterator end() const { return {uses.data() + uses.size()}; }
    std::size_t size() const { return uses.size(); }
    bool empty() const { return uses.empty(); }
    value_id operator[](std::size_t i) const { return uses[i].value; }
  };
  struct node_range {
    struct iterator {
      function const* f;
      node_id at;
      using value_type = node_id;
      using difference_type = std::ptrdiff_t;
      node_id operator*() const { return at; }
      iterator& operator++() { return at = (*f)[at].next, *this; }
      iterator operator++(int) {
        iterator const before = *this;
        ++*this;
        return before;
      }
      bool operator==(iterator const& other) const { return at == other.at; }
    };
    function const* f;
    node_id first;
    iterator begin() const { return {f, first}; }
    iterator end() const { return {f, nothing}; }
  };
  struct use_range {
    struct iterator {
      function const* f;
      use_id at;
      using value_type = use_id;
      using difference_type = std::ptrdiff_t;
      use_id operator*() const { return at; }
      iterator& operator++() { return at = (*f)[at].next, *this; }
      iterator operator++(int) {
        iterator const before = *this;
        ++*this;
        return before;
      }
      bool operator==(iterator const& other) const { return at == other.at; }
    };
    function const* f;
    use_id first;
    iterator begin() const { return {f, first}; }
    iterator end() const { return {f, nothing}; }
  };

private:
  friend class cursor;
  friend class detail::link_check;
  friend struct corruptor; // of tests, which break invariants to test the verifier

  std::uint32_t new_values(std::span<type const> types, origin from, std::uint32_t maker);
  region_id new_region(node_id parent, std::span<type const> arguments);

  std::vector<node> nodes_;
  std::vector<region> regions_;
  std::vector<value> values_;
  std::vector<use> uses_;
  std::vector<std::uint64_t> literals_;
  overdub::detail::indirect<detail::literal_table> literal_of_;
};

} // namespace overdub::ir
