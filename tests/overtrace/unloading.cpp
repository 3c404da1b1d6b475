// Calls a function of each of two shared objects: unloading.cpp <object> <function> <object> <function> [keep]. Without `keep`, the first one is
// unloaded before the second, which gets its addresses.
#include <cstdio>
#include <dlfcn.h>
#include <string>

int main(int count, char** arguments) {
  bool const keep = count > 5;
  for (int i = 1; i < 4; i += 2) {
    void* const object = dlopen((std::string(arguments[0]) + arguments[i]).c_str(), RTLD_NOW);
    if (object == nullptr) return 1;
    auto const function = reinterpret_cast<int (*)(int)>(dlsym(object, arguments[i + 1]));
    std::printf("%d\n", function(i));
    if (!keep) dlclose(object);
  }
}
