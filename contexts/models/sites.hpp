// The places in a model's program where it makes random choices.
#pragma once

#include <overdub/contexts/models/error.hpp>
#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::models {

/// A site: where a model makes a choice, or one choice for each iteration of the enclosing maps and loops. Choices of one address in both
/// branches of an `if` are one site.
struct site {
  std::string address; // without indices: school/theta
  ir::type type;       // of one choice
  std::uint32_t index_count =
      0;                       // the number of enclosing maps and loops: how many indices its addresses have
  bool is_conditional = false; // it is nested in one branch of an `if`, and not in both
  bool is_resized = false;     // an enclosing map or loop is nested in a branch that depends on choices
  bool is_counted = false;     // how many choices there are depends on other choices
  bool varies_in_size = false; // it is an array, in a branch that depends on choices
  std::vector<ir::node_id> nodes;

  /// Of all its choices.
  ir::type type_of_all() const {
    ir::type t = type;
    for (std::uint32_t k = 0; k < index_count; ++k) t = t.array_of();
    return t;
  }
  bool is_discrete() const { return type.element == ir::scalar::i64 || type.element == ir::scalar::boolean; }
};

/// How many choices of which site an argument decides: by its value or its elements, and by its size. Nothing, where it decides none.
struct counted_by {
  std::optional<std::uint32_t> value, size;
};

/// A model's program: its entry makes all choices itself, each at a site.
struct model_program {
  ir::program program;
  std::vector<site> sites;           // in the order of the program
  std::vector<counted_by> arguments; // of the entry

  ir::function const& function() const { return program[program.entry]; }
  std::optional<std::uint32_t> find(std::string_view address) const {
    for (std::uint32_t s = 0; s < sites.size(); ++s)
      if (sites[s].address == address) return s;
    return {};
  }
};

/// What a choice's operation says: the parameters of its distribution, and the functions of that.
struct choice_parts {
  std::vector<ir::value_id> parameters;
  ir::function_id log_density = ir::nothing;
  ir::function_id constrain = ir::nothing, unconstrain = ir::nothing; // where it is continuous
  ir::function_id bounds = ir::nothing;                               // where its values are finitely many
  ir::host_binding draw; // without a function, where the program came from a text
};

/// Inlines functions that make choices, with the prefixes of their addresses. Throws model_error for choices in
/// functions that call themselves, in function values, in `while` and in reductions, and for one address that two sites have.
/// O(operations of what is called).
OVERDUB_DECL model_program model_program_of(ir::program p);

/// Of an operation `sample` of the entry. Throws model_error where the program has no density for it.
OVERDUB_DECL choice_parts parts_of(ir::program const& p, ir::function_id f, ir::node_id n);

} // namespace overdub::models

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/sites.ipp>
#endif
