// executable: a callable program, lowered once to instructions for the interpreter.
#pragma once

#include <overdub/core/exact_math.hpp>
#include <overdub/core/library.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/execute/host.hpp>
#include <overdub/execute/options.hpp>
#include <overdub/execute/run.hpp>
#include <overdub/ir/program.hpp>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace overdub {

/// The results of a call, convertible to C++ types: double y = exe(1.0). Throws type_error for another type.
class answers : public std::vector<datum> {
public:
  using std::vector<datum>::vector;
  explicit answers(std::vector<datum> all) : std::vector<datum>(std::move(all)) {}
  template <datum_type T>
  operator T() const {
    if (size() != 1)
      throw type_error(message("overdub: a call returned %zu results, and one is requested", size()));
    return front().as<T>();
  }
};

class instance;

namespace execute {
[[noreturn, gnu::cold]] void throw_moved(char const* what);
}

/// A callable program: a function with its callees. Immutable, and a plain value: copies share the instructions. Threads may call one
/// executable concurrently; each call uses memory of its thread. The members of a moved-from executable throw error.
class executable {
public:
  /// Lowers a function, or the program's entry. Throws verify_error if the program is invalid, host_error if a host
  /// function is missing or has other types, not_executable if something is not supported. O(nodes × depth of regions).
  explicit executable(
      ir::program const& p, ir::function_id f, hosts const& h = {}, execution_options const& options = {});
  explicit executable(ir::program const& p, hosts const& h = {}, execution_options const& options = {})
      : executable(p, p.entry, h, options) {}
  /// From the code of another backend.
  explicit executable(std::shared_ptr<execute::code const> made);
  executable(executable const& other);
  executable(executable&& other) noexcept;
  executable& operator=(executable const& other);
  executable& operator=(executable&& other) noexcept;
  ~executable();

  /// Calls it: call<double>(1.0, x), call<std::tuple<i64, array<double>>>(n). Arguments are bool, integers, float, double,
  /// array<...>, contiguous ranges such as std::vector<double>, or data; elements of arrays of rank 1 are not copied.
  /// Throws argument_error, type_error, and what the program throws.
  template <class R, class... A>
  R call(A const&... a) const {
    static_assert(
        !execute::borrows<R>, "overdub: a span needs an instance, which keeps the memory: "
                              "auto inst = exe.instance(); inst.call<std::span<double const>>(...)");
    execute::program_run::check_results<R>(*code());
    execute::borrowed_machine m;
    execute::program_run run(*code_, *m);
    run(a...);
    execute::releasing const at_end(run);
    return run.results<R>();
  }
  /// For results of any type: double y = exe(1.0);
  template <class... A>
  answers operator()(A const&... a) const {
    execute::borrowed_machine m;
    execute::program_run run(*code(), *m);
    run(a...);
    execute::releasing const at_end(run);
    return answers(run.data());
  }
  /// For data. `contexts` are those that the program was compiled for.
  std::vector<datum> run(std::span<datum const> arguments, void* const* contexts = nullptr) const;
  /// A callable that keeps its memory between calls.
  overdub::instance instance(execution_limits const& limits = {}) const;

  std::vector<ir::type> const& parameters() const { return code()->parameters; }
  std::vector<ir::type> const& results() const { return code()->results; }
  /// The number of instructions.
  std::size_t size() const { return code()->instructions.size(); }
  /// The instructions, which copies share.
  std::shared_ptr<execute::code const> const& code() const {
    if (code_ == nullptr) [[unlikely]]
      execute::throw_moved("executable");
    return code_;
  }

private:
  void check_signature() const;

  std::shared_ptr<execute::code const> code_;
};

/// A program for repeated calls by one thread. It keeps its memory: calls of programs of scalars allocate nothing, and
/// arrays reuse the memory of earlier calls. The members of a moved-from instance throw error.
class instance {
public:
  explicit instance(std::shared_ptr<execute::code const> code, execution_limits const& limits);
  instance(instance&& other) noexcept;
  instance& operator=(instance&& other) noexcept;
  ~instance();

  /// As executable::call. A result may also be a std::span<T const>, which is valid until the next call and, if it is a
  /// part of an argument, as long as the argument. A host function may not call the instance that calls it.
  template <class R, class... A>
  R call(A const&... a) {
    check_held();
    execute::program_run::check_results<R>(*code_);
    begin();
    execute::flag const busy(busy_);
    run_(a...);
    has_results_ = true;
    return run_.results<R>();
  }
  std::vector<datum> run(std::span<datum const> arguments);
  /// The bytes of arrays, including free buffers.
  std::size_t array_bytes() const;

private:
  void check_held() const {
    if (code_ == nullptr) [[unlikely]]
      execute::throw_moved("instance");
  }
  void begin();

  std::shared_ptr<execute::code const> code_;
  std::unique_ptr<execute::machine> machine_;
  execute::program_run run_;
  bool has_results_ = false;
  bool busy_ = false;
};

} // namespace overdub
