#include <overdub/implementation/execute/native_host.hpp>
#include <overdub/implementation/ir/parse/spelling.hpp>
#include <overdub/implementation/models/binding_time.hpp>
#include <overdub/models/model_core.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse/gradient_program.hpp>

#include <algorithm>

namespace overdub::models {

// The receiver of the host functions `draw` and `choose` of one operation `sample`.
struct model_core::caller {
  model_core const* core;
  std::uint32_t site;
  std::uint32_t index_count;
  ir::type type;
  void (*native)(void*, void const* const*, void* const*);

  std::vector<i64> indices(void const* const* arguments) const {
    std::vector<i64> all(index_count);
    for (std::uint32_t k = 0; k < index_count; ++k) all[k] = *static_cast<i64 const*>(arguments[k]);
    return all;
  }
  static void draw(void* self, void const* const* arguments, void* const* results);
  static void choose(void* self, void const* const* arguments, void* const* results);
};

template <class Drawing>
OVERDUB_HIDDEN Drawing*& drawing_of_this_thread() {
  thread_local constinit Drawing* now = nullptr;
  return now;
}
[[gnu::noinline]] model_core::drawing*& model_core::drawing::current() {
  return drawing_of_this_thread<drawing>();
}

void model_core::caller::draw(void* object, void const* const* arguments, void* const* results) {
  auto const& self = *static_cast<caller const*>(object);
  random_key key = drawing::current()->key_of(self.site, self.core->sites()[self.site].address);
  for (std::uint32_t k = 0; k < self.index_count; ++k) key = key.at(*static_cast<i64 const*>(arguments[k]));
  random_generator generator(key);
  try {
    self.native(&generator, arguments + self.index_count, results);
  } catch (error const& e) {
    detail::throw_undrawable(
        address(self.core->sites()[self.site].address, self.indices(arguments)), e.what());
  }
}

void model_core::caller::choose(void* object, void const* const* arguments, void* const* results) {
  auto const& self = *static_cast<caller const*>(object);
  datum const x = (*drawing::current()->choose_)(self.site, self.indices(arguments));
  *static_cast<bool*>(results[1]) = static_cast<bool>(x);
  if (!x) {
    if (self.native == nullptr) self.core->check_draws(self.site);
    return draw(object, arguments, results);
  }
  execute::with_native_type(self.type, [&]<class T>() { *static_cast<T*>(results[0]) = x.as<T>(); });
}

model_core::model_core(ir::program staged, compile_options const& o)
    : model_(model_program_of(std::move(staged))), options_(o) {
  if (!o.has_default_passes())
    throw model_error(message("overdub: the programs of a model are made by passes of their own; leave "
                              "compile_options::passes as it is for model"));
  for (std::uint32_t s = 0; s < sites().size(); ++s) {
    callbacks_.emplace_back();
    for (ir::node_id const n : sites()[s].nodes) {
      choice_parts const parts = parts_of(program(), program().entry, n);
      callers_.push_back(
          std::make_unique<caller>(this, s, sites()[s].index_count, sites()[s].type, parts.draw.run));
      callbacks_.back().push_back(
          {.draw = {.run = &caller::draw, .object = callers_.back().get()},
           .choose = {.run = &caller::choose, .object = callers_.back().get()}});
    }
  }
}

model_core::~model_core() = default;

std::uint32_t model_core::site_at(std::string_view address) const {
  if (auto const s = model_.find(address)) return *s;
  if (auto const bracket = address.find('['); bracket != std::string_view::npos)
    if (std::string_view const site = address.substr(0, bracket); model_.find(site))
      throw model_error(message(
          "overdub: %.80s has indices, and the address of all choices of the site is required; write "
          "\"%.80s\"",
          std::string(address).c_str(), std::string(site).c_str()));
  ir::detail::nearest_word nearest(address);
  for (site const& s : sites()) nearest.try_word(s.address);
  throw model_error(message(
      "overdub: the model @%s never samples \"%.80s\"%s", name().c_str(), std::string(address).c_str(),
      nearest.suggestion().c_str()));
}

void model_core::check(selection const& of) const {
  for (address const& a : of.addresses()) {
    if (a.site.ends_with('/')) {
      if (std::ranges::none_of(sites(), [&](site const& s) { return s.address.starts_with(a.site); }))
        throw model_error(message(
            "overdub: the model @%s samples nothing within \"%.80s\"", name().c_str(), a.site.c_str()));
      continue;
    }
    for (i64 const index : a.indices)
      if (index < 0)
        throw model_error(
            message("overdub: %.80s was selected, and indices are counted from 0", text_of(a).c_str()));
    if (site const& s = sites()[site_at(a.site)]; a.indices.size() > s.index_count)
      throw model_error(message(
          "overdub: %.80s was selected, and \"%s\" has %u %s", text_of(a).c_str(), s.address.c_str(),
          s.index_count, s.index_count == 1 ? "index" : "indices"));
  }
}

void model_core::check_draws(std::uint32_t site) const {
  for (choice_callbacks const& each : callbacks_[site])
    if (static_cast<caller const*>(each.draw.object)->native == nullptr)
      throw model_error(message(
          "overdub: there is no sampler for the choice \"%s\": the model's program was parsed from a text, "
          "and no model with its distribution was staged",
          sites()[site].address.c_str()));
}

ir::program model_core::program_of(choice_schema const& s) const {
  for (std::uint32_t k = 0; k < sites().size(); ++k)
    if (s.roles[k] == role::drawn) check_draws(k);
  return choice_program_of(model_, s, callbacks_);
}

std::vector<i64> model_core::trip_counts(std::span<datum const> arguments) const {
  std::shared_ptr<tiered_program const> const code = [&] {
    std::lock_guard const lock(mutex_);
    if (trip_count_program_ == nullptr) trip_count_program_ = code_of(trip_count_program_of(model_));
    return trip_count_program_;
  }();
  std::vector<i64> all;
  for (datum const& n : code->run(arguments)) all.push_back(n.as<i64>());
  return all;
}

std::shared_ptr<update_program_cache> model_core::update_programs() const {
  std::lock_guard const lock(mutex_);
  if (update_programs_ == nullptr)
    update_programs_ = std::make_shared<update_program_cache>(program_of(scoring_with_presence()), options_);
  return update_programs_;
}

std::shared_ptr<tiered_program const> model_core::code_of_score() const {
  std::lock_guard const lock(mutex_);
  if (score_program_ == nullptr) score_program_ = code_of(program_of(scoring_with_presence()));
  return score_program_;
}

std::shared_ptr<tiered_program const> model_core::code_of(std::uint32_t site, site_query q) const {
  std::lock_guard const lock(mutex_);
  auto& found = query_programs_[{site, q}];
  if (found == nullptr) {
    if (q == site_query::draw) check_draws(site);
    ir::program p = site_program_of(model_, site, q, callbacks_);
    ir::function const& f = p[p.entry];
    auto const parameters = f.parameters();
    bool uses_choices = false; // whether it reads choices, or the indices of the choice
    for (std::size_t k = model_.arguments.size(); k < parameters.size(); ++k)
      uses_choices = uses_choices || f.is_used(parameters[k]);
    if (!uses_choices) same_for_all_choices_.insert({site, q});
    found = code_of(std::move(p));
  }
  return found;
}

bool model_core::is_same_for_all_choices(std::uint32_t site, site_query q) const {
  (void)code_of(site, q);
  std::lock_guard const lock(mutex_);
  return same_for_all_choices_.contains({site, q});
}

model_core::conditional_code model_core::conditional_code_of(std::vector<bool> const& active) const {
  std::lock_guard const lock(mutex_);
  conditional_code& found = conditional_programs_[active];
  if (found.values != nullptr) return found;
  choice_schema s = scoring();
  std::vector<bool> requested(program()[program().entry].parameters().size(), false);
  for (std::size_t k = 0; k < active.size(); ++k) {
    if (active[k]) s.roles[k] = role::unconstrained;
    requested.push_back(active[k]);
  }
  ir::program p = program_of(s);
  differentiate_entry(p, requested, true);
  pass::default_pipeline(p);
  std::vector<bool> known = requested;
  known.flip();
  binding_time_split const parts = split_by_binding_time(std::move(p), known);
  conditional_code made;
  made.precomputed = code_of(parts.static_part);
  made.gradient = code_of(parts.dynamic_part);
  choice_schema unconstrain = all_in(role::given);
  s.score = unconstrain.score = choice_schema::scores::none;
  unconstrain.unconstrained_values = true;
  s.values = true;
  made.unconstrain = code_of(program_of(unconstrain));
  made.values = code_of(program_of(s));
  return found = std::move(made);
}

bool model_core::has(choice_schema const& s) const {
  std::lock_guard const lock(mutex_);
  return programs_.contains(s);
}

std::size_t model_core::programs() const {
  std::lock_guard const lock(mutex_);
  return programs_.size() + gradients_.size() + query_programs_.size() + 4 * conditional_programs_.size();
}

model_run model_core::run(
    choice_schema const& s, std::span<datum const> arguments, std::span<datum const> given,
    random_key const& key, chooser const& choose) const {
  tiered_program const* code = nullptr;
  {
    std::lock_guard const lock(mutex_);
    auto at = programs_.find(s);
    if (at == programs_.end()) at = programs_.emplace(s, code_of(program_of(s))).first;
    code = at->second.get();
  }
  std::vector<datum> all(arguments.begin(), arguments.end());
  for (std::uint32_t k = 0; k < sites().size(); ++k)
    if (s.roles[k] == role::given || s.roles[k] == role::unconstrained) all.push_back(given[k]);
  drawing const now(key, &choose);
  std::vector<datum> const results = [&] {
    try {
      return code->run(all);
    } catch (size_error const& e) {
      if (std::ranges::none_of(sites(), [](site const& each) { return each.index_count > 1; })) throw;
      throw size_error(message(
          "%s; a map or a loop that makes choices makes as many in each iteration of the enclosing ones",
          e.what()));
    }
  }();

  model_run r;
  std::size_t next = 0;
  if (s.results)
    while (next < model_.function().results.size()) r.results.push_back(results[next++]);
  if (s.score != choice_schema::scores::none) r.score = results[next++].as<double>();
  if (s.score == choice_schema::scores::by_origin) r.drawn_score = results[next++].as<double>();
  if (s.values)
    for (std::size_t k = 0; k < sites().size(); ++k) r.values.push_back(results[next++]);
  if (s.unconstrained_values)
    for (site const& each : sites())
      r.unconstrained.push_back(
          parts_of(program(), program().entry, each.nodes[0]).unconstrain != ir::nothing ? results[next++]
                                                                                         : datum());
  if (s.presence)
    for (site const& each : sites()) r.presence.push_back(each.is_conditional ? results[next++] : datum());
  if (s.densities)
    for (std::size_t k = 0; k < sites().size(); ++k) r.densities.push_back(results[next++]);
  return r;
}

std::vector<datum> model_core::gradient(
    std::vector<bool> const& requested, std::span<datum const> arguments,
    std::span<datum const> given) const {
  std::vector<bool> inputs(arguments.size(), false);
  inputs.insert(inputs.end(), requested.begin(), requested.end());
  return gradient_by(inputs, arguments, given);
}

std::vector<datum>
model_core::argument_gradient(std::span<datum const> arguments, std::span<datum const> given) const {
  std::vector<bool> inputs(arguments.size(), true);
  inputs.resize(arguments.size() + sites().size(), false);
  return gradient_by(inputs, arguments, given);
}

std::vector<datum> model_core::gradient_by(
    std::vector<bool> const& inputs, std::span<datum const> arguments, std::span<datum const> given) const {
  tiered_program const* code = nullptr;
  {
    std::lock_guard const lock(mutex_);
    auto at = gradients_.find(inputs);
    if (at == gradients_.end()) {
      ir::program p = program_of(scoring());
      differentiate_entry(p, inputs, false);
      pass::default_pipeline(p);
      at = gradients_.emplace(inputs, code_of(std::move(p))).first;
    }
    code = at->second.get();
  }
  std::vector<datum> all(arguments.begin(), arguments.end());
  all.insert(all.end(), given.begin(), given.end());
  return code->run(all);
}

} // namespace overdub::models
