// recorder<"A">: a context that records the names of the callees of the calls that it observes. Several
// recorders can append to one list.
#pragma once

#include <overdub/overdub.hpp>

#include <exception>
#include <string>
#include <string_view>
#include <vector>

using events = std::vector<std::string>;

inline std::string entry(std::string_view context, std::string_view what, std::string_view callee) {
  std::string line(context);
  if (!what.empty()) line.append(" ").append(what);
  return line.append(" ").append(callee);
}

// Before each call: "A norm".
template <overdub::fixed_string Name>
struct recorder : overdub::context {
  static constexpr std::string_view name = Name.view();
  events* list;
  explicit recorder(events& e) : list(&e) {}
  void before(overdub::callee auto f, auto const&...) { list->push_back(entry(name, "", f.name())); }
};

// After each call: "A after norm"; if an exception left the call, "A failed norm".
template <overdub::fixed_string Name>
struct end_recorder : overdub::context {
  static constexpr std::string_view name = Name.view();
  events* list;
  explicit end_recorder(events& e) : list(&e) {}
  void after(overdub::callee auto f, auto const&, auto const&...) {
    list->push_back(entry(name, "after", f.name()));
  }
  void failed(overdub::callee auto f, std::exception_ptr, auto const&...) {
    list->push_back(entry(name, "failed", f.name()));
  }
};

// All of these hooks.
template <overdub::fixed_string Name>
struct full_recorder : overdub::extends<recorder<Name>, end_recorder<Name>> {
  static constexpr std::string_view name = Name.view();
  explicit full_recorder(events& e)
      : overdub::extends<recorder<Name>, end_recorder<Name>>{recorder<Name>(e), end_recorder<Name>(e)} {}
};

// The program that the tests of the order run: one call in each statement.
inline constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });
inline constexpr auto norm = overdub::fn<"norm">([](auto x, auto y) {
  auto a = square(x);
  auto b = square(y);
  auto s = a + b;
  return sqrt(s);
});
