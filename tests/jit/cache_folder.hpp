// A temporary directory for a test.
#pragma once

#include <overdub/jit/disk_cache.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <stdlib.h>
#include <string>
#include <vector>

class cache_folder {
public:
  cache_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "overdub-cache-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no directory for a test");
    path_ = pattern;
  }
  cache_folder(cache_folder const&) = delete;
  cache_folder& operator=(cache_folder const&) = delete;
  ~cache_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string path() const { return path_.string(); }
  std::shared_ptr<overdub::jit::disk_cache> open(
      overdub::jit::disk_limits const& limits = {},
      overdub::jit::disk_use use = overdub::jit::disk_use::read_write) const {
    return std::make_shared<overdub::jit::disk_cache>(path(), limits, use);
  }
  /// The entries, and all other files.
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all;
    for (auto const& each : std::filesystem::directory_iterator(path_)) all.push_back(each.path());
    return all;
  }
  std::filesystem::path only_file() const {
    auto const all = files();
    if (all.size() != 1) throw std::runtime_error("there is not one file, but " + std::to_string(all.size()));
    return all[0];
  }

private:
  std::filesystem::path path_;
};

inline std::string bytes_of(std::filesystem::path const& path) {
  std::ifstream from(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(from), {}};
}
inline void write_bytes(std::filesystem::path const& path, std::string const& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}
