// Registers machine code with perf, by a symbol map in /tmp, and with gdb, by its JIT compilation interface.
#include "debuggers.hpp"

#include <overdub/io/number_text.hpp>

#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <llvm/BinaryFormat/ELF.h>
#include <mutex>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace overdub::jit {

// gdb's JIT compilation interface, as in its manual. LLVM defines the descriptor, and the function at which gdb sets a breakpoint.
struct jit_code_entry {
  jit_code_entry *next_entry, *prev_entry;
  char const* symfile_addr;
  std::uint64_t symfile_size;
};
struct jit_descriptor {
  std::uint32_t version;
  std::uint32_t action_flag;
  jit_code_entry *relevant_entry, *first_entry;
};
enum : std::uint32_t { jit_register = 1, jit_unregister = 2 };
extern "C" {
extern jit_descriptor __jit_debug_descriptor;
void __jit_debug_register_code();
}

void register_with_perf(std::span<placed_function const> functions) {
  std::string const path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  // The directory is world-writable: do not follow links.
  int const file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
  if (file < 0) return;
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
      status.st_nlink == 1) {
    std::string lines;
    for (placed_function const& f : functions) {
      lines += io::number_text(reinterpret_cast<std::size_t>(f.address), 16) + ' ' +
               io::number_text(f.bytes, 16) + ' ' + f.name + '\n';
    }
    // One write, so that lines of concurrent threads do not interleave.
    [[maybe_unused]] auto const written = write(file, lines.data(), lines.size());
  }
  close(file);
}

namespace {

std::mutex& gdb_mutex() {
  static auto* const mutex =
      new std::mutex; // never destroyed: machine code may be freed after static destructors have run
  return *mutex;
}

// Sets the address of each section in the object's section headers, as gdb requires.
void write_addresses(std::vector<char>& object, std::span<placed_section const> sections) {
  using namespace llvm::ELF;
  Elf64_Ehdr header;
  if (object.size() < sizeof header) return;
  std::memcpy(&header, object.data(), sizeof header);
  if (!header.checkMagic() || header.getFileClass() != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr))
    return;
  auto const at = [&](unsigned i) { return header.e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr); };
  if (at(header.e_shnum) > object.size() || header.e_shstrndx >= header.e_shnum) return;
  Elf64_Shdr names;
  std::memcpy(&names, object.data() + at(header.e_shstrndx), sizeof names);
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, object.data() + at(i), sizeof section);
    std::uint64_t const name = names.sh_offset + section.sh_name;
    if ((section.sh_flags & SHF_ALLOC) == 0 || name >= object.size()) continue;
    for (placed_section const& placed : sections)
      if (std::string_view(object.data() + name, object.size() - name).starts_with(placed.name + '\0'))
        section.sh_addr = reinterpret_cast<std::uint64_t>(placed.address);
    std::memcpy(object.data() + at(i), &section, sizeof section);
  }
}

} // namespace

struct gdb_registration::entry : jit_code_entry {};

gdb_registration::gdb_registration(std::span<char const> object, std::span<placed_section const> sections)
    : object_(object.begin(), object.end()), entry_(std::make_unique<entry>()) {
  write_addresses(object_, sections);
  entry_->symfile_addr = object_.data();
  entry_->symfile_size = object_.size();
  entry_->prev_entry = nullptr;
  std::lock_guard const lock(gdb_mutex());
  auto& all = __jit_debug_descriptor;
  entry_->next_entry = all.first_entry;
  if (all.first_entry != nullptr) all.first_entry->prev_entry = entry_.get();
  all.first_entry = all.relevant_entry = entry_.get();
  all.action_flag = jit_register;
  __jit_debug_register_code();
}
gdb_registration::~gdb_registration() {
  std::lock_guard const lock(gdb_mutex());
  auto& all = __jit_debug_descriptor;
  (entry_->prev_entry != nullptr ? entry_->prev_entry->next_entry : all.first_entry) = entry_->next_entry;
  if (entry_->next_entry != nullptr) entry_->next_entry->prev_entry = entry_->prev_entry;
  all.relevant_entry = entry_.get();
  all.action_flag = jit_unregister;
  __jit_debug_register_code();
}

} // namespace overdub::jit
