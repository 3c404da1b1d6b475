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

/// A function as text, which refers to its callees by name.
class definition {
public:
  std::uint64_t id = 0; // unique; equal definitions share one object while it is alive
  std::string name;
  std::string text;
  std::vector<std::string> callees;
  struct native { // a native function that it calls
    std::string name;
    ir::host_binding binding;
  };
  std::vector<native> natives;
};

/// An immutable snapshot of all functions.
class world {
public:
  std::uint64_t number = 0;
  std::map<std::string, std::shared_ptr<definition const>, std::less<>> functions;

  std::mutex mutable mutex; // protects the caches
  std::map<std::string, std::shared_ptr<linked_function const>> mutable linked;
};

/// The names of the functions that a text defines, up to its first syntax error.
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

/// Whether a text may call a function (conservative).
bool is_named_in(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1))
    if (at > 0 && (text[at - 1] == '@' || text[at - 1] == '"')) return true;
  return false;
}

/// The functions of a program, as definitions without numbers.
std::vector<std::pair<definition, std::string>> definitions_of(ir::program const& p) {
  ir::program nameless = p; // names of values do not distinguish functions
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    if (p.is_erased(ir::function_id{i})) continue;
    ir::cursor c(nameless, ir::function_id{i});
    for (std::uint32_t v = 0; v < c->value_count(); ++v) c.set_name(ir::value_id{v}, ir::nothing);
  }
  std::vector<std::pair<definition, std::string>> all;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    ir::function_id const id{i};
    if (p.is_erased(id)) continue;
    definition d;
    d.name = p.name_of(id);
    d.text = ir::print(p, id, {.places = true});
    std::string identity = ir::print(nameless, id);
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
            "overdub: @%s was made for contexts, whose hooks it calls; define the function itself, and "
            "compile "
            "it in the contexts",
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

/// The definitions that the given definitions can reach in a world.
std::vector<std::shared_ptr<definition const>>
reached(world const& w, std::vector<std::shared_ptr<definition const>> all) {
  std::set<definition const*> known;
  for (auto const& d : all) known.insert(d.get());
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::string const& callee : std::vector(all[i]->callees))
      if (auto const at = w.functions.find(callee);
          at != w.functions.end() && known.insert(at->second.get()).second)
        all.push_back(at->second);
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
        auto const made = interned(std::move(draft), std::move(identity));
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
        stale.push_back(watchers_.extract(d->name)); // nothing from here on may throw
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
      auto const at = next->functions.find(name);
      if (at == next->functions.end())
        throw library_error(message("overdub: @%s is not defined in the library", std::string(name).c_str()));
      for (auto const& [other, d] : next->functions)
        if (other != name && std::ranges::find(d->callees, name) != d->callees.end())
          throw library_error(message(
              "overdub: @%s is called by @%s; redefine that, or remove it first", std::string(name).c_str(),
              other.c_str()));
      stale.push_back(watchers_.extract(at->first));
      next->functions.erase(at);
      publish(std::move(next));
    }
    drop(stale);
  }

  void watch(
      detail::linked_function const& f, std::weak_ptr<artifact const> made, compilation_cache::dropper drop) {
    {
      std::lock_guard const lock(mutex_);
      bool is_current = true;
      for (auto const& d : f.definitions) {
        auto const at = now_->functions.find(d->name);
        is_current = is_current && at != now_->functions.end() && at->second == d;
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

  std::shared_ptr<detail::definition const> interned(detail::definition d, std::string identity) {
    if (known_.size() > 2 * live_) {
      std::erase_if(known_, [](auto const& k) { return k.second.expired(); });
      live_ = known_.size() + 16;
    }
    std::weak_ptr<detail::definition const>& known = known_[std::move(identity)];
    if (auto same = known.lock()) return same;
    d.id = ++last_id_;
    auto made = std::make_shared<detail::definition const>(std::move(d));
    known = made;
    return made;
  }
  // Throws verify_error for errors in the functions of these names, or in any function.
  static void verify(ir::program const& p, std::set<std::string, std::less<>> const* names) {
    std::vector<ir::diagnostic> faults = ir::faults_of(p);
    if (names != nullptr)
      std::erase_if(faults, [&](ir::diagnostic const& d) {
        return d.where != ir::nothing && !names->contains(p.name_of(d.where));
      });
    if (!faults.empty()) throw ir::verify_error(std::move(faults));
  }
  // Verifies all calls of a world after a change.
  static void
  check(detail::world const& w, std::vector<std::shared_ptr<detail::definition const>> const& changed) {
    std::vector<std::shared_ptr<detail::definition const>> concerned = changed;
    for (auto const& d : changed)
      for (std::string const& callee : d->callees)
        if (!w.functions.contains(callee))
          throw library_error(message(
              "overdub: @%s calls @%s, which is not defined in the library; define both at once",
              d->name.c_str(), callee.c_str()));
    for (auto const& [name, d] : w.functions)
      if (std::ranges::any_of(
              changed,
              [&](auto const& c) {
                return c != d && std::ranges::find(d->callees, c->name) != d->callees.end();
              }) &&
          std::ranges::find(concerned, d) == concerned.end())
        concerned.push_back(d);
    try {
      ir::verify(detail::assembled(detail::reached(w, concerned)));
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
  std::map<std::string, std::weak_ptr<detail::definition const>> known_; // by text
  std::size_t live_ = 16;
  std::uint64_t last_id_ = 0;
  std::map<std::string, std::vector<watcher>, std::less<>> watchers_; // by the functions on which they depend
};

library::library() : state_(std::make_shared<state>()) {}
void library::define(ir::program const& p) { state_->define(p, nullptr, false); }
void library::redefine(ir::program const& p) { state_->define(p, nullptr, true); }
void library::define(std::string_view text) { add(text, false); }
void library::redefine(std::string_view text) { add(text, true); }
void library::remove(std::string_view name) { state_->remove(name); }

// Defines the functions of a text. It is parsed together with the functions of the library to which it refers.
void library::add(std::string_view text, bool may_replace) {
  auto const names = detail::names_defined_by(text);
  std::shared_ptr<detail::world const> const w = now();
  std::vector<std::shared_ptr<detail::definition const>> named;
  for (auto const& [name, d] : w->functions)
    if (!names.contains(name) && detail::is_named_in(text, name)) named.push_back(d);
  std::string all(text);
  for (auto const& d : detail::reached(*w, std::move(named)))
    if (!names.contains(d->name)) all += '\n' + d->text;
  auto const lines = 1 + std::ranges::count(text, '\n');
  try {
    state_->define(ir::parse(all), &names, may_replace);
  } catch (ir::parse_error const& e) {
    if (names.empty() || e.diagnostics.front().line <= lines) throw;
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
  auto const at = w.functions.find(name);
  if (at == w.functions.end())
    throw library_error(message("overdub: @%s is not defined in the library", name.c_str()));
  auto made = std::make_shared<detail::linked_function>();
  made->definitions = detail::reached(w, {at->second});
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
