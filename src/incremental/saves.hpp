// The values that update programs read as they were before the update. They are saved between updates: nothing else is.
#pragma once

#include <overdub/implementation/ir/shapes.hpp>
#include <overdub/incremental/update_program.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/regions.hpp>

#include <cstdint>
#include <optional>

namespace overdub::increments {

/// The number of maps and loops that enclose a value. Nothing where values cannot be saved: in a `while`, in a reduction, or in a branch
/// in an iteration.
std::optional<std::uint32_t> enclosing_depth(ir::function const& f, ir::value_id v);

/// Decides what is saved: what an update program asks for, once, and for all update programs of the function. Emission asks, and does not
/// depend on what was asked for before or will be: `plan_stores` reads the answer at the end.
class saves {
public:
  /// `all` is extended. Refers to both.
  saves(ir::function const& f, layout& all) : f_(f), all_(all) {}

  /// The number of the saved value. The value is saved from now on.
  std::uint32_t value(ir::value_id v) {
    if (std::uint32_t const number = all_.of(v); number != layout::none) return number;
    std::uint32_t const depth = *enclosing_depth(f_, v);
    ir::type t = f_.type_of(v);
    for (std::uint32_t k = 0; k < depth; ++k) t = t.array_of();
    return all_.add({.of = v, .type = t, .what = variable::role::saved, .depth = depth});
  }
  /// That of the compensation of a sum. Both are saved from now on.
  std::uint32_t compensation(ir::value_id v) {
    if (std::uint32_t const number = all_.compensation_of(v); number != layout::none) return number;
    variable r = all_[value(v)];
    r.what = variable::role::compensation;
    return all_.add(r);
  }
  /// That of the tree of a reduction, which is saved from now on.
  std::uint32_t tree(ir::value_id v) {
    if (std::uint32_t const number = all_.tree_of(v); number != layout::none) return number;
    return all_.add({.of = v, .type = f_.type_of(v).array_of(), .what = variable::role::tree});
  }

  variable const& operator[](std::uint32_t i) const { return all_[i]; }
  layout const& all() const { return all_; }

private:
  ir::function const& f_;
  layout& all_;
};

} // namespace overdub::increments
