// An unusable cache directory: programs are compiled without it, nothing throws, and one message is printed.
#include "cache_folder.hpp"
#include "execute/texts.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace overdub;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

// Whether a program that adds a number returns the correct result.
bool compiles(std::shared_ptr<jit::disk_cache> const& cache, int by = 1) {
  ir::program const p =
      texts::program("func @f(%x: f64) -> f64 { %y = add %x, " + std::to_string(by) + ".0 : f64 return %y }");
  return jit::compile(p, {}, {.cache = cache}).call<double>(1.0) == 1 + by;
}

// A cache that records its messages.
struct reporting_cache {
  explicit reporting_cache(std::string const& path, jit::disk_use use = jit::disk_use::read_write)
      : cache(std::make_shared<jit::disk_cache>(
            path, jit::disk_limits(), use,
            [this](std::string const& problem) { reports.push_back(problem); })) {}
  reporting_cache(reporting_cache const&) = delete;
  reporting_cache& operator=(reporting_cache const&) = delete;

  std::vector<std::string> reports;
  std::shared_ptr<jit::disk_cache> cache;
  jit::disk_statistics statistics() const { return cache->statistics(); }
};

// A directory that is unusable from the beginning.
void does_without(std::string const& path, std::string const& why) {
  reporting_cache const c(path);
  CHECK_THAT(c.statistics().problem, StartsWith("overdub: the directory \"") && Contains(why));
  CHECK(compiles(c.cache));
  CHECK(compiles(c.cache));
  CHECK(c.statistics().hits == 0);
  CHECK(c.statistics().misses == 2);
  CHECK(c.statistics().stores == 0);
  CHECK(c.statistics().failures == 2);
  CHECK_THAT(c.statistics().last_failure, Contains(why));
  CHECK(c.reports.size() == 1);
  CHECK_THAT(c.reports.at(0), StartsWith("overdub: the directory \"") && Contains(why));
}

// Runs it in a process of its own; returns whether it succeeded.
bool holds_in_a_child(std::function<bool()> const& f) {
  pid_t const child = fork();
  if (child == 0) {
    alarm(60); // a deadlock is a failure
    _exit(f() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

TEST_CASE("links, and directories that others own or may write, are not used") {
  cache_folder const folder;
  auto const inside = [&](char const* name) { return folder.path() + "/" + name; };
  mkdir(inside("open").c_str(), 0700);
  for (mode_t const mode : {0770u, 0707u, 0777u}) {
    chmod(inside("open").c_str(), mode);
    does_without(inside("open"), "others than its owner may write to it; give a directory");
  }
  CHECK(std::filesystem::is_empty(inside("open")));
  chmod(inside("open").c_str(), 0755);
  CHECK(reporting_cache(inside("open")).statistics().problem.empty());

  std::filesystem::create_symlink(inside("open"), inside("link"));
  does_without(inside("link"), "it is a symbolic link; give the directory itself");
  does_without(inside("link/"), "it is a symbolic link; give the directory itself");
  write_bytes(inside("file"), "");
  does_without(inside("file"), "Not a directory");
  CHECK(mkfifo(inside("fifo").c_str(), 0600) == 0);
  does_without(inside("fifo"), "Not a directory");
  does_without(inside("no/such"), "No such file or directory");
  does_without("", "No such file or directory");

  if (geteuid() == 0) {
    CHECK(chown(inside("open").c_str(), 65534, 65534) == 0);
    does_without(inside("open"), "it belongs to user 65534, and the process runs as user 0");
  }
}

TEST_CASE("a read-only directory is neither created nor written to") {
  cache_folder const folder;
  reporting_cache const none(folder.path() + "/none", jit::disk_use::read_only);
  CHECK_THAT(none.statistics().problem, Contains("No such file or directory"));
  CHECK(compiles(none.cache));
  CHECK(none.reports.size() == 1);
  CHECK(none.statistics().failures == 0);
  CHECK(folder.files().empty());
}

TEST_CASE("a directory without write permission is read, and one message is printed when it is opened") {
  if (!std::filesystem::exists("/proc/self")) {
    WARN("left out: there is no /proc");
    return;
  }
  std::string const path = "/proc/" + std::to_string(getpid());
  reporting_cache const c(path);
  CHECK(c.reports.size() == 1);
  CHECK_THAT(c.reports.at(0), Contains("is read as a cache of machine code, and not written to: "));
  CHECK(compiles(c.cache));
  CHECK(compiles(c.cache));
  CHECK(c.reports.size() == 1);
  CHECK(c.statistics().failures == 2);
  CHECK_THAT(c.statistics().last_failure, Contains("a file cannot be made"));
  CHECK_THAT(c.statistics().problem, Contains("not written to"));
  CHECK(reporting_cache(path, jit::disk_use::read_only).reports.empty());
}

TEST_CASE(
    "a directory to which others get write access while it is open is not used until access is revoked") {
  cache_folder const folder;
  reporting_cache const c(folder.path());
  CHECK(compiles(c.cache));
  CHECK(compiles(c.cache));
  CHECK(c.statistics().hits == 1);
  auto const entry = folder.only_file();
  std::string const good = bytes_of(entry);

  for (mode_t const mode : {0720u, 0702u}) {
    chmod(folder.path().c_str(), mode);
    CHECK(compiles(c.cache));
    CHECK(compiles(c.cache, 2));
    CHECK_THAT(c.statistics().problem, Contains("others than its owner may write to it"));
  }
  CHECK(c.statistics().hits == 1);
  CHECK(c.statistics().rejected == 4);
  CHECK(c.statistics().failures == 4);
  CHECK_THAT(c.statistics().last_rejected, Contains("others than its owner may write to it"));
  c.cache->clear();
  CHECK(bytes_of(entry) == good); // nothing was written or removed
  CHECK(folder.files().size() == 1);
  CHECK(c.reports.size() == 1);
  if (geteuid() == 0) {
    chmod(folder.path().c_str(), 0700);
    CHECK(chown(folder.path().c_str(), 65534, 65534) == 0);
    CHECK(compiles(c.cache));
    CHECK_THAT(c.statistics().problem, Contains("it belongs to user 65534"));
    CHECK(c.statistics().hits == 1);
    CHECK(chown(folder.path().c_str(), 0, 0) == 0);
  }

  chmod(folder.path().c_str(), 0700);
  CHECK(compiles(c.cache));
  CHECK(c.statistics().hits == 2);
  CHECK(c.statistics().problem.empty());
}

TEST_CASE("a directory that is replaced while it is open is checked again") {
  cache_folder const folder;
  std::string const path = folder.path() + "/cache", old = folder.path() + "/old";
  reporting_cache const c(path);
  CHECK(compiles(c.cache));
  std::filesystem::rename(path, old);
  std::filesystem::create_symlink(old, path);
  CHECK(compiles(c.cache));
  CHECK(c.statistics().hits == 0);
  CHECK_THAT(c.statistics().problem, Contains("it is a symbolic link"));

  std::filesystem::remove(path);
  mkdir(path.c_str(), 0700);
  chmod(path.c_str(), 0777);
  CHECK(compiles(c.cache));
  CHECK(std::filesystem::is_empty(path));
  CHECK_THAT(c.statistics().problem, Contains("others than its owner"));

  std::filesystem::remove(path);
  std::filesystem::rename(old, path);
  CHECK(compiles(c.cache));
  CHECK(c.statistics().hits == 1);
  CHECK(c.statistics().problem.empty());
  CHECK(c.reports.size() == 1);
}

TEST_CASE("removing the directory of a cache is harmless") {
  cache_folder const folder;
  std::string const path = folder.path() + "/cache";
  reporting_cache const c(path);
  std::filesystem::remove_all(path);
  CHECK(compiles(c.cache));
  CHECK(c.statistics().failures == 1);
  CHECK(c.statistics().misses == 1);
  CHECK_THAT(c.statistics().problem, Contains("No such file or directory"));
  CHECK(c.reports.size() == 1);
  CHECK_FALSE(std::filesystem::exists(path)); // it is not created again
  mkdir(path.c_str(), 0700);
  CHECK(compiles(c.cache));
  CHECK(compiles(c.cache));
  CHECK(c.statistics().hits == 1);
  CHECK(c.statistics().problem.empty());
}

TEST_CASE("a relative path refers to the working directory in which the cache was opened") {
  cache_folder const folder;
  mkdir((folder.path() + "/cache").c_str(), 0700);
  CHECK(holds_in_a_child([&] {
    if (chdir(folder.path().c_str()) != 0) return false;
    auto const cache = std::make_shared<jit::disk_cache>("cache");
    return chdir("/") == 0 && compiles(cache) && compiles(cache) && cache->statistics().hits == 1;
  }));
}

TEST_CASE("FIFOs under the names of temporary files are skipped, and removed when they are old") {
  cache_folder const folder;
  CHECK(holds_in_a_child([&] {
    std::string const name = folder.path() + "/." + std::to_string(getpid()) + "-try.overdub-new";
    if (mkfifo(name.c_str(), 0600) != 0) return false;
    auto const cache = folder.open();
    if (!compiles(cache) || !compiles(cache) || cache->statistics().hits != 1) return false;
    timespec const long_ago[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    utimensat(AT_FDCWD, name.c_str(), long_ago, 0);
    folder.open();
    return !std::filesystem::exists(name);
  }));
}

TEST_CASE("if the file size limit is below an entry's size, programs are compiled, and not stored") {
  cache_folder const folder;
  CHECK(holds_in_a_child([&] {
    reporting_cache const c(folder.path());
    rlimit const small{300, 300};
    setrlimit(RLIMIT_FSIZE, &small); // else its signal ends this process
    return compiles(c.cache) && compiles(c.cache) && c.statistics().failures == 2 && c.reports.size() == 1 &&
           c.reports[0].find("RLIMIT_FSIZE") != std::string::npos && folder.files().empty();
  }));
}

TEST_CASE("on a full disk programs are compiled, and no temporary files remain") {
  cache_folder const folder;
  std::string const disk = folder.path() + "/disk";
  mkdir(disk.c_str(), 0700);
  if (mount("overdub", disk.c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0) {
    WARN("left out: a file system cannot be mounted here: " << std::strerror(errno));
    return;
  }
  {
    reporting_cache const c(disk);
    CHECK(compiles(c.cache));
    write_bytes(disk + "/rest", std::string(1 << 20, 'x')); // fills the disk
    CHECK(c.statistics().stores == 1);
    CHECK(compiles(c.cache));
    CHECK(c.statistics().hits == 1); // it is read nevertheless
    CHECK(compiles(c.cache, 2));
    CHECK(compiles(c.cache, 2));
    CHECK(c.statistics().failures == 2);
    CHECK(c.reports.size() == 1);
    CHECK_THAT(
        c.reports.at(0), Contains("not written to: a file cannot be written: No space left on device"));
    std::size_t files = 0;
    for (auto const& each : std::filesystem::directory_iterator(disk)) files += each.is_regular_file();
    CHECK(files == 2);
    std::filesystem::remove(disk + "/rest");
    CHECK(compiles(c.cache, 2));
    CHECK(c.statistics().stores == 2);
    CHECK(c.statistics().problem.empty());

    CHECK(mount("overdub", disk.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=64k,mode=0700") == 0);
    CHECK(compiles(c.cache));
    CHECK(compiles(c.cache, 3));
    CHECK(c.statistics().hits == 2);
    CHECK_THAT(c.statistics().problem, Contains("Read-only file system"));
    reporting_cache const again(disk);
    CHECK_THAT(again.statistics().problem, Contains("not written to: Read-only file system"));
    CHECK(compiles(again.cache));
    CHECK(again.statistics().hits == 1);
  }
  CHECK(umount(disk.c_str()) == 0);
}

TEST_CASE("if no file can be opened, programs are compiled") {
  cache_folder const folder;
  CHECK(holds_in_a_child([&] {
    reporting_cache const c(folder.path());
    if (!compiles(c.cache)) return false;
    rlimit const none{3, 3};
    setrlimit(RLIMIT_NOFILE, &none);
    return compiles(c.cache) && compiles(c.cache) && c.statistics().hits == 0 && c.reports.size() == 1 &&
           c.reports[0].find("Too many open files") != std::string::npos;
  }));
}

TEST_CASE("a problem without a handler is printed to stderr once; a handler may throw") {
  cache_folder const folder;
  auto const log = folder.path() + "/log";
  CHECK(holds_in_a_child([&] {
    int const file = open(log.c_str(), O_WRONLY | O_CREAT, 0600);
    dup2(file, STDERR_FILENO);
    auto const cache = std::make_shared<jit::disk_cache>(folder.path() + "/no/such");
    return compiles(cache) && compiles(cache);
  }));
  std::string const said = bytes_of(log);
  CHECK_THAT(
      said, StartsWith("overdub: the directory \"") && Contains("is not used as a cache of machine code"));
  CHECK(std::count(said.begin(), said.end(), '\n') == 1);

  auto const throws = [](std::string const&) { throw 1; };
  CHECK(
      compiles(std::make_shared<jit::disk_cache>("", jit::disk_limits(), jit::disk_use::read_write, throws)));
}
