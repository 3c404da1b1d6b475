// Native functions that a program knows by name itself (ir::program::hosts): the interpreter calls them on objects of C++.
#pragma once

#include <overdub/execute/host.hpp>
#include <overdub/ir/program.hpp>

#include <span>
#include <type_traits>
#include <variant>
#include <vector>

namespace overdub::execute {

/// An object of C++ for a value of a program, of at most two axes.
class native_object {
public:
  static bool holds(ir::type t) {
    ir::type element = t;
    element.rank = 0;
    return t.rank <= 2 && element.is_literal();
  }
  /// The object that a datum is.
  explicit native_object(datum const& d) : native_object(d.type()) {
    std::visit([&]<class T>(T& x) { x = d.as<T>(); }, held_);
  }
  /// An object of this type, to be assigned.
  explicit native_object(ir::type t) {
    auto const of = [&]<class T>(std::type_identity<T>) {
      if (t.rank == 0)
        held_.emplace<T>();
      else if (t.rank == 1)
        held_.emplace<array<T>>();
      else
        held_.emplace<array<array<T>>>();
    };
    switch (t.element) {
    case ir::scalar::boolean:
      of(std::type_identity<bool>{});
      break;
    case ir::scalar::i64:
      of(std::type_identity<i64>{});
      break;
    case ir::scalar::f32:
      of(std::type_identity<float>{});
      break;
    default:
      of(std::type_identity<double>{});
    }
  }
  void* address() {
    return std::visit([](auto& x) { return static_cast<void*>(&x); }, held_);
  }
  datum value() const {
    return std::visit([](auto const& x) { return datum(x); }, held_);
  }

private:
  std::variant<
      bool, i64, float, double, array<bool>, array<i64>, array<float>, array<double>, array<array<bool>>,
      array<array<i64>>, array<array<float>>, array<array<double>>>
      held_;
};

/// A program's native function, on data. Its types are those of the call: native_object::holds them.
inline host_function bound_function(ir::host_binding const& known) {
  host_function native;
  native.on_data = [known](std::span<datum const> data, std::span<ir::type const> results) {
    std::vector<native_object> objects(data.begin(), data.end());
    std::vector<native_object> made(results.begin(), results.end());
    std::vector<void const*> arguments;
    std::vector<void*> places;
    for (native_object& x : objects) arguments.push_back(x.address());
    for (native_object& x : made) places.push_back(x.address());
    known.run(known.object, arguments.data(), places.data());
    std::vector<datum> answer;
    for (native_object const& x : made) answer.push_back(x.value());
    return answer;
  };
  return native;
}

} // namespace overdub::execute
