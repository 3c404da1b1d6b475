// A symbolic shape analysis: what the extents of arrays depend on. Gradients and updates save the values of all iterations of a loop as
// one array of arrays, whose rows must have one shape.
#pragma once

#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace overdub::ir {

/// Whether a region is enclosed by branches alone.
bool is_outside_loops(function const& f, region_id r);

/// The parameters that determine the shapes of results: i64s by value, arrays by shape. It refers to the program, to which functions may be
/// added. Not thread-safe.
class result_shapes {
public:
  explicit result_shapes(program const& p) : p_(&p) {}

  using parameters = std::optional<std::vector<std::uint32_t>>;
  /// The indices of parameters. No value if something else matters, or the function calls itself, or has no results yet. The first question
  /// about a function takes O(its operations), and the same for its callees.
  parameters const& of(function_id f, std::uint32_t result) const;

private:
  std::vector<parameters> find(function_id f) const;

  program const* p_;
  mutable std::vector<std::optional<std::vector<parameters>>> known_; // by function and result
};

/// The extents of arrays as expressions of other extents and of i64s. Loop-carried arrays are proved to keep their shape by induction: if
/// they have it at the begin of an iteration, then at its end.
class shapes {
public:
  /// A loop-carried value of an analysed region that is not the body of a loop yet: its next state is another value.
  struct carried {
    value_id argument, next;
  };

  /// Analyses a whole function, and of a program, its callees. A map of rows over no index yields a matrix without rows and columns: it is
  /// taken to keep a shape that it has otherwise. O(operations), and for each extent that is compared at most 1000 operations.
  explicit shapes(function const& f, result_shapes const* callees = nullptr);
  /// Analyses a region of a function that is not complete, up to an operation. O(operations before it).
  shapes(
      function const& f, result_shapes const& callees, region_id r, node_id end,
      std::span<carried const> states);

  /// Whether an array has one shape in all iterations of a region. True for what is no array.
  bool is_invariant(value_id v, region_id r) const;
  /// Whether an array has one shape in all iterations of all maps and loops around it.
  bool is_invariant(value_id v) const;
  /// Whether a map or counted loop has one trip count in all iterations of the enclosing maps and loops.
  bool has_invariant_trip_count(node_id n) const;
  /// Whether a loop-carried array, an argument of a loop's body, has its initial shape in all iterations.
  bool keeps_shape(value_id argument) const;
  /// The parameters that determine the shape of an array, if no other value does.
  result_shapes::parameters parameters_of(value_id v) const;

private:
  // An extent of an array, or the value of a number.
  enum class extent : std::uint32_t {};
  static constexpr extent unknown{~std::uint32_t{}};
  enum class kind : std::uint8_t {
    opaque,  // known as the extent of a value alone
    initial, // of a loop-carried value before the analysed region
    literal,
    derived, // determined by other extents
    common,  // equal to each of other extents
    row      // of the rows of a map or loop, if it has any
  };
  struct entry {
    kind is;
    value_id value;
    std::uint32_t first, count; // of the other extents, in uses_
    extent same_as = unknown;   // of a loop-carried value that keeps its shape: the initial extent
  };
  struct range {
    std::uint32_t first, count; // in extents_
  };
  struct loop_carried {
    extent argument, initial, next;
  };

  extent add(kind is, value_id v, std::span<extent const> uses);
  std::span<extent const> uses_of(extent x) const;
  // The extents that are each equal to this one.
  std::span<extent const> equals_of(extent x) const;
  // The extents of an array, or the value of a number; opaque ones, if it was not visited.
  std::span<extent const> of(value_id v);
  std::vector<extent> copy_of(value_id v);
  extent number(value_id v) { return of(v)[0]; }
  void set(value_id v, std::span<extent const> all);

  void visit(region_id r, node_id end);
  void visit(node_id n);
  bool visit_data(node_id n);
  void visit_call(node_id n);
  void visit_regions(node_id n);
  void set_stacked(node_id n, std::uint32_t result);
  void set_selected(node_id n, std::uint32_t result);

  extent joined(node_id n, extent a, extent b, int& steps) const;
  void assume_invariants(std::span<loop_carried const> states);
  extent resolve(extent x) const;
  bool are_equal(extent a, extent b, int& steps) const;
  template <class Inside>
  bool depends(extent x, Inside const& is_inside, int& steps) const;
  template <class Inside>
  bool depends(value_id v, Inside const& is_inside) const;
  bool is_outside(node_id n, extent x) const;
  bool is_outside_of_all_loops(value_id v) const;

  function const& f_;
  result_shapes const* callees_;
  bool empty_rows_differ_;
  std::vector<entry> table_;
  std::vector<extent> uses_, extents_;
  value_map<range> by_value_;
};

/// A line for each map and counted loop, with what is invariant of it, by the names of the printed function.
std::string text_of(shapes const& known, program const& p, function const& f);

} // namespace overdub::ir
