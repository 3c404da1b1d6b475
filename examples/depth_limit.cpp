// enter and leave: a context decides, by type, which functions it enters. Here: an outline of the
// calls, to a depth. The functions that it leaves are plain functions, without overhead.
#include <overdub/overdub.hpp>

#include <iostream>
#include <sstream>
#include <string>

namespace od = overdub;

template <int Depth>
struct outline : od::context {
  std::ostream* out;
  std::size_t indent;

  explicit outline(std::ostream& stream, std::size_t indentation = 0) : out(&stream), indent(indentation) {}

  void before(od::function auto f, auto const&...) {
    *out << std::string(2 * indent, ' ') << f.name() << '\n';
  }
  // The context of the function's body: one level less, or none.
  auto enter(od::function auto) {
    if constexpr (Depth > 1)
      return outline<Depth - 1>(*out, indent + 1);
    else
      return od::leave;
  }
};

inline constexpr auto weight = od::fn<"weight">([](auto x) { return exp(-x * x); });
inline constexpr auto moment = od::fn<"moment">([](auto x) {
  auto const w = weight(x);
  return w * x;
});
inline constexpr auto ratio = od::fn<"ratio">([](auto x) {
  auto const m = moment(x);
  auto const w = weight(x);
  return m / w;
});

std::string outlined(auto context, std::ostringstream& text) {
  od::run(context, ratio, 0.5);
  return text.str();
}

int main() {
  std::ostringstream one, two, three;
  auto const first = outlined(outline<1>(one), one);
  auto const second = outlined(outline<2>(two), two);
  auto const third = outlined(outline<3>(three), three);
  std::cout << "to depth 1\n" << first << "to depth 2\n" << second << "to depth 3\n" << third;
  bool const right = first == "ratio\n" && second == "ratio\n  moment\n  weight\n" &&
                     third == "ratio\n  moment\n    weight\n  weight\n";
  return right ? 0 : 1;
}
