#include <overdub/implementation/execute/native_host.hpp>

#include <array>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

namespace overdub::execute {

// A C++ object whose address is passed to a native function.
using native_object = std::variant<
    std::monostate, bool, i64, float, double, array<bool>, array<i64>, array<float>, array<double>,
    array<array<bool>>, array<array<i64>>, array<array<float>>, array<array<double>>>;

host_function
bound_function(ir::host_binding const& b, std::vector<ir::type> parameters, std::vector<ir::type> results) {
  typed_host call = [b, parameters,
                     results](machine& m, std::byte* frame, offset const* from, offset const* to) {
    constexpr std::size_t few = 8; // without allocation
    std::size_t const count = parameters.size() + results.size();
    std::array<native_object, few> few_objects;
    std::array<void*, few> few_places{};
    std::vector<native_object> many_objects(count > few ? count : 0);
    std::vector<void*> many_places(many_objects.size());
    native_object* const objects = count > few ? many_objects.data() : few_objects.data();
    void** const places = count > few ? many_places.data() : few_places.data();

    std::size_t k = 0;
    for (std::size_t i = 0; i < parameters.size(); ++i, ++k)
      places[k] = with_native_type(parameters[i], [&]<class T>() -> void* {
        return &objects[k].emplace<T>(argument<T>(m, frame, from[i]));
      });
    for (std::size_t i = 0; i < results.size(); ++i, ++k)
      places[k] = with_native_type(results[i], [&]<class T>() -> void* { return &objects[k].emplace<T>(); });
    void* const object = b.context == ir::host_binding::no_context ? b.object : context_of(m, b);
    b.run(object, places, places + parameters.size());
    for (std::size_t i = 0; i < results.size(); ++i)
      with_native_type(results[i], [&]<class T>() {
        deliver(m, frame, to[i], *static_cast<T const*>(places[parameters.size() + i]));
      });
  };
  return {{}, std::move(call), std::move(parameters), std::move(results)};
}

} // namespace overdub::execute
