// The update programs of a function, shared by all its incremental computations.
#pragma once

#include <overdub/compile/options.hpp>
#include <overdub/compile/tiered_program.hpp>
#include <overdub/core/library.hpp>
#include <overdub/core/mutex.hpp>
#include <overdub/incremental/make_update_program.hpp>
#include <overdub/incremental/update_strategy.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace overdub {

/// An update program, and its code.
struct runnable_update {
  explicit runnable_update(ir::program const& p) : text_(p) {}
  /// The program that counts the work of a run. It is made at its first use. Thread-safe.
  std::shared_ptr<execute::code const> work() const;

  increments::update_program program;
  increments::disabled_guards disabled_guards;
  std::shared_ptr<tiered_program const> code;
  struct gather_code {
    std::shared_ptr<tiered_program const> counts, keys;
  };
  std::vector<gather_code> gathers; // of `program`
  std::uint32_t version = 0;        // the number of saved values when it was made

private:
  overdub::detail::mutex mutable mutex_;
  ir::program mutable text_; // until `work` is called
  std::shared_ptr<tiered_program const> mutable work_;
};

/// Makes the update programs of a function at their first use, and caches them by change signature. Thread-safe.
class update_program_cache {
public:
  /// The function is the entry of the program. Throws incremental_error where it cannot be updated incrementally.
  update_program_cache(ir::program p, compile_options const& o);

  /// The maximum number of update programs of one change signature that differ by their guards. One more has no guards.
  static constexpr std::size_t maximum_guard_sets = 16;
  /// Functions of less work are always updated by update programs. Tests set it to 0, before the first update, to have small functions
  /// counted.
  std::uint64_t minimum_work = increments::update_strategy::minimum_work;

  /// The update program for a change signature and a set of disabled guards. It is rebuilt if more values are saved by now.
  std::shared_ptr<runnable_update const>
  for_changes(increments::change_signature const& changes, increments::disabled_guards const& d = {});
  /// The program that recomputes everything.
  std::shared_ptr<runnable_update const> full_update();
  /// The same without calls of hooks, to recompute saved values. Null if the function has no hooks.
  std::shared_ptr<runnable_update const> full_update_without_hooks();
  /// The function itself: its arguments are all inputs, and it saves nothing but its results.
  std::shared_ptr<runnable_update const> plain();

  ir::program const& program() const { return program_; }
  ir::function const& function() const { return program_[program_.entry]; }
  /// The saved values.
  increments::layout variables() const;
  /// The number of cached update programs, without the one that recomputes everything; and how many were made.
  std::size_t count() const;
  std::size_t made() const;

private:
  std::shared_ptr<runnable_update const>
  runnable(increments::update_program s, increments::disabled_guards d);
  bool has_maximum_guard_sets(increments::change_signature const& changes) const;
  increments::layout results_of_function() const;

  ir::program program_;
  compile_options options_;
  mutable overdub::detail::mutex mutex_;
  increments::layout layout_;
  std::map<
      std::pair<increments::change_signature, increments::disabled_guards>,
      std::shared_ptr<runnable_update const>>
      all_;
  std::shared_ptr<runnable_update const> whole_, without_hooks_, plain_;
  bool has_hooks_ = false;
  std::size_t made_ = 0;
};

} // namespace overdub
