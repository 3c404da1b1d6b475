// The recorder: the program that is being staged, and the region to which operations are appended.
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

class recorder {
public:
  static constexpr int most_nested = 64;
  static constexpr std::uint32_t unrolled = 1000; // a function with more operations gets a note

  recorder();
  recorder(recorder const&) = delete;
  recorder& operator=(recorder const&) = delete;
  ~recorder();

  ir::program program;
  // The memory of a context object during staging. A call of the program supplies its own object in place of it.
  struct context_of_call {
    std::byte* begin;
    std::size_t size;
  };
  std::vector<context_of_call> contexts; // outermost first
  // The index of the context that is this object; the number of contexts, if none is.
  std::size_t context_at(void const* object) const {
    std::size_t i = 0;
    while (i < contexts.size() && contexts[i].begin != object) ++i;
    return i;
  }

  /// The cursor at which operations are appended.
  ir::cursor& at();
  /// The function to which operations are appended.
  ir::function const& here();

  // ---- the current region

  // Appends operations to a region of the current function, or of another one, until the end of the scope.
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
  // An elementwise operation, whose operands are converted to the types that it takes; op::none converts its operand to the result's type.
  ir::value_id elementwise(ir::op code, std::span<ir::value_id> operands, ir::type result);
  ir::node_id insert(
      ir::op code, std::span<ir::value_id const> operands, std::span<ir::type const> results,
      ir::attributes const& a = {}, std::span<std::vector<ir::type> const> regions = {});
  // Ends the current region.
  void yield(std::span<ir::value_id const> results);
  // Adds results to an operation that was inserted without results.
  void set_results(ir::node_id n, std::span<ir::type const> results);
  ir::value_id literal(ir::type t, std::uint64_t bits);
  ir::value_id literal(double x);
  ir::value_id literal(float x);
  ir::value_id literal(std::int64_t x);
  ir::value_id literal(bool x);
  // Converts a value to another type. A literal is converted during staging.
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

  // Binds a native function; returns its symbol. Different functions of one name get a number after it. If the object is one of `contexts`,
  // or the index `context` of one is given, each call of the program supplies the object. O(native functions of the name).
  ir::symbol bind(
      std::string name, void (*run)(void*, void const* const*, void* const*), void* object,
      std::uint32_t context = ir::host_binding::no_context, void const* origin_in_cpp = nullptr,
      bool is_hook = false);

  // A hook of a context for a function, and the native function that calls it.
  struct hook {
    std::string_view context, name, function;
    void (*run)(void*, void const* const*, void* const*);
    void* object;
    bool has_state;
  };
  void add_hook(hook const& h, std::span<ir::value_id const> operands);
  // Contexts that `enter` returned by value, whose calls are being staged. They are destroyed before the program runs.
  std::vector<std::span<std::byte const>> temporaries;

  // ---- functions

  struct staged {
    ir::function_id id;
    std::any results; // the tree of symbols that it returns; empty until its body has been staged
  };
  // What distinguishes the staged functions of one C++ type.
  struct variant {
    std::vector<context_identity> contexts{};
    std::vector<std::size_t> lengths{}; // of its arguments that are trees of run-time lengths
    void const* of = nullptr;           // the function of a program, if it is one
    std::uint32_t number = 0;
    auto operator<=>(variant const&) const = default;
  };
  // A run in a context begins, and ends: afterwards another context may have its address.
  void begin_context(void const* object);
  void end_context(void const* object);
  // The key of a staged function: by the template that stages it, and by its variant.
  void const* key_of(void const* way, variant v);
  // A copy of a program that lives as long as the recorder. Equal programs have one copy, whose address identifies them. O(programs).
  ir::program const& kept(ir::program const& p);
  // The staged function with this key; null, if there is none.
  staged* find(void const* key);
  ir::function_id id_of(std::size_t number) const;
  // A function for temporary operations: they create a value of a type, whose symbols are then replaced.
  ir::function_id scratch();
  // Returns the program. Functions of one name are numbered by their signatures, independently of the order of staging.
  ir::program take();
  // Returns the program in canonical form.
  ir::program finish();
  // The name without the number of its signature: f of f#2.
  static std::string_view base_name(std::string_view name);
  // A name that no function has: the name itself, or the name followed by a number.
  std::string unique_name(std::string_view name);
  // Stages a function. The body appends its operations, sets the values that it yields, and returns their tree. `results` has the types of
  // the results, if they are known before.
  struct function_to_stage {
    void const* key;
    std::string_view name;
    std::string_view origin_name; // of a function that is derived from it; else empty
    void const* origin_in_cpp;
  };
  template <class Body>
  void stage_function(
      function_to_stage const& f, std::span<ir::value_id const> operands,
      std::vector<ir::type> const& results, Body const& body) {
    stage_function(f, operands, results, &body, [](void const* b, std::vector<ir::value_id>& yielded) {
      return (*static_cast<Body const*>(b))(yielded);
    });
  }
  // Calls a function that has been staged, or is being staged; returns the results.
  ir::id_range<ir::value_id>
  call(staged const& f, std::span<ir::value_id const> operands, std::uint8_t flags);
  // Begins a function whose body is staged next; returns its number.
  std::size_t begin(void const* key, std::string_view name, std::span<ir::type const> parameters);
  // Ends a function. `results` is the tree of symbols that its body returned.
  void end(std::size_t number, std::any results);

private:
  void stage_function(
      function_to_stage const& f, std::span<ir::value_id const> operands,
      std::vector<ir::type> const& results, void const* body,
      std::any (*stage)(void const* body, std::vector<ir::value_id>& yielded));
  [[noreturn]] void throw_nested(std::string_view name) const;
  void note_unrolled(ir::function_id f);

  bool is_local(void const* object) const;

  struct tables;
  std::unique_ptr<tables> tables_;
  void const* stack_; // the stack at the beginning of staging
};

// A program whose entry combines two elements by one operation.
ir::program combination_by(ir::op operation, ir::type element);

} // namespace detail
} // namespace overdub
