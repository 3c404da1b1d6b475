// The slices of a function, which all its incremental runs share.
#pragma once

#include <overdub/compile/options.hpp>
#include <overdub/compile/tiered_program.hpp>
#include <overdub/contexts/incremental/slice_program.hpp>
#include <overdub/contexts/incremental/update_kind.hpp>
#include <overdub/header_only.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace overdub::contexts {
inline namespace OVERDUB_EXECUTE_ABI {

/// An update program that can be run.
struct runnable_slice {
  explicit runnable_slice(ir::program const& p) : text_(p) {}
  /// The program that counts the work of a run: made at its first use. Thread-safe.
  OVERDUB_DECL std::shared_ptr<execute::code const> work() const;

  increments::slice what;
  increments::doubts doubts;
  std::shared_ptr<tiered_program const> code;
  struct gather_code {
    std::shared_ptr<tiered_program const> counts, keys;
  };
  std::vector<gather_code> gathers; // of `what`
  std::uint32_t version = 0;        // how many variables it follows

private:
  std::mutex mutable mutex_;
  ir::program mutable text_; // until the work is asked for
  std::shared_ptr<tiered_program const> mutable work_;
};

/// Makes the update programs of a function at their first use, and caches them by change signature. Thread-safe.
class incremental_slices {
public:
  /// The function is the program's entry. Throws incremental_error where it cannot be updated incrementally.
  OVERDUB_DECL incremental_slices(ir::program p, compile_options const& o);

  /// So many update programs of one change signature differ by their guards; one more assumes nothing.
  static constexpr std::size_t most_doubting = 16;
  /// A function of less work is updated by update programs, and not counted any further. Tests that count small ones set it to 0, before
  /// anything runs.
  std::uint64_t least_work = increments::update_kind::least_work;

  /// The update program for a change signature and a set of disabled guards. It is rebuilt when more values are saved than when it was made.
  OVERDUB_DECL std::shared_ptr<runnable_slice const>
  for_schema(increments::schema const& changes, increments::doubts const& d = {});
  /// The one that recomputes everything.
  OVERDUB_DECL std::shared_ptr<runnable_slice const> for_all();
  /// The same without hooks: to recompute saved values. Nothing, where there are no hooks.
  OVERDUB_DECL std::shared_ptr<runnable_slice const> for_all_without_hooks();
  /// The function itself: it takes all inputs, and saves its results alone.
  OVERDUB_DECL std::shared_ptr<runnable_slice const> plain();

  ir::program const& program() const { return program_; }
  ir::function const& function() const { return program_[program_.entry]; }
  /// The values that are saved from now on.
  OVERDUB_DECL increments::layout variables() const;
  /// How many update programs there are, without the one that recomputes everything; and how many were made.
  OVERDUB_DECL std::size_t count() const;
  OVERDUB_DECL std::size_t made() const;

private:
  std::shared_ptr<runnable_slice const> runnable(increments::slice s, increments::doubts d);
  bool has_most(increments::schema const& changes) const;
  increments::layout results_of_function() const;

  ir::program program_;
  compile_options options_;
  mutable std::mutex mutex_;
  increments::layout layout_;
  std::map<std::pair<increments::schema, increments::doubts>, std::shared_ptr<runnable_slice const>> all_;
  std::shared_ptr<runnable_slice const> whole_, without_hooks_, plain_;
  bool has_hooks_ = false;
  std::size_t made_ = 0;
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::contexts

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/incremental/slices.ipp>
#endif
