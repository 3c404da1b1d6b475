// Opens plugins, RTLD_LOCAL, and runs the test of each one twice, so that each runs after the other.
#include <cstdio>
#include <dlfcn.h>

int main(int count, char** paths) {
  int faults = 0;
  for (int round = 0; round < 2; ++round)
    for (int i = 1; i < count; ++i) {
      void* const plugin = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
      if (plugin == nullptr) return std::puts(dlerror()), 99;
      int const here = reinterpret_cast<int (*)()>(dlsym(plugin, "faults"))();
      std::printf("%s: %d faults\n", paths[i], here);
      faults += here;
      dlclose(plugin); // compiled code remains loaded
    }
  return faults;
}
