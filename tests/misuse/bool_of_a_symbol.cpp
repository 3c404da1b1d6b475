// A branch on a value of a user-defined type that does not convert to bool.
// expect: overdub: a branch on a value whose type has no bool; use overdub::if_
// expect: "choose"
#include <overdub/overdub.hpp>

struct symbol {
  int id;
};
template <>
inline constexpr bool overdub::is_scalar_leaf<symbol> = true;

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
