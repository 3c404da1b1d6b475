// The recorder: builds the program that is being staged, and appends operations to its current region.
#pragma once

#include <overdub/core/error.hpp>
#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/stage/context_identity.hpp>
#include <overdub/stage/symbol.hpp>

#include <any>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace overdub {
namespace ir {
class cursor;
}

/// Thrown if a function cannot be staged.
struct OVERDUB_EXPORTED staging_error : rejected_program {
  using rejected_program::rejected_program;
};

namespace detail {

// A single-threaded builder of one program.
class recorder {
public:
  // The limit on signatures of one function whose stagings are nested; more are an endless recursion.
  static constexpr int max_nested = 64;
  // A function with more operations gets a note on unrolled loops.
  static constexpr std::uint32_t max_operations_without_note = 1000;

  recorder();
  recorder(recorder const&) = delete;
  recorder& operator=(recorder const&) = delete;
  ~recorder();

  ir::program program;
  // The memory of a context object that is a parameter of the program: each call of the program passes its own object.
  struct context_of_call {
    std::byte* begin;
    std::size_t size;
  };
  std::vector<context_of_call> contexts; // outermost first
  // The index in `contexts` of an object; contexts.size() if the object is none of them.
  std::size_t context_at(void const* object) const {
    std::size_t i = 0;
    while (i < contexts.size() && contexts[i].begin != object) ++i;
    return i;
  }

  /// The cursor in the current region, at which operations are appended.
  ir::cursor& at();
  /// The function of the current region.
  ir::function const& here();

  // ---- the current region

  // A scope in which the current region is another one, of the current function or of function `f`.
  class inside {
  public:
    inside(recorder& r, ir::region_id region);
    inside(recorder& r, ir::function_id f, ir::region_id region);
    inside(inside const&) = delete;
    inside& operator=(inside const&) = delete;
    ~inside();

  private:
    recorder& recorder_;
  };
  [[nodiscard]] inside enter(ir::region_id region) { return inside(*this, region); }
  [[nodiscard]] inside enter(ir::function_id f) { return inside(*this, f, ir::function::body); }

  ir::region_id region_of(ir::node_id n, std::uint32_t i) { return here().region_at(n, i); }

  // ---- operations

  ir::value_id
  add(ir::op code, std::span<ir::value_id const> operands, ir::type result, ir::attributes const& a = {});
  // Appends an elementwise operation, and conversions of its operands to its parameter types. op::none appends the conversion of its
  // operand to the result type only.
  ir::value_id elementwise(ir::op code, std::span<ir::value_id> operands, ir::type result);
  ir::node_id insert(
      ir::op code, std::span<ir::value_id const> operands, std::span<ir::type const> results,
      ir::attributes const& a = {}, std::span<std::vector<ir::type> const> regions = {});
  // Appends the terminator of the current region.
  void yield(std::span<ir::value_id const> results);
  // Adds results to an operation that was inserted without any.
  void set_results(ir::node_id n, std::span<ir::type const> results);
  ir::value_id literal(ir::type t, std::uint64_t bits);
  ir::value_id literal(double x);
  ir::value_id literal(float x);
  ir::value_id literal(std::int64_t x);
  ir::value_id literal(bool x);
  // The value converted to another type: a literal, if it is one; otherwise the result of an appended conversion.
  ir::value_id converted(ir::value_id v, ir::type to);

  std::vector<ir::type> types_of(std::span<ir::value_id const> values);

  template <class T>
  ir::value_id literal(T const& x) {
    if constexpr (is_array<T>) {
      std::vector<ir::value_id> elements;
      for (auto const& e : x) elements.push_back(literal(e));
      return add(ir::op::array, elements, ir_type_of<T>);
    } else {
      static_assert(std::is_integral_v<T>);
      return literal(static_cast<std::int64_t>(x));
    }
  }

  // Binds a native function, and returns its symbol. Further functions of the same name get a number suffix. Each call of the program
  // passes the object if it is one of `contexts`, or if the index `context` of one is given. O(native functions of this name).
  ir::symbol bind(
      std::string name, void (*run)(void*, void const* const*, void* const*), void* object,
      std::uint32_t context = ir::host_binding::no_context, void const* origin_in_cpp = nullptr,
      bool is_hook = false);

  // A hook of a context, for a call of one function.
  struct hook {
    std::string_view context, name, function;
    void (*run)(void*, void const* const*, void* const*); // the native function that calls the hook
    void* object;
    bool has_state; // whether the context has data members
  };
  // Appends the operation `host` that calls the hook.
  void add_hook(hook const& h, std::span<ir::value_id const> operands);
  // The memory of contexts that `enter` returned by value. They are destroyed at the end of the staged call, before the program runs.
  std::vector<std::span<std::byte const>> temporaries;

  // ---- functions

  struct staged {
    ir::function_id id;
    std::any results; // the tree of symbols that the body returned; empty while the body is being staged
  };
  // What distinguishes the staged functions of one C++ type.
  struct variant {
    std::vector<context_identity> contexts{};
    std::vector<std::size_t> lengths{}; // of the arguments that are trees of a run-time length
    void const* of = nullptr;           // the program, for a function of a program; otherwise null
    std::uint32_t number = 0;           // the index of that function
    auto operator<=>(variant const&) const = default;
  };
  // Mark the begin and the end of a run in a context. A context that later has the same address is another one.
  void begin_context(void const* object);
  void end_context(void const* object);
  // The key of a staged function: unique for the template that stages it, which `stager` identifies, and the variant.
  void const* key_of(void const* stager, variant v);
  // A copy of a program, which lives as long as the recorder. Equal programs share one copy, so that its address identifies them.
  // O(program).
  ir::program const& copy_of(ir::program const& p);
  // The staged function with this key; null if there is none.
  staged* find(void const* key);
  // The function of the number that `begin` returned.
  ir::function_id id_of(std::size_t number) const;
  // A function for temporary operations, which take() erases. They compute a value whose type is needed, and whose symbols are then
  // replaced.
  ir::function_id scratch();
  // Moves the program out. Functions of one name are numbered in the order of their signatures, whatever the order of staging.
  ir::program take();
  // Moves the program out, in canonical form.
  ir::program finish();
  // A function's name without the number of its signature: f for f#2.
  static std::string_view base_name(std::string_view name);
  // The name, or the name and the number of a signature, if a function has the name already.
  std::string unique_name(std::string_view name);
  struct function_to_stage {
    void const* key;
    std::string_view name;
    std::string_view origin_name; // of the function that this one is derived from; otherwise empty
    void const* origin_in_cpp;
  };
  // Stages a function. body(yielded) appends its operations, sets the values that the function yields, and returns the tree of them.
  // `results` has the types of the results if they are known before; otherwise it is empty.
  template <class Body>
  void stage_function(
      function_to_stage const& f, std::span<ir::value_id const> operands,
      std::vector<ir::type> const& results, Body const& body) {
    stage_function(f, operands, results, &body, [](void const* b, std::vector<ir::value_id>& yielded) {
      return (*static_cast<Body const*>(b))(yielded);
    });
  }
  // Appends a call of a function that has been staged, or is being staged, and returns its results.
  ir::id_range<ir::value_id>
  call(staged const& f, std::span<ir::value_id const> operands, std::uint8_t flags);
  // Adds a function whose body is staged next, and returns its number.
  std::size_t begin(void const* key, std::string_view name, std::span<ir::type const> parameters);
  // Ends the function of a number. `results` is the tree of symbols that its body returned.
  void end(std::size_t number, std::any results);

private:
  void stage_function(
      function_to_stage const& f, std::span<ir::value_id const> operands,
      std::vector<ir::type> const& results, void const* body,
      std::any (*stage)(void const* body, std::vector<ir::value_id>& yielded));
  [[noreturn]] void throw_nested(std::string_view name) const;
  void note_unrolled(ir::function_id f);

  // Whether an object is a local variable of a function that staging calls.
  bool is_local(void const* object) const;

  struct state;
  std::unique_ptr<state> state_;
  void const* stack_; // the address of the stack frame in which staging began
};

// A program whose entry applies an operation to two elements, as the combination of a reduction.
ir::program combination_by(ir::op operation, ir::type element);
// A program whose entry combines an initial value with the elements of an array, one after another: (array, initial value).
ir::program fold_by(ir::op operation, ir::type element);

} // namespace detail
} // namespace overdub
