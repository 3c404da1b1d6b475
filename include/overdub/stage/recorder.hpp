// The program that is being staged, and the places in it where operations are appended.
#pragma once

#include <overdub/call/error.hpp>
#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/stage/symbol.hpp>

#include <any>
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

/// A program could not be staged.
struct OVERDUB_EXPORTED staging_error : rejected_program {
  using rejected_program::rejected_program;
};

namespace detail {

class recorder {
public:
  static constexpr int most_signatures = 64;
  static constexpr std::uint32_t unrolled = 1000; // operations in one function, from which on a note is made

  recorder();
  recorder(recorder const&) = delete;
  recorder& operator=(recorder const&) = delete;
  ~recorder();

  ir::program program;
  // Where a context of the runs that will call the program stands now: they bring the objects themselves.
  struct context_of_call {
    std::byte* begin;
    std::size_t size;
  };
  std::vector<context_of_call> contexts; // outermost first
  // The number of the context that stands there; as many as there are, if none does.
  std::size_t context_at(void const* object) const {
    std::size_t i = 0;
    while (i < contexts.size() && contexts[i].begin != object) ++i;
    return i;
  }

  /// Where operations are appended.
  ir::cursor& at();
  /// The function that they are appended to.
  ir::function const& here();

  // ---- where operations go

  // Operations go into a region of the function at hand, or of another one, until the end of the scope.
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
  ir::node_id insert(
      ir::op code, std::span<ir::value_id const> operands, std::span<ir::type const> results,
      ir::attributes const& a = {}, std::span<std::vector<ir::type> const> regions = {});
  // Ends the region at hand.
  void yield(std::span<ir::value_id const> results);
  // Results for an operation that was inserted without any.
  void set_results(ir::node_id n, std::span<ir::type const> results);
  ir::value_id literal(ir::type t, std::uint64_t bits);
  ir::value_id literal(double x);
  ir::value_id literal(float x);
  ir::value_id literal(std::int64_t x);
  ir::value_id literal(bool x);
  // The value as one of another type: a literal at once.
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

  // The symbol of a native function. Others of the name have a number behind it. O(natives of the name). An object that is one of `contexts` is
  // brought by each call of the program; or the number of one is given.
  ir::symbol bind(
      std::string name, void (*run)(void*, void const* const*, void* const*), void* object,
      std::uint32_t context = ir::host_binding::no_context, void const* origin_in_cpp = nullptr);

  // A hook of a context that observes a function, and how it is called.
  struct hook {
    std::string_view context, name, function;
    void (*run)(void*, void const* const*, void* const*);
    void* object;
    bool has_state;
  };
  void add_hook(hook const& h, std::span<ir::value_id const> operands);
  // Contexts that `enter` gave by value, whose calls are being staged. They end before the program runs.
  std::vector<std::span<std::byte const>> temporaries;

  // ---- functions

  struct staged {
    ir::function_id id;
    std::any results; // a tree of symbols of what it returns, when its body has been staged
  };
  // The key of a function that is made in some way: of a program's function, and with hooks of these objects.
  void const* key_of(
      void const* way, std::vector<void const*> objects, void const* of = nullptr, std::uint32_t number = 0);
  // A copy of a program that lives as long as this: its address tells it from others. One for equal programs. O(programs).
  ir::program const& kept(ir::program const& p);
  // What is known of a function called with arguments of certain types; told by the address of their key.
  staged* find(void const* key);
  ir::function_id id_of(std::size_t number) const;
  // A function for operations that nobody needs: those that make a value of a type, to be filled with other symbols.
  ir::function_id scratch();
  // The program: functions of one name are numbered by their signatures, whichever was staged first.
  ir::program take();
  // The same in canonical form.
  ir::program finish();
  // The name without the number of its signature: f of f#2.
  static std::string_view base_name(std::string_view name);
  // Of several functions of one name the first has it, the others have a number behind it.
  std::string unique_name(std::string_view name);
  // Begins a function, whose body is staged next.
  std::size_t begin(void const* key, std::string_view name, std::span<ir::type const> parameters);
  // Ends it: `results` is what its body returned.
  void end(std::size_t number, std::any results);

private:
  [[noreturn]] void throw_signatures(std::string_view name) const;
  void note_unrolled(ir::function_id f);

  struct tables;
  std::unique_ptr<tables> tables_;
};

// A program whose entry combines two elements by one operation.
ir::program combination_by(ir::op operation, ir::type element);

} // namespace detail
} // namespace overdub

#if OVERDUB_HEADER_ONLY
#include <overdub/stage/recorder.ipp>
#endif
