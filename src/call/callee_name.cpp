#include <overdub/call/callee_name.hpp>
#include <overdub/core/error.hpp>

#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>

namespace overdub::detail {

// Never destroyed, since destructors of other static objects may use names.
struct callee_names {
  std::shared_mutex mutex;
  std::set<std::string, std::less<>> names;
  std::map<std::int64_t, std::string_view> of_number;

  OVERDUB_HIDDEN static callee_names& get() {
    static auto& all = *new callee_names;
    return all;
  }
  std::string_view intern(std::string_view name) {
    auto const found = names.find(name);
    return found != names.end() ? *found : *names.emplace(name).first;
  }
};

std::string_view interned_name(std::string_view name) {
  callee_names& all = callee_names::get();
  {
    std::shared_lock const lock(all.mutex);
    if (auto const found = all.names.find(name); found != all.names.end()) return *found;
  }
  std::unique_lock const lock(all.mutex);
  return all.intern(name);
}
std::string_view interned_name(std::string_view name, std::string_view context) {
  return interned_name(std::string(name).append(1, '.').append(context));
}

// FNV-1a of 64 bits.
std::int64_t number_of_name(std::string_view name) {
  std::uint64_t hash = 14695981039346656037u;
  for (char const c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  auto const number = static_cast<std::int64_t>(hash);
  callee_names& all = callee_names::get();
  std::unique_lock const lock(all.mutex);
  auto const [known, is_new] = all.of_number.emplace(number, all.intern(name));
  if (!is_new && known->second != name)
    throw rejected_program(message(
        "overdub: two functions of programs, \"%.*s\" and \"%.*s\", have the same hash; "
        "rename one of them",
        static_cast<int>(name.size()), name.data(), static_cast<int>(known->second.size()),
        known->second.data()));
  return number;
}
std::string_view name_of_number(std::int64_t number) {
  callee_names& all = callee_names::get();
  std::shared_lock const lock(all.mutex);
  auto const found = all.of_number.find(number);
  if (found == all.of_number.end())
    throw rejected_program(message(
        "overdub: a hook is called for a function of a program that another process made; rewrite the "
        "program by the context in this one"));
  return found->second;
}

} // namespace overdub::detail
