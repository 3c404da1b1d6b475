// The compiled form of a model: its program, its sites, and the programs of its operations, which are compiled on demand and cached.
#pragma once

#include <overdub/compile/options.hpp>
#include <overdub/compile/tiered_program.hpp>
#include <overdub/core/library.hpp>
#include <overdub/core/mutex.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/incremental/update_program_cache.hpp>
#include <overdub/models/choice_program.hpp>
#include <overdub/models/choices.hpp>
#include <overdub/models/site_program.hpp>
#include <overdub/models/trip_count_program.hpp>
#include <overdub/random.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::models {

/// The results of a run of a model: those that its schema requests.
struct model_run {
  std::vector<datum> results;
  double score = 0;                 // of all choices; or of given ones
  double drawn_score = 0;           // of drawn ones
  std::vector<datum> values;        // by site
  std::vector<datum> unconstrained; // by site; nothing if it has no transform
  std::vector<datum> presence;      // by site; nothing if it is not conditional
  std::vector<datum> densities;     // by site
};

/// Returns the value of a choice whose role is `chosen`; nothing, if the choice must be drawn.
using chooser = std::function<datum(std::uint32_t site, std::span<i64 const> indices)>;

/// The limit of cached programs. Beyond it, constraints of new combinations of sites run a generic program instead of a specialised one.
inline constexpr std::size_t maximum_programs = 32;

/// A model's sites, and its programs by schema, each compiled at its first use. Logically immutable; thread-safe.
class model_core : public std::enable_shared_from_this<model_core> {
public:
  /// Throws model_error if the addresses of the function's choices cannot be determined (`model_program_of`).
  model_core(ir::program staged, compile_options const& o);
  model_core(model_core const&) = delete;
  model_core& operator=(model_core const&) = delete;
  ~model_core();

  std::vector<site> const& sites() const { return model_.sites; }
  ir::program const& program() const { return model_.program; }
  model_program const& model() const { return model_; }
  compile_options const& options() const { return options_; }
  std::string name() const { return std::string(program().name_of(program().entry)); }
  bool has_conditional_sites() const {
    return std::ranges::any_of(sites(), [](site const& s) { return s.is_conditional; });
  }
  /// The site of this address. If there is none, throws model_error, with the name of a similar one.
  std::uint32_t site_at(std::string_view address) const;
  /// Throws model_error for an address of a selection that no choice of the model can have.
  void check(selection const& of) const;

  /// Runs the model. `given` has an element for each site, which is read if its role is given or unconstrained. Throws the exceptions
  /// of the model.
  model_run
  run(choice_schema const& s, std::span<datum const> arguments, std::span<datum const> given,
      random_key const& key = random_key(0), chooser const& choose = {}) const;
  /// The gradient of the score with respect to the choices of the requested sites, in the order of sites.
  std::vector<datum> gradient(
      std::vector<bool> const& requested, std::span<datum const> arguments,
      std::span<datum const> given) const;
  /// The gradient of the score with respect to all arguments: 0 or an empty array for those that are not differentiable.
  std::vector<datum> argument_gradient(std::span<datum const> arguments, std::span<datum const> given) const;

  /// The trip counts of the maps and loops that enclose each site, with these arguments, outermost first: one number for each index of its
  /// addresses; `unknown_trip_count`, if the arguments do not determine it.
  std::vector<i64> trip_counts(std::span<datum const> arguments) const;

  /// The incremental program whose inputs are the arguments and the choices of each site. Its results are the score and, for each
  /// conditional site, the bools that state which of its choices are made.
  std::shared_ptr<update_program_cache> update_programs() const;
  /// The same program, for runs in full.
  std::shared_ptr<tiered_program const> code_of_score() const;
  /// The program of a query about one choice. Throws model_error if the site's distribution does not support it.
  std::shared_ptr<tiered_program const> code_of(std::uint32_t site, site_query q) const;
  /// Whether the result of a query depends only on the model's arguments, so that it is the same for all choices of the site.
  bool is_same_for_all_choices(std::uint32_t site, site_query q) const;
  /// Programs of the density of the choices of active sites on the unconstrained space, given all other choices. `precomputed` takes the
  /// arguments and the other choices, and returns what depends on them alone; `gradient` takes the arguments, all choices, and these
  /// values, and returns the log density and its gradient. `unconstrain` maps all choices to the unconstrained space, and `values` maps
  /// back.
  struct conditional_code {
    std::shared_ptr<tiered_program const> precomputed, gradient, unconstrain, values;
  };
  conditional_code conditional_code_of(std::vector<bool> const& sites) const;
  /// Compiles an optimised program with the model's options.
  std::shared_ptr<tiered_program const> code_of(ir::program p) const {
    return tiered_program::of(std::move(p), options_, optimised::already);
  }
  /// The program of a schema, which is not cached.
  ir::program program_of(choice_schema const& s) const;

  /// All choices in one role.
  choice_schema all_in(role r) const { return {.roles = std::vector<role>(sites().size(), r)}; }
  /// Whether the program of a schema is cached; and the number of cached programs.
  bool has(choice_schema const& s) const;
  std::size_t programs() const;

  /// Until the end of the scope, runs in this thread draw choices by this key.
  class drawing {
  public:
    explicit drawing(random_key const& key, chooser const* choose = nullptr)
        : key_(key), choose_(choose), before_(current()) {
      current() = this;
    }
    drawing(drawing const&) = delete;
    drawing& operator=(drawing const&) = delete;
    ~drawing() { current() = before_; }

  private:
    friend class model_core;
    // Not inlined: functions that the linker merged across shared libraries, and others, must refer to one thread-local variable.
    static drawing*& current();
    random_key const& key_of(std::uint32_t site, std::string const& address) {
      if (site != site_) {
        site_ = site;
        of_site_ = key_.at(address);
      }
      return of_site_;
    }

    random_key key_;
    chooser const* choose_;
    drawing* before_;
    std::uint32_t site_ = ~std::uint32_t{0}; // of which of_site_ is the key
    random_key of_site_{0};
  };

private:
  struct caller;

  // The program of a trace's score.
  choice_schema scoring() const {
    choice_schema s = all_in(role::given);
    s.has_trace_shapes = true;
    return s;
  }
  choice_schema scoring_with_presence() const {
    choice_schema s = scoring();
    s.presence = has_conditional_sites();
    return s;
  }
  void check_draws(std::uint32_t site) const;
  std::vector<datum> gradient_by(
      std::vector<bool> const& inputs, std::span<datum const> arguments, std::span<datum const> given) const;

  model_program model_;
  compile_options options_;
  std::vector<std::unique_ptr<caller>> callers_;
  std::vector<std::vector<choice_callbacks>> callbacks_; // by site and operation
  mutable overdub::detail::mutex mutex_;
  mutable std::map<choice_schema, std::shared_ptr<tiered_program const>> programs_;
  mutable std::map<std::vector<bool>, std::shared_ptr<tiered_program const>> gradients_;
  mutable std::map<std::vector<bool>, conditional_code> conditional_programs_;
  mutable std::map<std::pair<std::uint32_t, site_query>, std::shared_ptr<tiered_program const>>
      query_programs_;
  mutable std::set<std::pair<std::uint32_t, site_query>> same_for_all_choices_; // of these
  mutable std::shared_ptr<update_program_cache> update_programs_;
  mutable std::shared_ptr<tiered_program const> score_program_, trip_count_program_;
};

} // namespace overdub::models
