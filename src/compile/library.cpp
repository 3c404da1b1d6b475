#include <overdub/compile/library.hpp>
#include <overdub/implementation/ir/parse/scanner.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/ir/walk.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub {
namespace detail {

/// A function of the library: its text, and the names of the functions that the text refers to.
class definition {
public:
  std::uint64_t id = 0; // unique in its library; equal definitions share one object as long as one is in use
  std::string name;
  std::string text;
  std::vector<std::string> callees; // called, closed over, or used as rules of the derivative
  struct native {                   // a native function that the text calls
    std::string name;
    ir::host_binding binding;
  };
  std::vector<native> natives;
};

/// A snapshot of the functions of the library. Only the cache of linked functions changes.
class world {
public:
  std::uint64_t number = 0; // the number of changes before it
  std::map<std::string, std::shared_ptr<definition const>, std::less<>> functions;

  std::mutex mutable mutex; // protects `linked`
  std::map<std::string, std::shared_ptr<linked_function const>> mutable linked;
};

/// The names of the functions that a text defines. Functions with syntax errors are skipped.
std::set<std::string, std::less<>> names_defined_by(std::string_view text) {
  std::set<std::string, std::less<>> names;
  ir::detail::scanner in(text);
  while (!in.is_at_end()) {
    in.begin();
    try {
      if (in.take("func") && in.peek() == '@')
        names.emplace(in.is_at_quoted_name() ? in.quoted_name() : in.name());
    } catch (ir::detail::syntax_fault const&) { // the parser reports the error
    }
    in.skip_function();
  }
  return names;
}

[[noreturn]] void throw_not_valid(std::string const& with, ir::diagnostic const& why) {
  throw library_error(message(
      "overdub: the library would not be valid with the new @%s: %s; redefine its callers at once with it",
      with.c_str(), why.text.c_str()));
}

/// Whether a text may refer to a function: whether the name occurs after `@` or `"`, possibly in a comment or as the start of another name.
bool may_name(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1))
    if (at > 0 && (text[at - 1] == '@' || text[at - 1] == '"')) return true;
  return false;
}

/// The functions of a program, each with its identity: the text without locations and names of values, and the addresses of its native
/// functions. Functions of one identity are equal.
std::vector<std::pair<definition, std::string>> definitions_of(ir::program const& p) {
  ir::program without_names = p;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    if (p.is_erased(ir::function_id{i})) continue;
    ir::cursor c(without_names, ir::function_id{i});
    for (std::uint32_t v = 0; v < c->value_count(); ++v) c.set_name(ir::value_id{v}, ir::nothing);
  }
  std::vector<std::pair<definition, std::string>> all;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    ir::function_id const id{i};
    if (p.is_erased(id)) continue;
    definition d;
    d.name = p.name_of(id);
    d.text = ir::print(p, id, {.places = true});
    std::string identity = ir::print(without_names, id);
    std::set<std::string> callees, natives;
    ir::function const& f = p[id];
    ir::walk(f, ir::function::body, [&](ir::node_id n) {
      if (f[n].code == ir::op::call || f[n].code == ir::op::closure)
        callees.emplace(p.name_of(f[n].attributes.callee()));
      if (f[n].code != ir::op::host) return;
      ir::host_binding const* const known = p.host(f[n].attributes.text());
      if (known == nullptr || !natives.emplace(p.text(known->name)).second) return;
      if (known->context != ir::host_binding::no_context)
        throw library_error(message(
            "overdub: @%s was staged in contexts, and calls native functions of theirs, so it cannot be in a "
            "library; "
            "define the function itself, and compile it in the contexts",
            d.name.c_str()));
      d.natives.push_back({std::string(p.text(known->name)), *known});
      char bytes[sizeof known->run + sizeof known->object];
      std::memcpy(bytes, &known->run, sizeof known->run);
      std::memcpy(bytes + sizeof known->run, &known->object, sizeof known->object);
      identity.append(bytes, sizeof bytes);
    });
    for (ir::function_id const rule : {f.derivative.tangent, f.derivative.cotangent})
      if (rule != ir::nothing) callees.emplace(p.name_of(rule));
    d.callees.assign(callees.begin(), callees.end());
    all.emplace_back(std::move(d), std::move(identity));
  }
  return all;
}

/// The given definitions, and all functions of the world that they refer to, directly or through others.
std::vector<std::shared_ptr<definition const>>
with_callees(world const& w, std::vector<std::shared_ptr<definition const>> all) {
  std::set<definition const*> known;
  for (auto const& d : all) known.insert(d.get());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::string const& callee : std::vector(all[i]->callees))
      if (auto const found = w.functions.find(callee);
          found != w.functions.end() && known.insert(found->second.get()).second)
        all.push_back(found->second);
  return all;
}

ir::program assembled(std::span<std::shared_ptr<definition const> const> all) {
  std::string text;
  for (auto const& d : all) text += d->text + '\n';
  ir::program p = ir::parse(text);
  for (auto const& d : all)
    for (definition::native const& n : d->natives) {
      ir::host_binding b = n.binding;
      b.name = p.intern(n.name);
      ir::host_binding const* const known = p.host(b.name);
      if (known == nullptr)
        p.hosts.push_back(b);
      else if (known->run != b.run || known->object != b.object)
        throw library_error(message(
            "overdub: @%s calls another native function \"%s\" than a function that it is linked with; give "
            "one of the two another name",
            d->name.c_str(), n.name.c_str()));
    }
  return p;
}

} // namespace detail

class library::state {
  struct watcher {
    std::weak_ptr<artifact const> made;
    compilation_cache::dropper drop;
  };
  using watchers = std::map<std::string, std::vector<watcher>, std::less<>>;

public:
  std::uint64_t const number = ++last_number();

  std::shared_ptr<detail::world const> now() const {
    std::lock_guard const lock(mutex_);
    return now_;
  }
  std::uint64_t world() const { return world_.load(std::memory_order_acquire); }

  void define(ir::program const& p, std::set<std::string, std::less<>> const* names, bool may_replace) {
    if (p.math != ir::math_mode::exact)
      throw library_error(message("overdub: functions of a library have no math mode; choose it by "
                                  "compile_options::math when they are compiled"));
    verify(p, names);
    auto drafts = detail::definitions_of(p);
    if (names != nullptr)
      std::erase_if(drafts, [&](auto const& d) { return !names->contains(d.first.name); });
    std::vector<watchers::node_type> stale;
    {
      std::lock_guard const lock(mutex_);
      auto next = std::make_shared<detail::world>();
      next->functions = now_->functions;
      std::vector<std::shared_ptr<detail::definition const>> changed;
      for (auto& [draft, identity] : drafts) {
        auto const made = intern(std::move(draft), std::move(identity));
        auto& known = next->functions[made->name];
        if (known == made) continue;
        if (known != nullptr && !may_replace)
          throw library_error(
              message("overdub: @%s has another definition already; redefine it", made->name.c_str()));
        known = made;
        changed.push_back(made);
      }
      if (changed.empty()) return;
      check(*next, changed);
      stale.reserve(changed.size());
      for (auto const& d : changed)
        stale.push_back(watchers_.extract(d->name)); // no statement from here to the end of the block throws
      publish(std::move(next));
    }
    drop(stale);
  }
  void remove(std::string_view name) {
    std::vector<watchers::node_type> stale;
    {
      std::lock_guard const lock(mutex_);
      auto next = std::make_shared<detail::world>();
      next->functions = now_->functions;
      auto const found = next->functions.find(name);
      if (found == next->functions.end())
        throw library_error(message("overdub: @%s is not defined in the library", std::string(name).c_str()));
      for (auto const& [other, d] : next->functions)
        if (other != name && std::ranges::find(d->callees, name) != d->callees.end())
          throw library_error(message(
              "overdub: @%s cannot be removed, since @%s refers to it; redefine or remove @%s first",
              std::string(name).c_str(), other.c_str(), other.c_str()));
      stale.push_back(watchers_.extract(found->first));
      next->functions.erase(found);
      publish(std::move(next));
    }
    drop(stale);
  }

  // Calls `drop` once a definition of `f` is replaced; at once if one was replaced already.
  void watch(
      detail::linked_function const& f, std::weak_ptr<artifact const> made, compilation_cache::dropper drop) {
    {
      std::lock_guard const lock(mutex_);
      bool is_current = true;
      for (auto const& d : f.definitions) {
        auto const found = now_->functions.find(d->name);
        is_current = is_current && found != now_->functions.end() && found->second == d;
      }
      if (is_current) {
        for (auto const& d : f.definitions) {
          std::vector<watcher>& all = watchers_[d->name];
          if (all.size() == all.capacity())
            std::erase_if(all, [](watcher const& w) { return w.made.expired(); });
          all.push_back({made, drop});
        }
        return;
      }
    }
    drop();
  }

private:
  OVERDUB_HIDDEN static std::atomic<std::uint64_t>& last_number() {
    static std::atomic<std::uint64_t> n{0};
    return n;
  }

  std::shared_ptr<detail::definition const> intern(detail::definition d, std::string identity) {
    if (by_identity_.size() > 2 * swept_size_) {
      std::erase_if(by_identity_, [](auto const& k) { return k.second.expired(); });
      swept_size_ = by_identity_.size() + 16;
    }
    std::weak_ptr<detail::definition const>& known = by_identity_[std::move(identity)];
    if (auto same = known.lock()) return same;
    d.id = ++last_id_;
    auto made = std::make_shared<detail::definition const>(std::move(d));
    known = made;
    return made;
  }
  // Throws verify_error for errors outside of functions, and in the functions of these names; null: of all names.
  static void verify(ir::program const& p, std::set<std::string, std::less<>> const* names) {
    std::vector<ir::diagnostic> faults = ir::faults_of(p);
    if (names != nullptr)
      std::erase_if(faults, [&](ir::diagnostic const& d) {
        return d.where != ir::nothing && !names->contains(p.name_of(d.where));
      });
    if (!faults.empty()) throw ir::verify_error(std::move(faults));
  }
  // Verifies the functions that changed, their callers, and the functions that these refer to. Throws library_error.
  static void
  check(detail::world const& w, std::vector<std::shared_ptr<detail::definition const>> const& changed) {
    std::vector<std::shared_ptr<detail::definition const>> with_callers = changed;
    for (auto const& d : changed)
      for (std::string const& callee : d->callees)
        if (!w.functions.contains(callee))
          throw library_error(message(
              "overdub: @%s calls @%s, which is not defined in the library; define both in one call",
              d->name.c_str(), callee.c_str()));
    for (auto const& [name, d] : w.functions)
      if (std::ranges::any_of(
              changed,
              [&](auto const& c) {
                return c != d && std::ranges::find(d->callees, c->name) != d->callees.end();
              }) &&
          std::ranges::find(with_callers, d) == with_callers.end())
        with_callers.push_back(d);
    try {
      ir::verify(detail::assembled(detail::with_callees(w, with_callers)));
    } catch (ir::invalid_program const& e) {
      detail::throw_not_valid(changed.front()->name, e.diagnostics.front());
    }
  }
  static void drop(std::vector<watchers::node_type> const& stale) {
    for (auto const& each : stale)
      if (!each.empty())
        for (watcher const& w : each.mapped()) w.drop();
  }
  void publish(std::shared_ptr<detail::world> next) {
    next->number = now_->number + 1;
    now_ = std::move(next);
    world_.store(now_->number, std::memory_order_release);
  }

  std::mutex mutable mutex_;
  std::shared_ptr<detail::world const> now_ = std::make_shared<detail::world>();
  std::atomic<std::uint64_t> world_{0};
  std::map<std::string, std::weak_ptr<detail::definition const>> by_identity_;
  std::size_t swept_size_ = 16;
  std::uint64_t last_id_ = 0;
  std::map<std::string, std::vector<watcher>, std::less<>>
      watchers_; // by the names of the functions that the artifacts contain
};

library::library() : state_(std::make_shared<state>()) {}
void library::define(ir::program const& p) { state_->define(p, nullptr, false); }
void library::redefine(ir::program const& p) { state_->define(p, nullptr, true); }
void library::define(std::string_view text) { add(text, false); }
void library::redefine(std::string_view text) { add(text, true); }
void library::remove(std::string_view name) { state_->remove(name); }

// Defines the functions of a text. The parser also receives the functions of the library that the text refers to, after it.
void library::add(std::string_view text, bool may_replace) {
  auto const names = detail::names_defined_by(text);
  std::shared_ptr<detail::world const> const w = now();
  std::vector<std::shared_ptr<detail::definition const>> named;
  for (auto const& [name, d] : w->functions)
    if (!names.contains(name) && detail::may_name(text, name)) named.push_back(d);
  std::string all(text);
  for (auto const& d : detail::with_callees(*w, std::move(named)))
    if (!names.contains(d->name)) all += '\n' + d->text;
  auto const lines = 1 + std::ranges::count(text, '\n');
  try {
    state_->define(ir::parse(all), &names, may_replace);
  } catch (ir::parse_error const& e) {
    if (names.empty() || e.diagnostics.front().line <= lines)
      throw; // otherwise a function of the library does not fit the new ones
    detail::throw_not_valid(*names.begin(), e.diagnostics.front());
  }
}

std::uint64_t library::world() const { return state_->world(); }
std::uint64_t library::number() const { return state_->number; }
bool library::contains(std::string_view name) const { return now()->functions.contains(name); }
std::vector<std::string> library::names() const {
  std::vector<std::string> all;
  for (auto const& [name, d] : now()->functions) all.push_back(name);
  return all;
}
ir::program library::program(std::string_view name) const {
  return assemble(*link(*now(), std::string(name)));
}

std::shared_ptr<detail::world const> library::now() const { return state_->now(); }
std::uint64_t library::number_of(detail::world const& w) { return w.number; }
std::shared_ptr<detail::linked_function const>
library::link(detail::world const& w, std::string const& name) {
  std::lock_guard const lock(w.mutex);
  std::shared_ptr<detail::linked_function const>& known = w.linked[name];
  if (known != nullptr) return known;
  auto const found = w.functions.find(name);
  if (found == w.functions.end())
    throw library_error(message("overdub: @%s is not defined in the library", name.c_str()));
  auto made = std::make_shared<detail::linked_function>();
  made->definitions = detail::with_callees(w, {found->second});
  std::uint64_t const count = made->definitions.size();
  made->key.append(reinterpret_cast<char const*>(&count), sizeof count);
  for (auto const& d : made->definitions)
    made->key.append(reinterpret_cast<char const*>(&d->id), sizeof d->id);
  return known = made;
}
ir::program library::assemble(detail::linked_function const& f) {
  ir::program p = detail::assembled(f.definitions);
  p.entry = *p.find(f.definitions.front()->name);
  return p;
}
void library::watch(
    detail::linked_function const& f, std::weak_ptr<artifact const> made,
    compilation_cache::dropper drop) const {
  state_->watch(f, std::move(made), std::move(drop));
}

} // namespace overdub
