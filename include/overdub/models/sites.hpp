// The sites of a model: the operations `sample` of its program, and the model's program with all of them in its entry.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/models/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::models {

/// A site: an operation `sample`, which makes a choice in each iteration of the enclosing maps and loops. Operations of one address in
/// both branches of an `if` are one site.
struct site {
  std::string address;           // without indices: school/theta
  ir::type type;                 // of one choice
  std::uint32_t index_count = 0; // the number of indices of its addresses: of enclosing maps and loops
  bool is_conditional = false;   // it is nested in one branch of an `if`, and not in both
  bool is_resized = false;       // an enclosing map or loop is nested in a branch that depends on choices
  bool has_random_count = false; // the trip count of an enclosing map or loop depends on choices
  bool varies_in_size = false;   // it is an array, in a branch that depends on choices
  std::vector<ir::node_id> nodes;

  /// The type of the array of all its choices.
  ir::type type_of_all() const {
    ir::type t = type;
    for (std::uint32_t k = 0; k < index_count; ++k) t = t.array_of();
    return t;
  }
  bool is_discrete() const { return type.element == ir::scalar::i64 || type.element == ir::scalar::boolean; }
};

/// A site whose number of choices depends on an argument: on its value or elements, and on its size. Nothing, where no site's does.
struct affected_counts {
  std::optional<std::uint32_t> value, size;
};

/// A model's program: all operations `sample` are in its entry.
struct model_program {
  ir::program program;
  std::vector<site> sites;                // in the order of the program
  std::vector<affected_counts> arguments; // by parameter of the entry

  ir::function const& function() const { return program[program.entry]; }
  std::optional<std::uint32_t> find(std::string_view address) const {
    for (std::uint32_t s = 0; s < sites.size(); ++s)
      if (sites[s].address == address) return s;
    return {};
  }
};

/// The operands and functions of an operation `sample`: the parameters of its distribution, and the distribution's functions.
struct choice_parts {
  std::vector<ir::value_id> parameters;
  ir::function_id log_density = ir::nothing;
  ir::function_id constrain = ir::nothing, unconstrain = ir::nothing; // where it is continuous
  ir::function_id bounds = ir::nothing;                               // where its support is finite
  ir::host_binding draw; // without a function, where the program was parsed
};

/// Inlines functions that make choices, with the prefixes of their addresses. Throws model_error for choices in recursive functions, in
/// function values, in `while` and in reductions, and for two sites of one address. O(operations after inlining).
model_program model_program_of(ir::program p);

/// The parts of an operation `sample`. Throws model_error where the program has no function for its log density.
choice_parts parts_of(ir::program const& p, ir::function_id f, ir::node_id n);

} // namespace overdub::models
