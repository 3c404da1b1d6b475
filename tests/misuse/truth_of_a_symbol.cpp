// A branch on a value of a type of the user's that has no truth yet.
// expect: overdub: a branch on a value that has no truth here; use overdub::if_
// expect: "choose"
#include <overdub/overdub.hpp>

struct symbol {
  int id;
};
template <>
inline constexpr bool overdub::is_carried<symbol> = true;

constexpr auto choose = overdub::fn<"choose">([](auto condition) {
#ifdef OVERDUB_MENDED
  return condition;
#else
  return condition ? condition : condition;
#endif
});

int run() {
  overdub::context context;
  return overdub::run(context, choose, symbol{1}).id;
}
