// A program that is not a user's function: interpreted at first, where its options say so, and run by machine code when that has
// become worth it and is made.
#pragma once

#include <overdub/compile/options.hpp>
#include <overdub/compile/tiers.hpp>
#include <overdub/execute/bound_call.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace overdub {
inline namespace OVERDUB_EXECUTE_ABI {

/// Whether a program was optimised already, or is when machine code is made of it: the latter for programs that are many and run a few
/// times each.
enum class optimised : std::uint8_t { already, when_compiled };

/// A program with what runs it. Immutable but for that, and shared by threads.
class tiered_program : public std::enable_shared_from_this<tiered_program> {
public:
  /// Throws what lowering throws and, where machine code is made now, what the executor throws.
  OVERDUB_DECL static std::shared_ptr<tiered_program const>
  of(ir::program p, compile_options const& o, optimised when);

  /// What runs it by now.
  std::shared_ptr<execute::code const> code() const { return {shared_from_this(), &code_.code()}; }
  /// Whether something may come that runs it faster.
  bool is_warming() const { return is_warming_.load(std::memory_order_acquire); }
  bool is_run_by(execute::code const& c) const { return &c == &code_.code(); }

  /// Calls f(), in which the program is called once; where it was called often by now, machine code is made in the background.
  template <class F>
  void counted(F const& f) const {
    if (!code_.is_waiting()) return f();
    tiered_code::counted_call count(code_);
    f();
    if (count.became_hot()) heat();
  }
  /// The results for arguments.
  OVERDUB_DECL std::vector<datum> run(std::span<datum const> arguments) const;

private:
  tiered_program(ir::program p, compile_options const& o, optimised when, executable first);
  OVERDUB_DECL void heat() const noexcept;
  void swap_in() const noexcept;

  compile_options options_;
  ir::program mutable program_; // until machine code is made of it
  optimised when_;
  tiered_code mutable code_;
  std::atomic<bool> mutable is_warming_{false};
};

/// A call of such a program whose arguments stay from call to call. One thread calls it at a time.
class tiered_call : public bound_call {
public:
  explicit tiered_call(std::shared_ptr<tiered_program const> p) : tiered_call(p, p->is_warming()) {}

  /// Whether faster code may come; and has it run by that, if it came. The addresses of arguments and results are others then.
  bool is_warming() const { return warming_ != nullptr; }
  OVERDUB_DECL bool improve();
  /// Throws what the program throws. Results are valid until the next call, or until an argument is set or lent.
  void run() {
    if (is_warming()) [[unlikely]]
      (void)improve();
    run_as_it_is();
  }
  /// The same, with addresses that stay.
  [[gnu::always_inline]] void run_as_it_is() {
    if (is_warming()) [[unlikely]]
      return run_counted();
    bound_call::run();
  }

private:
  [[gnu::noinline]] void run_counted() {
    warming_->counted([&] { bound_call::run(); });
  }
  tiered_call(
      std::shared_ptr<tiered_program const> const& p, bool is_warming) // which was asked before the code is
      : bound_call(p->code()), warming_(is_warming ? p : nullptr) {}

  std::shared_ptr<tiered_program const> warming_; // nothing, where it runs as fast as it will
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub

#if OVERDUB_HEADER_ONLY
#include <overdub/compile/tiered_program.ipp>
#endif
