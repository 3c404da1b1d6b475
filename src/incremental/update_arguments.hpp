// The arguments of an update program while it is written. Each is a free value of the draft.
#pragma once

#include <overdub/incremental/update_program.hpp>
#include <overdub/ir/cursor.hpp>

#include <cstddef>
#include <cstdint>
#include <tsl/robin_map.h>
#include <vector>

namespace overdub::increments {

/// The arguments, each once, in the order in which the program first uses them. The compensation of a sum is one if it is saved in the
/// end; which variable it is, is known then.
class update_arguments {
public:
  struct argument {
    update_parameter what;
    ir::value_id compensation_of = ir::nothing; // a sum of the function; nothing, if it is no compensation
    friend bool operator==(argument const&, argument const&) = default;
  };
  struct entry {
    argument is;
    ir::value_id value; // of the draft
  };

  /// The argument's value. O(1).
  ir::value_id value_of(argument const& a, ir::type t, ir::cursor& draft) {
    auto const [at, is_new] = known_.insert({a, ir::nothing});
    if (is_new) {
      at.value() = draft.free_value(t);
      all_.push_back({a, at.value()});
    }
    return at.value();
  }
  std::vector<entry> const& all() const { return all_; }
  /// Removes the compensations that are not saved. Nothing of the draft uses them.
  void keep_saved(layout const& saved) {
    for (entry& e : all_)
      if (e.is.compensation_of != ir::nothing)
        e.is.what.variable = saved.compensation_of(e.is.compensation_of);
    std::erase_if(all_, [](entry const& e) {
      return e.is.compensation_of != ir::nothing && e.is.what.variable == layout::none;
    });
  }

private:
  struct hash {
    std::size_t operator()(argument const& a) const {
      std::size_t all = index_of(a.compensation_of);
      for (std::uint64_t const part :
           {std::uint64_t{static_cast<std::uint8_t>(a.what.what)}, std::uint64_t{a.what.variable},
            std::uint64_t{a.what.input}, std::uint64_t{a.what.ordinal}, std::uint64_t{a.what.axis},
            static_cast<std::uint64_t>(a.what.shift)})
        all = (all ^ part) * std::size_t{0x9e3779b97f4a7c15};
      return all ^ all >> 32;
    }
  };

  std::vector<entry> all_;
  tsl::robin_map<argument, ir::value_id, hash> known_;
};

} // namespace overdub::increments
