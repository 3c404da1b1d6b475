// Names at compile time: string literals as template arguments, and the names of types.
#pragma once

#include <overdub/core/requirements.hpp>

#include <cstddef>
#include <string_view>

namespace overdub {

/// A string literal as a template argument: `fn<"norm">`.
template <std::size_t N>
struct fixed_string {
  char text[N]{};

  consteval fixed_string(char const (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

namespace detail {

// Two names in one, as a template argument.
template <fixed_string A, fixed_string B>
consteval auto joined_names() {
  constexpr std::size_t first = sizeof A.text - 1;
  char text[first + sizeof B.text]{};
  for (std::size_t i = 0; i < first; ++i) text[i] = A.text[i];
  for (std::size_t i = 0; i < sizeof B.text; ++i) text[first + i] = B.text[i];
  return fixed_string<sizeof text>(text);
}
// The name of a callee, as a template argument.
template <class F>
consteval auto fixed_name_of() {
  char text[F::name().size() + 1]{};
  for (std::size_t i = 0; i < F::name().size(); ++i) text[i] = F::name()[i];
  return fixed_string<sizeof text>(text);
}

// Whether a name ends in # and a number, as do the names of a function's versions in programs: norm#2.
constexpr bool names_version(std::string_view name) {
  auto const behind = name.find_last_not_of("0123456789");
  return behind != name.npos && behind > 0 && behind + 1 < name.size() && name[behind] == '#';
}

template <class T>
consteval std::string_view qualified_type_name() {
  std::string_view text = __PRETTY_FUNCTION__;
  auto const begin = text.find("T = ") + 4;
  auto end = text.find(';', begin); // in g++'s text "; std::string_view = ..." follows
  if (end == std::string_view::npos) end = text.rfind(']');
  return text.substr(begin, end - begin);
}

} // namespace detail

/// The name of a class without its namespaces: `forward<3>` for `overdub::contexts::forward<3>`.
template <class T>
consteval std::string_view type_name() {
  auto text = detail::qualified_type_name<T>();
  auto const parameters = text.find('<');
  auto const scope = text.substr(0, parameters).rfind("::");
  if (scope != std::string_view::npos) text.remove_prefix(scope + 2);
  return text;
}

namespace detail {

/// Several string views joined by dots, in static storage.
template <std::string_view const&... Parts>
struct joined {
  static constexpr auto text = [] {
    struct {
      char data[(Parts.size() + ... + 0) + sizeof...(Parts)]{};
    } out;
    std::size_t at = 0;
    auto append = [&](std::string_view part) {
      for (char c : part) out.data[at++] = c;
      out.data[at++] = '.';
    };
    (append(Parts), ...);
    return out;
  }();
  static constexpr std::string_view value{text.data, sizeof(text.data) - 1};
};

} // namespace detail
} // namespace overdub
