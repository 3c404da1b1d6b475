// A host that records calls of its plugins, closes the plugins, and reads the recording. It is linked twice, with exported
// symbols and without.
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/memoize.hpp>
#include <overdub/contexts/profile.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/overdub.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <sstream>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace od = overdub;
namespace contexts = overdub::contexts;

namespace {

int faults = 0;
void check(bool right, char const* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++faults;
}

// A plugin while it is open.
class plugin {
public:
  explicit plugin(char const* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) std::puts(dlerror()), std::exit(99);
  }
  plugin(plugin const&) = delete;
  plugin& operator=(plugin const&) = delete;
  ~plugin() { dlclose(handle_); }
  template <class F>
  F* function(char const* name) const {
    return reinterpret_cast<F*>(dlsym(handle_, name));
  }

private:
  void* handle_;
};

plugin const* current = nullptr;
inline constexpr auto call_plugin =
    od::leaf<"call_plugin">([](double x) { return current->function<double(double)>("traced")(x); });
inline constexpr auto square = od::fn<"square">([](auto x) { return x * x; });

bool has(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }

void test_recordings(char** paths) {
  contexts::recording spans;
  for (int i = 0; i < 2; ++i) {
    plugin const p(paths[i]);
    current = &p;
    check(od::run(contexts::trace{}, call_plugin, 3.0) == 9.0 * (2 + i), "a traced call's value");
    p.function<double(double)>("trace_counted")(3.0);
    std::thread([&] { p.function<double(double)>("traced")(3.0); }).join();
  }
  // The plugins are closed.
  for (int i = 0; i < 100; ++i) od::run(contexts::trace{}, square, 2.0);
  check(spans.statistics().records == 2 * (3 + 3 + 2 + 2 + 100), "all calls are recorded");
  check(spans.statistics().threads == 2, "a thread has one track, whoever calls");
  std::string const folded = spans.text(contexts::trace_format::folded);
  check(has(folded, "main;call_plugin;own 2;loss "), "spans of the first plugin are nested in the host's");
  check(has(folded, "main;call_plugin;own 3;loss "), "spans of the second plugin are nested in the host's");
  check(has(folded, "thread 2;own 2;loss ") && has(folded, "thread 2;own 3;loss "), "spans of other threads");
  auto const counts = spans.counts();
  check(counts.at("own 2") == 1 && counts.at("own 3") == 1 && counts.at("loss") == 2, "counts of plugins");
  spans.stop();

  // A plugin that is opened again is recorded again, also by another recording.
  contexts::trace_file file("/dev/null", contexts::trace_format::chrome);
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 2; ++i) {
      plugin const p(paths[i]);
      p.function<double(double)>("traced")(3.0);
    }
  file.finish();
  check(file.statistics().records == 6 * 4, "plugins that are opened again are recorded");
}

// Handlers that call a plugin while the host records, and children of fork that do.
double (*interrupting)(double) = nullptr;
void test_processes(char** paths) {
  plugin const p(paths[0]), q(paths[1]);
  interrupting = q.function<double(double)>("traced");
  current = &p;
  contexts::trace_file file("/dev/null", contexts::trace_format::chrome, {.records = 64});
  interrupting(3.0);
  std::signal(SIGALRM, [](int) { interrupting(3.0); });
  itimerval const often{{0, 100}, {0, 100}}, never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  for (int i = 0; i < 100'000; ++i) od::run(contexts::trace{}, call_plugin, 3.0);
  setitimer(ITIMER_REAL, &never, nullptr);
  check(file.statistics().records >= 600'000, "handlers of a plugin interrupt the host's records");

  pid_t const child = fork();
  if (child == 0) {
    alarm(60);
    std::signal(SIGALRM, SIG_DFL);
    for (int i = 0; i < 10'000; ++i) od::run(contexts::trace{}, call_plugin, 3.0);
    contexts::recording own;
    od::run(contexts::trace{}, call_plugin, 3.0);
    _exit(own.statistics().records == 6 && file.statistics().records == 0 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  check(status == 0, "a child of fork records for itself, the plugins' calls included");
  file.finish();
}

void test_contexts(char** paths) {
  contexts::count_each each;
  contexts::profile profile;
  contexts::memoize known;
  for (int i = 0; i < 2; ++i) {
    plugin const p(paths[i]);
    double const wanted = 9.0 * (2 + i);
    check(p.function<double(void*, double)>("count")(&each, 3.0) == wanted, "a counted call");
    check(p.function<double(void*, double)>("profile")(&profile, 3.0) == wanted, "a profiled call");
    check(p.function<double(void*, double)>("memoize")(&known, 3.0) == wanted, "a memoized call");
    check(p.function<double(void*, double)>("memoize")(&known, 3.0) == wanted, "a repeated call");
  }
  // The plugins are closed.
  check(each.calls("own 2") == 1 && each.calls("own 3", "loss") == 1 && each.calls("loss") == 2, "counts");
  std::ostringstream table, stacks;
  table << profile;
  profile.write_folded(stacks);
  check(has(table.str(), "own 2") && has(stacks.str(), "own 3;loss "), "a profile");
  check(known.entries == 2 && known.hits == 2, "functions of one name in two plugins are two functions");
}

void test_exceptions(char** paths) {
  plugin const p(paths[0]);
  double numbers[]{1, 2};
  auto const at = p.function<double(double*, long, long)>("at");
  check(at(numbers, 2, 1) == 2, "an element");
  bool by_type = false, by_base = false;
  try {
    at(numbers, 2, 5);
  } catch (od::index_error const&) {
    by_type = true;
  }
  try {
    at(numbers, 2, -1);
  } catch (od::error const& e) {
    by_base = has(e.what(), "overdub: ");
  }
  check(by_type && by_base, "exceptions of a plugin are caught by their types");
}

} // namespace

int main(int, char** arguments) {
  test_recordings(arguments + 1);
  test_processes(arguments + 1);
  test_contexts(arguments + 1);
  test_exceptions(arguments + 1);
  return faults;
}
