// The user's files are complete or unchanged, have one writer at a time, and writing does not block.
#include "catch.hpp"

#include <overdub/io/output_file.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace overdub::io;
namespace fs = std::filesystem;

struct folder {
  std::string path = "/tmp/overdub_test_output_XXXXXX";
  folder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
  ~folder() { fs::remove_all(path); }
  folder(folder const&) = delete;
  folder& operator=(folder const&) = delete;

  std::string operator/(std::string const& name) const { return path + '/' + name; }
  void put(std::string const& name, std::string const& contents) const {
    std::ofstream(path + '/' + name) << contents;
  }
  std::string get(std::string const& name) const {
    std::ifstream in(path + '/' + name);
    if (!in) return "no file";
    std::ostringstream all;
    all << in.rdbuf();
    return in.peek() == std::char_traits<char>::eof() && fs::file_size(path + '/' + name) == 0 ? ""
                                                                                               : all.str();
  }
  std::set<std::string> names() const {
    std::set<std::string> all;
    for (auto const& entry : fs::directory_iterator(path)) all.insert(entry.path().filename());
    return all;
  }
};

using names = std::set<std::string>;

// The reason why a commit fails: the exception and `failure()` have the same.
std::string failure_of(output_file& out) {
  try {
    out.commit();
  } catch (output_error const& e) {
    CHECK(out.failed());
    CHECK(out.failure() == e.what());
    return e.what();
  }
  return "committed";
}

std::string refusal(std::string const& path, writing how) {
  try {
    output_file const out(path, how);
    return "opened";
  } catch (output_error const& e) {
    return e.what();
  }
}

// While it exists, files of this process are limited to this number of bytes, as on a full disk.
struct full_disk {
  explicit full_disk(rlim_t bytes) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
    handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit const small{.rlim_cur = bytes, .rlim_max = before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  }
  ~full_disk() {
    ::setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
  }
  full_disk(full_disk const&) = delete;
  full_disk& operator=(full_disk const&) = delete;
  rlimit before{};
  void (*handler)(int) = nullptr;
};

} // namespace

TEST_CASE("a file is unchanged until the new one is complete, and no other file remains in the folder") {
  folder const at;
  for (writing const how : {writing::at_once, writing::streamed, writing::beside}) {
    at.put("a", "old");
    output_file out(at / "a", how);
    CHECK(out.append("new "));
    CHECK(out.append("text"));
    CHECK(at.get("a") == "old");
    CHECK(out.bytes() == 8);
    out.commit();
    CHECK(at.get("a") == "new text");
    CHECK(at.names() == names{"a"});
  }
}

TEST_CASE("without commit the file is unchanged, and a streamed file keeps the written text") {
  folder const at;
  at.put("a", "old");
  { CHECK(output_file(at / "a", writing::at_once).append("new")); }
  CHECK((at.get("a") == "old" && at.names() == names{"a"}));
  { CHECK(output_file(at / "a", writing::streamed).append("new")); }
  CHECK((at.get("a") == "old" && at.get("a.partial") == "new"));
}

TEST_CASE("a streamed file that does not exist yet is written under its name from the start") {
  folder const at;
  {
    output_file out(at / "a", writing::streamed);
    CHECK(out.append("new"));
    CHECK(out.written_to() == at / "a");
    CHECK(at.get("a") == "new");
  }
  CHECK((at.get("a") == "new" && at.names() == names{"a"}));
  output_file out(at / "b", writing::beside);
  CHECK(out.append("text"));
  CHECK((at.get("b") == "no file" && at.get("b.partial") == "text"));
  out.commit();
  CHECK((at.get("b") == "text" && at.names() == names{"a", "b"}));
}

TEST_CASE("if no text is written, neither the file nor an unfinished one changes") {
  folder const at;
  { output_file const out(at / "new", writing::streamed); }
  { output_file const out(at / "new", writing::beside); }
  CHECK(at.names().empty());
  at.put("a", "old");
  at.put("a.partial", "of a run that was killed");
  { output_file const out(at / "a", writing::streamed); }
  CHECK((at.get("a") == "old" && at.get("a.partial") == "of a run that was killed"));
  output_file out(at / "a", writing::streamed);
  CHECK(out.append("x"));
  CHECK(at.get("a.partial") == "x");
}

TEST_CASE("a commit without text makes an empty file") {
  folder const at;
  for (writing const how : {writing::at_once, writing::streamed, writing::beside}) {
    at.put("a", "old");
    at.put("a.partial", "old");
    output_file(at / "a", how).commit();
    CHECK(at.get("a").empty());
  }
}

TEST_CASE("a second writer of a streamed file is rejected, and the first one continues") {
  folder const at;
  char const* const busy = "another run writes to it now; give each run a name of its own";
  for (bool const exists : {false, true})
    for (writing const how : {writing::streamed, writing::beside}) {
      fs::remove(at / "a");
      if (exists) at.put("a", "old");
      output_file first(at / "a", how);
      CHECK(first.append("one "));
      for (writing const second : {writing::streamed, writing::at_once})
        CHECK(refusal(at / "a", second) == busy);
      if (exists || how == writing::beside) CHECK(refusal(at / "a", writing::beside) == busy);
      fs::create_symlink("a", at / "link");
      CHECK(refusal(at / "link", writing::streamed) == busy);
      fs::remove(at / "link");
      CHECK(first.append("two"));
      first.commit();
      CHECK((at.get("a") == "one two" && at.names() == names{"a"}));
      CHECK(refusal(at / "a", writing::streamed) == "opened"); // while `first` exists
    }
}

TEST_CASE("a writer in another process is rejected, and a lock ends with its process, also a killed one") {
  folder const at;
  at.put("a", "old");
  int ready[2], go[2];
  REQUIRE((::pipe(ready) == 0 && ::pipe(go) == 0));
  pid_t const child = ::fork();
  if (child == 0) {
    output_file out(at / "a", writing::streamed);
    if (!out.append("kept") || ::write(ready[1], "x", 1) != 1) std::_Exit(1);
    char c;
    (void)!::read(go[0], &c, 1);
    std::_Exit(2);
  }
  char c;
  REQUIRE(::read(ready[0], &c, 1) == 1);
  CHECK(refusal(at / "a", writing::streamed).starts_with("another run writes to it now"));
  ::kill(child, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK((at.get("a") == "old" && at.get("a.partial") == "kept"));
  output_file out(at / "a", writing::streamed);
  CHECK(at.get("a.partial") == "kept");
  CHECK(out.append("new"));
  out.commit();
  CHECK((at.get("a") == "new" && at.names() == names{"a"}));
  for (int const fd : {ready[0], ready[1], go[0], go[1]}) ::close(fd);
}

TEST_CASE("a forked child changes nothing in its parent's file") {
  folder const at;
  at.put("a", "old");
  for (writing const how : {writing::at_once, writing::streamed}) {
    output_file out(at / "a", how);
    CHECK(out.append("new"));
    pid_t const child = ::fork();
    if (child == 0) {
      bool refused = false;
      try {
        out.commit();
      } catch (output_error const&) {
        refused = true;
      }
      { output_file const ended = std::move(out); }
      std::_Exit(refused ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    CHECK(at.get("a") == "old");
    if (how == writing::streamed) CHECK(refusal(at / "a", how).starts_with("another run writes to it now"));
    out.commit();
    CHECK((at.get("a") == "new" && at.names() == names{"a"}));
    at.put("a", "old");
  }
}

TEST_CASE("a full disk leaves the old file, and the complete parts of the new one") {
  folder const at;
  at.put("a", "old");
  output_file once(at / "a", writing::at_once), streamed(at / "b", writing::streamed);
  {
    full_disk const full(10);
    CHECK(once.append("12345678"));
    CHECK_FALSE(once.append("12345678"));
    CHECK(streamed.append("12345678"));
    CHECK_FALSE(streamed.append("12345678"));
  }
  CHECK_FALSE(once.append("x")); // appending fails after the first failure
  CHECK(once.failure() == "File too large");
  CHECK_THROWS_WITH(once.commit(), "File too large");
  CHECK_THROWS_WITH(streamed.commit(), "File too large");
  CHECK((at.get("a") == "old" && at.get("b") == "12345678"));
}

TEST_CASE("pipes without readers, folders and special files are rejected, without blocking") {
  folder const at;
  REQUIRE(::mkfifo((at / "pipe").c_str(), 0666) == 0);
  for (writing const how : {writing::at_once, writing::streamed, writing::beside}) {
    CHECK(refusal(at / "pipe", how) == "it is a pipe without a reader");
    CHECK(refusal(at.path, how) == "Is a directory");
    CHECK(refusal(at / "", how) == "Is a directory");
    CHECK(refusal("", how) == "No such file or directory");
    CHECK(refusal(at / "no/a", how) == "No such file or directory");
    CHECK(refusal(at / "pipe/a", how) == "Not a directory");
    CHECK(refusal(at / std::string(300, 'x'), how) == "File name too long");
  }
  at.put("a", "old");
  REQUIRE(::mkfifo((at / "a.partial").c_str(), 0666) == 0);
  CHECK(refusal(at / "a", writing::streamed) == (at / "a.partial") + ": it is no regular file; move it away");
  fs::remove(at / "a.partial");
  fs::create_symlink("/etc/passwd", at / "a.partial");
  CHECK(refusal(at / "a", writing::streamed) == (at / "a.partial") + ": it is no regular file; move it away");
  fs::remove(at / "a.partial");
  fs::create_directory(at / "a.partial");
  CHECK(refusal(at / "a", writing::streamed) == (at / "a.partial") + ": Is a directory");
  fs::remove(at / "a.partial");
  at.put("kept", "draws");
  fs::create_hard_link(at / "kept", at / "a.partial");
  CHECK_THAT(refusal(at / "a", writing::streamed), Catch::Contains("a hard link"));
  CHECK((at.get("a") == "old" && at.get("kept") == "draws"));
}

TEST_CASE("pipes with readers, /dev/null and open descriptors are written to directly") {
  folder const at;
  REQUIRE(::mkfifo((at / "pipe").c_str(), 0666) == 0);
  int const reader = ::open((at / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  output_file out(at / "pipe", writing::at_once);
  CHECK(out.append("text"));
  out.commit();
  char text[10];
  CHECK((::read(reader, text, 10) == 4 && std::string(text, 4) == "text"));
  ::close(reader);

  output_file nothing("/dev/null", writing::streamed);
  CHECK(nothing.append("text"));
  nothing.commit();

  // Like `> log` of a shell: other writers append before and after.
  int const log = ::open((at / "log").c_str(), O_WRONLY | O_CREAT, 0666);
  REQUIRE(::write(log, "one ", 4) == 4);
  output_file open("/dev/fd/" + std::to_string(log), writing::at_once);
  CHECK(open.append("two "));
  open.commit();
  REQUIRE(::write(log, "three", 5) == 5);
  ::close(log);
  CHECK(at.get("log") == "one two three");
}

TEST_CASE("the new file has the permissions of the old one, and symbolic links are preserved") {
  folder const at;
  at.put("secret", "old");
  REQUIRE(::chmod((at / "secret").c_str(), 0640) == 0);
  fs::create_directory(at / "links");
  fs::create_symlink("../secret", at / "links/to");
  fs::create_symlink("links/to", at / "link");
  fs::create_symlink("later", at / "dangling");
  for (writing const how : {writing::at_once, writing::streamed}) {
    output_file out(at / "link", how);
    CHECK(out.append("new"));
    out.commit();
    CHECK(at.get("secret") == "new");
    CHECK((fs::is_symlink(at / "link") && fs::is_symlink(at / "links/to")));
    struct stat is {};
    REQUIRE(::stat((at / "secret").c_str(), &is) == 0);
    CHECK((is.st_mode & 07777) == 0640);
    output_file(at / "dangling", how).commit();
    CHECK(at.get("later").empty());
  }
  fs::create_symlink("round", at / "round");
  CHECK(refusal(at / "round", writing::at_once) == "Too many levels of symbolic links");
}

TEST_CASE("a file or folder without write permission is rejected in the constructor") {
  folder const at;
  at.put("a", "old");
  REQUIRE(::chmod((at / "a").c_str(), 0444) == 0);
  fs::create_directory(at / "no");
  REQUIRE((::chmod((at / "no").c_str(), 0555) == 0 && ::chmod(at.path.c_str(), 0777) == 0));
  // Root has all permissions: the test becomes another user in a child process.
  pid_t const child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) std::_Exit(9);
    int wrong = 0;
    for (writing const how : {writing::at_once, writing::streamed, writing::beside}) {
      wrong += refusal(at / "a", how) != "Permission denied";
      wrong += !refusal(at / "no/a", how).ends_with("Permission denied");
    }
    std::_Exit(wrong);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  CHECK((at.get("a") == "old" && at.names() == names{"a", "no"}));
}

TEST_CASE("many concurrent writers leave one complete text") {
  folder const at;
  std::string const text(100000, 'x');
  std::set<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    pid_t const child = ::fork();
    if (child == 0) {
      for (int k = 0; k < 20; ++k) try {
          output_file out(at / "a", k % 2 == 0 ? writing::at_once : writing::streamed);
          if (!out.append(text)) std::_Exit(1);
          out.commit();
        } catch (output_error const& e) {
          if (!std::string(e.what()).starts_with("another run writes to it now")) std::_Exit(2);
        }
      std::_Exit(0);
    }
    children.insert(child);
  }
  bool good = true;
  for (pid_t const child : children) {
    int status = 0;
    good = ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 && good;
  }
  CHECK(good);
  CHECK(at.get("a") == text);
  CHECK(at.names() == names{"a"});
}

TEST_CASE("an unfinished file of another user is rejected, and unchanged") {
  if (::geteuid() != 0) return; // only root can make another user's file
  folder const f;
  f.put("a.csv", "old");
  f.put("a.csv.partial", "theirs");
  REQUIRE(::chown((f / "a.csv.partial").c_str(), 1234, 1234) == 0);
  REQUIRE(::chmod((f / "a.csv.partial").c_str(), 0666) == 0);
  CHECK(refusal(f / "a.csv", writing::streamed).find("belongs to another user") != std::string::npos);
  CHECK(f.get("a.csv.partial") == "theirs");
}

TEST_CASE("the replacement of a private file is private from the start, and so is an old unfinished file") {
  auto const mode = [](std::string const& path) {
    struct stat is {};
    REQUIRE(::stat(path.c_str(), &is) == 0);
    return is.st_mode & 0777;
  };
  folder const f;
  f.put("a.csv", "old");
  REQUIRE(::chmod((f / "a.csv").c_str(), 0640) == 0);
  for (auto const how : {writing::at_once, writing::streamed}) {
    output_file out(f / "a.csv", how);
    CHECK(mode(out.written_to()) == 0600);
    REQUIRE(out.append("new"));
    out.commit();
    CHECK(mode(f / "a.csv") == 0640);
  }
  f.put("a.csv.partial", "earlier");
  REQUIRE(::chmod((f / "a.csv.partial").c_str(), 0666) == 0);
  output_file out(f / "a.csv", writing::streamed);
  REQUIRE(out.append("new"));
  CHECK(mode(f / "a.csv.partial") == 0600);
}

TEST_CASE("text of a forked child is rejected, and the child holds no lock of its parent") {
  folder const f;
  f.put("a.csv", "old");
  std::optional<output_file> out(std::in_place, f / "a.csv", writing::streamed);
  REQUIRE(out->append("parent"));
  int wait[2], told[2];
  REQUIRE(::pipe(wait) == 0);
  REQUIRE(::pipe(told) == 0);
  pid_t const child = ::fork();
  if (child == 0) {
    ::close(wait[1]);
    char c = out->append("child") ? 'y' : 'n';
    if (::write(told[1], &c, 1) != 1) ::_exit(1);
    (void)!::read(wait[0], &c, 1); // until the parent lets it exit
    ::_exit(0);
  }
  char answer = '?';
  REQUIRE(::read(told[0], &answer, 1) == 1);
  CHECK(answer == 'n');
  out->commit();
  CHECK(f.get("a.csv") == "parent");
  out.emplace(f / "a.csv", writing::streamed);
  out.reset(); // without a commit
  CHECK(refusal(f / "a.csv", writing::streamed) == "opened");
  for (int const d : {wait[0], wait[1], told[0], told[1]}) ::close(d);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
}

TEST_CASE("writing to a pipe without a reader is an error, and sends no signal") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  output_file out("/dev/fd/" + std::to_string(ends[1]), writing::streamed);
  ::close(ends[0]);
  CHECK_FALSE(out.append("text"));
  CHECK(out.failure() == std::strerror(EPIPE));
  sigset_t pending;
  sigpending(&pending);
  CHECK(sigismember(&pending, SIGPIPE) == 0);
  ::close(ends[1]);
}

TEST_CASE("a file that was removed, moved or replaced while it was written is not committed, and the error "
          "says so") {
  folder const at;
  std::string const moved = "it was removed or replaced while it was written";
  for (writing const how : {writing::at_once, writing::streamed, writing::beside})
    for (bool const replaces : {false, true})
      for (bool const is_replaced : {false, true}) {
        fs::remove(at / "a");
        if (replaces) at.put("a", "old");
        output_file out(at / "a", how);
        REQUIRE(out.append("new"));
        CHECK(out.is_kept());
        fs::rename(out.written_to(), at / "moved");
        if (is_replaced) std::ofstream(out.written_to()) << "of somebody else";
        CHECK_FALSE(out.is_kept());
        CHECK(failure_of(out) == moved);
        bool const under_its_name = out.written_to() == at / "a";
        CHECK(
            at.get("a") == (replaces                        ? "old"
                            : is_replaced && under_its_name ? "of somebody else"
                                                            : "no file"));
        fs::remove(out.written_to());
      }
  // This applies to a file without text, too.
  output_file out(at / "b", writing::streamed);
  fs::remove(at / "b");
  CHECK(failure_of(out) == moved);
}

TEST_CASE("the failure of a commit is the same in its exception and in failure()") {
  folder const at;
  at.put("a", "old");
  output_file out(at / "a", writing::streamed);
  REQUIRE(out.append("new"));
  fs::remove(at / "a");
  fs::create_directories(at / "a/in"); // no file replaces a folder that is not empty
  CHECK(failure_of(out) == "Is a directory");
  CHECK(at.get("a.partial") == "new");
  output_file twice(at / "b", writing::at_once);
  twice.commit();
  CHECK(failure_of(twice) == "Bad file descriptor");
}

TEST_CASE("a run under the name of an unfinished file replaces it, also if the named file does not exist") {
  folder const at;
  at.put("a.partial", "of a run that was killed");
  REQUIRE(::chmod((at / "a.partial").c_str(), 0600) == 0);
  output_file out(at / "a", writing::streamed);
  CHECK(out.written_to() == at / "a.partial");
  CHECK(refusal(at / "a", writing::streamed).starts_with("another run writes to it now"));
  CHECK(refusal(at / "a", writing::at_once).starts_with("another run writes to it now"));
  REQUIRE(out.append("new"));
  CHECK((at.get("a") == "no file" && at.get("a.partial") == "new"));
  CHECK(refusal(at / "a", writing::streamed).starts_with("another run writes to it now"));
  out.commit();
  CHECK((at.get("a") == "new" && at.names() == names{"a"}));
  at.put("other", "");
  struct stat mine {
  }, usual{};
  REQUIRE((::stat((at / "a").c_str(), &mine) == 0 && ::stat((at / "other").c_str(), &usual) == 0));
  CHECK(mine.st_mode == usual.st_mode); // the usual mode, not that of the killed run
}

TEST_CASE("an unfinished file is preserved until the first text is written, and no reader sees a mixture") {
  folder const at;
  at.put("a", "old");
  at.put("a.partial", "0123456789");
  output_file out(at / "a", writing::streamed);
  int const reader = ::open((at / "a.partial").c_str(), O_RDONLY);
  {
    full_disk const full(4);
    CHECK_FALSE(out.append("12345678"));
  }
  CHECK(at.get("a.partial") == "0123456789");
  CHECK_FALSE(out.is_kept());
  CHECK(failure_of(out) == "File too large");
  CHECK(at.names() == names{"a", "a.partial"});
  out = output_file(at / "b", writing::streamed); // destroys the first one
  out = output_file(at / "a", writing::streamed);
  CHECK(out.append("new"));
  char text[20];
  CHECK((::read(reader, text, 20) == 10 && std::string(text, 10) == "0123456789"));
  ::close(reader);
  CHECK((at.get("a.partial") == "new" && at.names() == names{"a", "a.partial"}));
  // A user who removes the unfinished file before the first text wants it removed.
  out = output_file(at / "c", writing::streamed);
  out = output_file(at / "a", writing::streamed);
  fs::remove(at / "a.partial");
  CHECK(out.append("newer"));
  out.commit();
  CHECK((at.get("a") == "newer" && at.names() == names{"a"}));
  // A file of another writer is not replaced.
  at.put("a.partial", "earlier");
  out = output_file(at / "a", writing::streamed);
  fs::remove(at / "a.partial");
  at.put("a.partial", "of somebody else");
  CHECK_FALSE(out.append("newest"));
  CHECK(out.failure() == "it was removed or replaced while it was written");
  CHECK((at.get("a.partial") == "of somebody else" && at.names() == names{"a", "a.partial"}));
}

TEST_CASE("on a full disk, a new file for which no text fits is removed") {
  folder const at;
  for (writing const how : {writing::at_once, writing::streamed, writing::beside}) {
    full_disk const full(4);
    output_file out(at / "a", how);
    CHECK_FALSE(out.append("12345678"));
    CHECK_THROWS_WITH(out.commit(), "File too large");
  }
  CHECK(at.names().empty());
}

TEST_CASE("a name whose unfinished file would have too long a name is rejected on first use, too") {
  folder const at;
  for (std::size_t const length : {247U, 248U, 255U}) {
    std::string const name(length, 'x');
    for (bool const exists : {false, true}) {
      if (exists) at.put(name, "old");
      for (writing const how : {writing::streamed, writing::beside})
        CHECK(refusal(at / name, how) == (length < 248 ? "opened" : "File name too long"));
      CHECK(refusal(at / name, writing::at_once) == "opened");
      CHECK(at.names() == (exists ? names{name} : names{}));
    }
    fs::remove(at / name);
  }
}

TEST_CASE("a long path is shortened in the middle, between characters") {
  CHECK(shown_path("/tmp/a") == "/tmp/a");
  CHECK(shown_path("/folder/of/many/draws.csv", 20) == "/fold...ny/draws.csv");
  std::string const path = "/" + std::string(300, 'x') + "/draws.csv";
  CHECK(shown_path(path).size() == 150);
  CHECK(shown_path(path).ends_with("xx/draws.csv"));
  for (std::size_t most = 3; most < 12; ++most) {
    std::string const shown = shown_path("äöüäöüäöü", most);
    CHECK(shown.size() <= most);
    for (std::string const& part : {shown.substr(0, shown.find('.')), shown.substr(shown.rfind('.') + 1)})
      CHECK(part.size() % 2 == 0);
  }
  // The error of an unfinished file at a long path has its reason.
  folder const at;
  std::string const deep = at / std::string(200, 'd');
  fs::create_directories(deep + "/a.partial");
  std::ofstream(deep + "/a") << "old";
  std::string const why = refusal(deep + "/a", writing::streamed);
  CHECK((why.size() < 70 && why.ends_with("dd/a.partial: Is a directory")));
}

TEST_CASE("signals during a blocked write to a full pipe do not end the file") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0);
  struct sigaction tick {
  }, before{};
  tick.sa_handler = [](int) {};
  REQUIRE(::sigaction(SIGUSR1, &tick, &before) == 0);
  output_file out("/dev/fd/" + std::to_string(ends[1]), writing::streamed);
  pthread_t const writer = ::pthread_self();
  std::string const text(1 << 20, 'x'); // more than the buffer of a pipe
  std::size_t taken = 0;
  std::thread reader([&] {
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ::pthread_kill(writer, SIGUSR1);
    }
    std::string part(1 << 16, 0);
    while (taken < text.size()) {
      ssize_t const n = ::read(ends[0], part.data(), part.size());
      if (n <= 0) break;
      taken += static_cast<std::size_t>(n);
    }
  });
  CHECK(out.append(text));
  CHECK(out.failure().empty());
  out.commit();
  ::close(ends[1]);
  reader.join();
  CHECK(taken == text.size());
  ::close(ends[0]);
  ::sigaction(SIGUSR1, &before, nullptr);
}
