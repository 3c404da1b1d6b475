// The values of a function of a program while it is evaluated in the contexts of a stack.
#pragma once

#include <overdub/ir/function.hpp>
#include <overdub/stage/cell.hpp>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

template <class S>
struct closure;

// A value of the function: a leaf, a function value, or an accumulator.
template <class S>
struct slot {
  mutable cell<S> leaf = {}; // made from the symbol at the first read
  std::shared_ptr<closure<S>> function_value = {};
  std::vector<ir::value_id> accumulators = {}; // symbols, in symbolic contexts
  ir::value_id symbol = ir::nothing; // of an unknown function value, or of a result of a copied operation
  ir::type type = {};                // the symbol's type in the program that is evaluated
};

// A function value: a function of the program, and its captured values.
template <class S>
struct closure {
  ir::function_id f;
  std::vector<slot<S>> captured;
  std::shared_ptr<closure> next = {}; // in the list of closures to destroy

  // Chains of function values that capture one another may be long: they are destroyed without recursion.
  ~closure() {
    std::shared_ptr<closure> left;
    auto const take_from = [&](closure& c) {
      for (slot<S>& s : c.captured) {
        std::shared_ptr<closure> inner = std::move(s.function_value);
        if (inner.use_count() != 1) continue;
        inner->next = std::move(left);
        left = std::move(inner);
      }
    };
    take_from(*this);
    while (left) {
      std::shared_ptr<closure> const one = std::move(left);
      left = std::move(one->next);
      take_from(*one);
    }
  }
};

// A call of a function: its values so far.
template <class S>
struct frame {
  explicit frame(ir::function const& of) : f(of), slots(of.value_count()) {}

  slot<S>& operator[](ir::value_id v) { return slots[index_of(v)]; }

  ir::function const& f;
  std::vector<slot<S>> slots;
};

// Whether values of a type are cells.
inline bool is_cell(ir::type t) { return t.rank <= 2 && t.element <= ir::scalar::f64 && !t.is_function(); }

// Calls f with the value of a cell and its C++ type without contexts.
template <class Cell, class F>
decltype(auto) opened(Cell const& c, F const& f) {
  return c.visit([&]<class X>(X const& x) { return f(x, std::type_identity<plain_t<X>>{}); });
}

// Converts a cell to one of another list of types. Throws evaluation_error for ranks that are too high.
template <class To, class From>
To cell_as(From const& from) {
  return from.visit([]<class X>(X const& x) -> To {
    if constexpr (std::is_constructible_v<To, X const&>)
      return To(x);
    else
      throw evaluation_error(message("overdub: evaluate: an array of rank 3 or higher; evaluation goes up "
                                     "to rank 2, use an executable"));
  });
}
template <class To, class From>
std::vector<To> cells_as(std::vector<From> const& all) {
  std::vector<To> result;
  for (auto const& x : all) result.push_back(detail::cell_as<To>(x));
  return result;
}

template <class S, class X>
void append_slots(std::vector<slot<S>>& slots, X const& x) {
  slots.push_back({cell<S>(x)});
}
template <class S, class Cell>
void append_slots(std::vector<slot<S>>& slots, std::vector<Cell> const& all) {
  for (auto const& each : all) slots.push_back({detail::cell_as<cell<S>>(each)});
}

} // namespace overdub::detail
