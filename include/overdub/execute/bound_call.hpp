// bound_call: repeated calls of a program with mostly unchanged arguments. Only changed arguments are written to the frame,
// so that a call costs little more than the program itself.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/execute/code.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace overdub {

/// Not thread-safe.
class bound_call {
public:
  explicit bound_call(std::shared_ptr<execute::code const> c)
      : bound_call(c, c->compiled != nullptr ? results_at::base : results_at::frame) {}
  bound_call(bound_call&& other) noexcept;
  bound_call& operator=(bound_call&& other) noexcept;
  ~bound_call();

  /// Sets a scalar, by its bits.
  void set(std::size_t parameter, std::uint64_t bits) {
    std::memcpy(argument(parameter), &bits, sizeof bits);
  }
  /// Lends an array, which is read in place.
  void lend(std::size_t parameter, void const* elements, i64 const* extents) {
    std::byte* const words = argument(parameter);
    std::memset(words + execute::word_size, 0, execute::word_size); // no owner
    std::memcpy(words, &elements, sizeof elements);
    std::memcpy(
        words + 2 * execute::word_size, extents, code_->parameters[parameter].rank * execute::word_size);
  }
  /// Updates the extents of a lent array, whose elements stay in place.
  void set_extents(std::size_t parameter, i64 const* extents) {
    std::byte* const words = argument(parameter);
    for (std::size_t k = 0; k < code_->parameters[parameter].rank; ++k)
      execute::write(words + (2 + k) * execute::word_size, extents[k]);
  }
  /// Copies the arguments of a call of code with the same parameters. Lent arrays are lent to both.
  void take_arguments(bound_call const& other) {
    std::memcpy(arguments(), other.arguments(), argument_bytes_);
  }
  /// Replaces the code by other code of the same program; keeps the arguments.
  void replace(std::shared_ptr<execute::code const> other);
  /// Sets the contexts that the program was compiled for; they are read at each call.
  void set_contexts(void* const* contexts);
  /// Throws what the program throws. Results are valid until the next call, or until an argument is set or lent.
  [[gnu::always_inline]] void run() {
    if (has_results_) release();
    try {
      if (thread_ == number_of_thread) [[likely]] // never without machine code
        compiled_(at_.frame, machine_.get());
      else
        run_on_machine();
    } catch (execute::fails_ahead const&) {
      forget_buffers();
      run_interpreted();
    } catch (...) {
      forget_buffers();
      throw;
    }
    if (has_arrays_) has_results_ = true;
  }
  /// The address of the words of an argument or result; it changes where results move.
  std::uint64_t* argument_address(std::size_t parameter) {
    return reinterpret_cast<std::uint64_t*>(argument(parameter));
  }
  std::uint64_t const* result_address(std::size_t result) const {
    return reinterpret_cast<std::uint64_t const*>(at_.given + results_[result]);
  }
  std::byte const* results() const { return at_.given; }
  std::uint64_t word(std::size_t result) const {
    return execute::get<std::uint64_t>(at_.given, results_[result]);
  }
  std::byte const* elements(std::size_t result) const {
    return execute::get<std::byte const*>(at_.given, results_[result]);
  }
  i64 const* extents(std::size_t result) const {
    return reinterpret_cast<i64 const*>(at_.given + results_[result] + 2 * execute::word_size);
  }
  /// Whether an array result is a lent argument, or a part of one.
  bool is_lent(std::size_t result) const {
    return execute::get<void const*>(at_.given, results_[result] + execute::word_size) == nullptr;
  }
  /// The word of an argument.
  std::uint64_t argument_word(std::size_t parameter) const {
    return execute::get<std::uint64_t>(argument(parameter), 0);
  }
  std::byte const* argument_elements(std::size_t parameter) const {
    return execute::get<std::byte const*>(argument(parameter), 0);
  }
  i64 const* argument_extents(std::size_t parameter) const {
    return reinterpret_cast<i64 const*>(argument(parameter) + 2 * execute::word_size);
  }
  execute::code const& code() const { return *code_; }

private:
  // Machine code writes results to where the frame says; the interpreter leaves them where they were computed.
  enum class results_at : std::uint8_t { base, frame };
  bound_call(std::shared_ptr<execute::code const> c, results_at where);

  std::byte* arguments() const { return at_.frame + execute::first_parameter; }
  std::byte* argument(std::size_t parameter) const { return arguments() + parameters_[parameter]; }
  // Creates the frame, with arguments and literals, which is reused by all calls.
  void make_frame();
  // Runs the interpreter; or machine code in another thread than the last, whose stack limit must be read.
  [[gnu::noinline]] void run_on_machine() {
    thread_ = no_thread; // until the run ends: the stack limit in the machine is this thread's
    run_in_machine();
    if (compiled_ != nullptr) thread_ = this_thread();
  }
  void run_in_machine();
  // The index of this thread; 0 before its first call.
  OVERDUB_HIDDEN static inline thread_local constinit std::uint64_t number_of_thread = 0;
  static constexpr std::uint64_t no_thread = ~std::uint64_t{0};
  OVERDUB_HIDDEN static std::uint64_t this_thread() {
    static std::atomic<std::uint64_t> last{0};
    if (number_of_thread == 0) number_of_thread = ++last;
    return number_of_thread;
  }
  // Runs the program again in the interpreter, which reaches the failure that machine code predicted.
  [[gnu::cold]] void run_interpreted();
  [[gnu::cold]] void forget_buffers();
  void release();

  std::shared_ptr<execute::code const> code_;
  std::unique_ptr<execute::machine> machine_;
  decltype(execute::code::compiled) compiled_ = nullptr; // machine code, if there is some
  std::vector<execute::offset> parameters_, results_;    // the offset of each
  std::vector<execute::offset> arrays_;                  // the array results
  std::size_t argument_bytes_ = 0;
  execute::instruction const* first_ = nullptr;
  std::uint64_t thread_ = no_thread; // the thread of the last call
  std::unique_ptr<bound_call> interpreted_;
  struct {
    std::byte* base = nullptr;
    std::byte* own = nullptr;   // the words of its results in the frame,
    std::byte* given = nullptr; // and those of the last call's results
    std::byte* frame = nullptr;
  } at_;
  results_at where_;
  bool is_ready_ = true; // nothing failed in the machine
  bool has_arrays_ = false;
  bool has_results_ = false;
};

} // namespace overdub
