#include <overdub/core/mutex.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/type_text.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/lifted/embedded.hpp>
#include <overdub/lifted/native_signature.hpp>
#include <overdub/lifted/registry.hpp>

#include <bit>
#include <cstddef>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub {
namespace detail {
namespace {

using address_t = void (*)();

// The text of a module, and what was made of it.
class embedded_text {
public:
  embedded_text(std::string_view text, std::span<embedded_native const> natives)
      : text_(text), natives_(natives) {}

  std::shared_ptr<lifted_program const> find(embedded_function const& f, lifted_signature const& signature) {
    mutex_lock const lock(mutex_);
    std::shared_ptr<lifted_program>& known = functions_[f.address];
    if (!known) known = make(f, signature);
    return known;
  }

private:
  std::shared_ptr<lifted_program> make(embedded_function const& f, lifted_signature const& signature) {
    auto made = std::make_shared<lifted_program>();
    if (*f.name == '\0') {
      made->why_native = f.refusal;
      return made;
    }
    if (!all_) parse();
    if (!problem_.empty()) {
      made->why_native = f.name + (": " + problem_);
      return made;
    }
    std::optional<ir::function_id> const id = all_->find(f.name);
    made->why_native =
        id ? difference((*all_)[*id], f.returned, signature) : "its program has no such function";
    if (!made->why_native.empty()) {
      made->why_native = f.name + (": " + made->why_native);
      return made;
    }
    made->program = tables_;
    made->program.entry = *id;
    for (ir::function_id const each : ir::reachable_functions(*all_, *id, ir::with_derivatives::yes))
      made->program[each] = (*all_)[each];
    made->returned = f.returned;
    return made;
  }
  void parse() {
    try {
      all_ = ir::parse(text_);
      ir::verify(*all_);
      for (embedded_native const& n : natives_)
        if (n.address) all_->hosts.push_back({.name = all_->intern(n.name), .run = n.run});
      tables_ = *all_;
      for (ir::function& f : tables_.functions) f = ir::function();
    } catch (error const& e) {
      all_.emplace();
      problem_ = std::string("its program is not valid: ") + e.what();
    }
  }
  // Why a function of the program does not have the signature that is wanted; empty if it has.
  std::string
  difference(ir::function const& f, std::uint64_t returned, lifted_signature const& wanted) const {
    auto const parameters = f.parameters();
    if (parameters.size() != wanted.parameters.size())
      return "its program has " + std::to_string(parameters.size()) +
             " parameters, and the native function has " + std::to_string(wanted.parameters.size()) +
             "; a struct that is passed by value has several parameters";
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (f.type_of(parameters[i]) != wanted.parameters[i])
        return "parameter " + std::to_string(i + 1) + " has the type " +
               ir::text_of(*all_, f.type_of(parameters[i])) + " in the program, and " +
               ir::text_of(*all_, wanted.parameters[i]) +
               " in the declaration; an array that is never accessed has the type f64[] in the program";
    if ((returned & ~wanted.may_write) != 0)
      return "the program may write through a pointer to const, as it keeps it in memory";
    std::size_t const values = wanted.returned ? 1 : 0,
                      arrays = static_cast<std::size_t>(std::popcount(returned));
    if (f.results.size() != values + arrays || (wanted.returned && f.results[0] != *wanted.returned))
      return "the program has other result types than the native function";
    return {};
  }

  std::string_view text_;
  std::span<embedded_native const> natives_;
  mutex mutex_;
  std::optional<ir::program> all_;
  ir::program tables_;  // the same, with all functions erased
  std::string problem_; // of the text
  std::map<address_t, std::shared_ptr<lifted_program>> functions_;
};

class registry {
public:
  void
  add(std::span<embedded_function const> functions, std::string_view text,
      std::span<embedded_native const> natives) {
    auto const module = std::make_shared<embedded_text>(text, natives);
    mutex_lock const lock(mutex_);
    for (embedded_function const& f : functions)
      if (f.address) all_[f.address].push_back({module, &f});
  }
  void remove(embedded_function const* begin, std::size_t count) {
    mutex_lock const lock(mutex_);
    for (std::size_t i = 0; i < count; ++i) {
      auto const at = all_.find(begin[i].address);
      if (at == all_.end()) continue;
      std::erase_if(at->second, [&](entry const& e) { return e.function == begin + i; });
      if (at->second.empty()) all_.erase(at);
    }
  }
  // Several modules may have a program of one function, such as an inline function. The first module that lifted it is used.
  std::shared_ptr<lifted_program const> find(address_t address, lifted_signature const& signature) {
    entry found;
    {
      mutex_lock const lock(mutex_);
      auto const at = all_.find(address);
      if (at == all_.end()) return none();
      for (entry const& e : at->second)
        if (!found.function || (*found.function->name == '\0' && *e.function->name != '\0')) found = e;
    }
    return found.module->find(*found.function, signature);
  }

private:
  struct entry {
    std::shared_ptr<embedded_text> module;
    embedded_function const* function = nullptr;
  };
  // The library of a module may be loaded later, so that its absence is not remembered.
  static std::shared_ptr<lifted_program const> none() {
    auto made = std::make_shared<lifted_program>();
    made->why_native = "no lifted program of it is linked: name its source in overdub_lift(...) of CMake, or "
                       "link what overdub-opt --embed writes";
    return made;
  }

  mutex mutex_;
  std::map<address_t, std::vector<entry>> all_;
};

// Never destroyed: programs register and unregister while other objects are initialised and destroyed. It is in static storage, and each
// program removes its own entries, so that a library that is unloaded leaks nothing.
registry& programs() {
  alignas(registry) static std::byte storage[sizeof(registry)];
  static registry& all = *::new (static_cast<void*>(storage)) registry;
  return all;
}

} // namespace

void throw_extent_overflow() {
  throw argument_error(message("overdub: the extent of a lifted function's argument is too large"));
}
void throw_negative_length(std::string_view function, std::size_t argument, i64 length) {
  throw argument_error(message(
      "overdub: %s: argument %zu has the negative length %lld", std::string(function).c_str(), argument,
      static_cast<long long>(length)));
}
void throw_short_array(std::string_view function, std::size_t argument, i64 size, i64 length) {
  throw argument_error(message(
      "overdub: %s: argument %zu has only %lld elements, and its extent is %lld",
      std::string(function).c_str(), argument, static_cast<long long>(size), static_cast<long long>(length)));
}

std::shared_ptr<lifted_program const> find_lifted(void (*address)(), lifted_signature const& signature) {
  return programs().find(address, signature);
}

} // namespace detail

embedded_program::embedded_program(
    std::string_view text, std::span<embedded_function const> functions,
    std::span<embedded_native const> natives)
    : functions_(functions) {
  detail::programs().add(functions, text, natives);
}
embedded_program::~embedded_program() { detail::programs().remove(functions_.data(), functions_.size()); }

} // namespace overdub
