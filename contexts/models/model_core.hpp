// A model's programs, and how they are run.
#pragma once

#include <overdub/compile/options.hpp>
#include <overdub/compile/tiered_program.hpp>
#include <overdub/contexts/incremental/update_program_cache.hpp>
#include <overdub/contexts/models/choice_program.hpp>
#include <overdub/contexts/models/choices.hpp>
#include <overdub/contexts/models/site_program.hpp>
#include <overdub/contexts/models/turns_program.hpp>
#include <overdub/contexts/random.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/header_only.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {

/// What a run of a model gave, as far as its schema asked for it.
struct model_run {
  std::vector<datum> results;
  double score = 0;             // of all choices; or of those that were given
  double drawn_score = 0;       // of the others
  std::vector<datum> values;    // by site
  std::vector<datum> free;      // by site; nothing where it is discrete
  std::vector<datum> presence;  // by site; nothing where it is not conditional
  std::vector<datum> densities; // by site
};

/// Says what a choice is, where its role is `chosen`: nothing, where it is to be drawn.
using chooser = std::function<datum(std::uint32_t site, std::span<i64 const> indices)>;

/// From so many programs on, constraints of other combinations of sites get none of their own.
inline constexpr std::size_t most_programs = 32;

/// A model's sites, and its programs by schema, which are made when they are first asked for. Immutable to its users; thread-safe.
class model_core : public std::enable_shared_from_this<model_core> {
public:
  /// Throws model_error where the function makes choices that cannot be followed.
  OVERDUB_DECL model_core(ir::program staged, compile_options const& o);
  model_core(model_core const&) = delete;
  model_core& operator=(model_core const&) = delete;
  OVERDUB_DECL ~model_core();

  std::vector<site> const& sites() const { return model_.sites; }
  ir::program const& program() const { return model_.program; }
  model_program const& model() const { return model_; }
  compile_options const& options() const { return options_; }
  std::string name() const { return std::string(program().name_of(program().entry)); }
  bool has_conditional_sites() const {
    return std::ranges::any_of(sites(), [](site const& s) { return s.is_conditional; });
  }
  /// The site of this address. Throws model_error, with one that is spelled alike.
  OVERDUB_DECL std::uint32_t site_at(std::string_view address) const;
  /// Throws model_error for an address of a selection that no choice of the model can have.
  OVERDUB_DECL void check(selection const& of) const;

  /// Runs the model. `given` has an element for each site: its choices, where they are given. Throws what the model throws.
  OVERDUB_DECL model_run
  run(choice_schema const& s, std::span<datum const> arguments, std::span<datum const> given,
      random_key const& key = random_key(0), chooser const& choose = {}) const;
  /// The gradient of the score of all choices, by those of these sites; 0 or nothing for the others.
  OVERDUB_DECL std::vector<datum> gradient(
      std::vector<bool> const& asked, std::span<datum const> arguments, std::span<datum const> given) const;
  /// The same by the arguments, all of them: 0 or an empty array for those that have no derivatives.
  OVERDUB_DECL std::vector<datum>
  argument_gradient(std::span<datum const> arguments, std::span<datum const> given) const;

  /// The trip counts of the maps and loops that enclose each site, with these arguments, outermost first: one number for each index of its
  /// addresses; `unknown_trip_count`, where it depends on more than the arguments.
  OVERDUB_DECL std::vector<i64> trip_counts(std::span<datum const> arguments) const;

  /// The score of all choices, and for each conditional site which of its choices were made, as a function that is updated incrementally for changes of the
  /// arguments and choices, which are its inputs in this order.
  OVERDUB_DECL std::shared_ptr<contexts::update_program_cache> slices() const;
  /// The same as a program that is run in full.
  OVERDUB_DECL std::shared_ptr<tiered_program const> code_of_score() const;
  /// The program of one choice. Throws model_error where the question has no answer.
  OVERDUB_DECL std::shared_ptr<tiered_program const> code_of(std::uint32_t site, site_question q) const;
  /// Whether what is asked of a site's choices is answered by the model's arguments alone: all choices have one answer.
  OVERDUB_DECL bool has_one_answer(std::uint32_t site, site_question q) const;
  /// Programs of the density of the choices of some sites, without constraints: `once` gives what depends on the others alone, and takes
  /// the arguments and these; `gradient` takes all, and that, and gives the logarithm and its derivatives; `free` gives the numbers without
  /// constraints of all continuous choices, and `values` all choices of numbers.
  struct conditional_code {
    std::shared_ptr<tiered_program const> once, gradient, free, values;
  };
  OVERDUB_DECL conditional_code code_of_some(std::vector<bool> const& sites) const;
  /// Code of a program that was optimised already, run as the model's options say.
  std::shared_ptr<tiered_program const> code_of(ir::program p) const {
    return tiered_program::of(std::move(p), options_, optimised::already);
  }
  /// The program of a schema, for what runs it by itself.
  OVERDUB_DECL ir::program program_of(choice_schema const& s) const;

  /// All choices in one role.
  choice_schema all_in(role r) const { return {.roles = std::vector<role>(sites().size(), r)}; }
  /// Whether the program of a schema was made already; and how many programs were made.
  OVERDUB_DECL bool has(choice_schema const& s) const;
  OVERDUB_DECL std::size_t programs() const;

  /// The random numbers of what is drawn in this thread, until the end of the scope.
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
    // Called by functions that the linker may have merged, and by some that it has not: not inlined, so that all mean one variable.
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
    std::uint32_t site_ = ~std::uint32_t{0}; // that drew last
    random_key of_site_{0};
  };

private:
  struct caller;

  // The score of the choices of a trace.
  choice_schema scoring() const {
    choice_schema s = all_in(role::given);
    s.shaped = true;
    return s;
  }
  choice_schema following() const {
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
  std::vector<std::vector<choice_source>> sources_; // by site and operation
  mutable std::mutex mutex_;
  mutable std::map<choice_schema, std::shared_ptr<tiered_program const>> made_;
  mutable std::map<std::vector<bool>, std::shared_ptr<tiered_program const>> gradients_;
  mutable std::map<std::vector<bool>, conditional_code> of_some_;
  mutable std::map<std::pair<std::uint32_t, site_question>, std::shared_ptr<tiered_program const>> of_sites_;
  mutable std::set<std::pair<std::uint32_t, site_question>> with_one_answer_; // of these
  mutable std::shared_ptr<contexts::update_program_cache> slices_;
  mutable std::shared_ptr<tiered_program const> of_score_, of_turns_;
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/model_core.ipp>
#endif
