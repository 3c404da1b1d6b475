// Tiered execution of an internal program, such as an update program: interpreted at first, if the options say so, and compiled to machine
// code when it is hot.
#pragma once

#include <overdub/compile/options.hpp>
#include <overdub/compile/tiers.hpp>
#include <overdub/core/library.hpp>
#include <overdub/execute/bound_call.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/ir/program.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace overdub {

/// Whether a program is optimised already, or only when it is compiled to machine code: the latter for numerous programs that run a few
/// times each.
enum class optimised : std::uint8_t { already, when_compiled };

/// A program with its code. Shared by threads, and immutable except for the code.
class tiered_program : public std::enable_shared_from_this<tiered_program> {
public:
  /// Throws the exceptions of lowering, and those of the executor if the program is compiled at once.
  static std::shared_ptr<tiered_program const> of(ir::program p, compile_options const& o, optimised when);

  /// The current code.
  std::shared_ptr<execute::code const> code() const { return {shared_from_this(), &code_.code()}; }
  /// Whether faster code may still replace the current code.
  bool is_warming() const { return is_warming_.load(std::memory_order_acquire); }
  bool is_run_by(execute::code const& c) const { return &c == &code_.code(); }

  /// Calls f(), which calls the program once, and counts the call; starts the compilation in the background when the program is hot.
  template <class F>
  void counted(F const& f) const {
    if (!code_.is_waiting()) return f();
    tiered_code::counted_call count(code_);
    f();
    if (count.became_hot()) heat();
  }
  /// Runs the program.
  std::vector<datum> run(std::span<datum const> arguments) const;

private:
  tiered_program(ir::program p, compile_options const& o, optimised when, executable first);
  void heat() const noexcept;
  void swap_in() const noexcept;

  compile_options options_;
  ir::program mutable program_; // released after compilation to machine code
  optimised when_;
  tiered_code mutable code_;
  std::atomic<bool> mutable is_warming_{false};
};

/// A call of such a program with bound arguments, which persist between calls. Not thread-safe.
class tiered_call : public bound_call {
public:
  explicit tiered_call(std::shared_ptr<tiered_program const> p) : tiered_call(p, p->is_warming()) {}

  /// Whether faster code may still replace the current code. Switches to faster code if it is available, which changes the addresses of
  /// arguments and results.
  bool is_warming() const { return warming_ != nullptr; }
  bool improve();
  /// Throws the exceptions of the program. Results are valid until the next call, or until an argument is set or lent.
  void run() {
    if (is_warming()) [[unlikely]]
      (void)improve();
    run_as_it_is();
  }
  /// The same without a switch of code, so that addresses are unchanged.
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
      std::shared_ptr<tiered_program const> const& p,
      bool is_warming) // is_warming must be read before the code
      : bound_call(p->code()), warming_(is_warming ? p : nullptr) {}

  std::shared_ptr<tiered_program const> warming_; // null if no faster code can follow
};

} // namespace overdub
