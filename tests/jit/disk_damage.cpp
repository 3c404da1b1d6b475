// The disk cache trusts no file: damaged, foreign and unsafe entries are recompiled.
#include "cache_folder.hpp"
#include "execute/texts.hpp"

#include <cstdio>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

using namespace overdub;
using Catch::Matchers::Contains;

executable compiled(std::string const& text, std::shared_ptr<jit::disk_cache> const& cache) {
  return jit::compile(texts::program(text), {}, {.cache = cache});
}
bool made_socket(std::filesystem::path const& at) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::snprintf(name.sun_path, sizeof name.sun_path, "%s", at.c_str());
  int const made = socket(AF_UNIX, SOCK_STREAM, 0);
  bool const bound = bind(made, reinterpret_cast<sockaddr const*>(&name), sizeof name) == 0;
  close(made);
  return bound;
}
std::string const shift = "func @f(%x: f64) -> f64 { %y = add %x, 1.0 : f64 return %y }";
std::string const turn = "func @f(%x: f64) -> f64 { %y = neg %x : f64 return %y }";

// Compiles with this file: it must be rejected, and the result must be correct.
void rejects(cache_folder const& folder, std::string const& why) {
  auto const cache = folder.open();
  CHECK(compiled(shift, cache).call<double>(1.0) == 2);
  CHECK(cache->statistics().rejected == 1);
  CHECK_THAT(cache->statistics().last_rejected, Contains(why));
  CHECK(compiled(shift, cache).call<double>(1.0) == 2);
  CHECK(cache->statistics().hits == 1); // it was replaced
}
} // namespace

TEST_CASE("a damaged, truncated or extended entry is recompiled") {
  cache_folder const folder;
  auto const cache = folder.open();
  compiled(shift, cache);
  auto const path = folder.only_file();
  std::string const good = bytes_of(path);
  std::uint64_t expected = 0, wrong = 0;
  auto const tries = [&](std::string const& bad) {
    write_bytes(path, bad);
    wrong += compiled(shift, cache).call<double>(1.0) != 2;
    ++expected;
  };
  // Compiling takes a millisecond: the whole header, and then one byte in seven.
  for (std::size_t k = 0; k < good.size(); k += k < 64 ? 1 : 7) {
    std::string bad = good;
    bad[k] = static_cast<char>(bad[k] ^ (1 << (k % 8)));
    tries(bad);
  }
  for (std::size_t k = 0; k < good.size(); k += k < 70 ? 1 : 13) tries(good.substr(0, k));
  tries(good + "x");
  tries(std::string(good.size(), '\0'));
  CHECK(wrong == 0);
  CHECK(cache->statistics().rejected == expected);
  CHECK(cache->statistics().hits == 0);
  write_bytes(path, good);
  CHECK(compiled(shift, cache).call<double>(1.0) == 2);
  CHECK(cache->statistics().hits == 1);
}

TEST_CASE("an entry of another program, as with equal hashes, is recompiled") {
  cache_folder const folder, other;
  compiled(turn, other.open());
  compiled(shift, folder.open());
  write_bytes(folder.only_file(), bytes_of(other.only_file()));
  rejects(folder, "it is of another program");
}

TEST_CASE("an entry of a later version of the format is recompiled") {
  cache_folder const folder;
  compiled(shift, folder.open());
  std::string bytes = bytes_of(folder.only_file());
  bytes[24] = 99; // the format
  write_bytes(folder.only_file(), bytes);
  rejects(folder, "it is of another version's");
}

TEST_CASE("entries that are no regular files, or that others own or may write, are recompiled") {
  cache_folder const folder;
  compiled(shift, folder.open());
  auto const path = folder.only_file();
  std::string const good = bytes_of(path);

  chmod(path.c_str(), 0620);
  rejects(folder, "others than its owner may write to it");

  cache_folder const elsewhere;
  auto const target = std::filesystem::path(elsewhere.path()) / "target";
  write_bytes(target, good);
  std::filesystem::remove(path);
  std::filesystem::create_symlink(target, path);
  rejects(folder, "it is a symbolic link");
  CHECK(bytes_of(target) == good); // the link was not followed

  std::filesystem::remove(path);
  CHECK(mkfifo(path.c_str(), 0600) == 0);
  rejects(folder, "it is no file");

  std::filesystem::remove(path);
  CHECK(made_socket(path));
  rejects(folder, "it cannot be opened");

  if (geteuid() == 0 && std::filesystem::remove(path) &&
      mknod(path.c_str(), S_IFCHR | 0600, makedev(1, 5)) == 0)
    rejects(folder, "it is no file"); // /dev/zero

  if (geteuid() == 0) {
    CHECK(chown(path.c_str(), 65534, 65534) == 0);
    rejects(folder, "it belongs to user 65534");
  }

  std::filesystem::remove(path);
  std::filesystem::create_directories(path / "inside");
  auto const cache = folder.open();
  CHECK(compiled(shift, cache).call<double>(1.0) == 2);
  CHECK(cache->statistics().rejected == 1);
  CHECK(cache->statistics().failures == 1); // and is not removed
  CHECK_THAT(cache->statistics().last_failure, Contains("cannot be written"));
}
