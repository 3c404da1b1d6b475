// log: the calls of a program as a tree, with arguments and results.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/overdub.hpp>

#include <exception>
#include <iostream>
#include <locale>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub::contexts {

/// Writes a line a call: `mul(3, 4) = 12`. A call that makes others is opened above them, and closed by its
/// result. Numbers have the stream's precision and flags, and the form of the "C" locale whatever locale the stream has.
struct log : context {
  using observes_any_callee = log;

  std::ostream* out = &std::clog;

  log() = default;
  explicit log(std::ostream& stream) : out(&stream) {}

  template <callee F>
  void before(F, auto const&... x) {
    if (open_) *out << '\n';
    indent();
    *out << F::name() << '(';
    [[maybe_unused]] bool first = true;
    ((*out << (std::exchange(first, false) ? "" : ", "), write(x)), ...);
    *out << ')';
    open_ = true;
    ++depth_;
  }
  void after(callee auto, auto const& result, auto const&...) {
    close();
    *out << "= ";
    write(result);
    *out << '\n';
  }
  void failed(callee auto, std::exception_ptr failure, auto const&...) {
    close();
    try {
      std::rethrow_exception(failure);
    } catch (std::exception const& e) {
      *out << "threw " << e.what() << '\n';
    } catch (...) {
      *out << "threw\n";
    }
  }

  /// Writes a line for a call with plain arguments, where it is made: in checked builds, and those with ambient contexts.
  void unseen(std::string_view callee, std::string_view) {
    if (open_) *out << '\n';
    open_ = false;
    indent();
    *out << callee << " is called with plain arguments, and is not seen: cx(" << callee << ", ...)\n";
  }

private:
  void indent() { *out << std::string(2 * static_cast<std::size_t>(depth_), ' '); }

  // A result is written after its call, or in a separate line after the calls that it made.
  void close() {
    --depth_;
    if (open_)
      *out << ' ';
    else
      indent();
    open_ = false;
  }

  template <class X>
  void write(X const& x) {
    if constexpr (requires { x.visit([](auto const&) {}); }) // of a type that is known when the program is
      x ? x.visit([&](auto const& held) { this->write(held); }) : void(*out << "...");
    else if constexpr (std::is_same_v<X, bool>)
      *out << (x ? "true" : "false");
    else if constexpr (std::is_floating_point_v<X>)
      overdub::is_nan(x) ? void(*out << "nan")
                         : write_plain(x); // its sign says nothing, and compilers differ in it
    else if constexpr (callee<X>)
      *out << X::name();
    else if constexpr (overdub::detail::expected_like<X>) {
      *out << (x.has_value() ? "" : "unexpected ");
      x.has_value() ? this->write(concrete(*x)) : this->write(concrete(x.error()));
    } else if constexpr (overdub::detail::optional_like<X>)
      x.has_value() ? this->write(concrete(*x)) : void(*out << "nothing");
    else if constexpr (requires { typename X::function_type; })
      write(x.f); // a function in outer contexts
    else if constexpr (
        type_name<X>().find("<lambda") != std::string_view::npos ||
        type_name<X>().find("(lambda") != std::string_view::npos)
      *out << "<lambda>"; // asked first: one without captures becomes a pointer, which a stream takes
    else if constexpr (
        requires {
          x.size();
          x.data();
          *x.begin();
        } &&
        !std::is_convertible_v<X, std::string_view>) {
      constexpr int shown = 4;
      *out << '[';
      int i = 0;
      for (auto it = x.begin(); it != x.end() && i < shown; ++it, ++i) {
        if (i > 0) *out << ", ";
        write(*it);
      }
      if (i < static_cast<int>(x.size())) *out << ", ... " << io::number_text(x.size()) << " elements";
      *out << ']';
    } else if constexpr (requires { std::tuple_size<X>::value; }) {
      *out << '{';
      bool first = true;
      std::apply(
          [&](auto const&... e) { ((*out << (std::exchange(first, false) ? "" : ", "), write(e)), ...); }, x);
      *out << '}';
    } else if constexpr (requires { *out << x; })
      write_plain(x);
    else
      *out << type_name<X>();
  }

  // Through a stream of its own, since the locale of a stream is that of its buffer, too, which may convert characters by it.
  template <class X>
  void write_plain(X const& x) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text.flags(out->flags());
    text.precision(out->precision());
    text << x;
    *out << std::move(text).str();
  }

  int depth_ = 0;
  bool open_ = false; // the line of the last call has no end yet
};

} // namespace overdub::contexts
