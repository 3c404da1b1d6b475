// The generative function interface as contexts: simulating, generating, assessing, updating and regenerating make the choices of the
// function that runs in them, as the operations of `dynamic_model` do, and weigh them.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/models/choosing.hpp>

#include <memory>
#include <utility>

namespace overdub::models {

/// The change of the choices between two runs: the logarithm of its weight, and the earlier run's choices that are not made any more, or
/// have new values.
struct record_change {
  double weight = 0;
  choice_map discard;
};

namespace detail {

// Sources of the choices of a run. They refer to their arguments.
choosing::source constrained(choice_map const& by);
choosing::source required(choice_map const& choices);
choosing::source replayed(choice_record const& before, choice_map const& changes);
choosing::source redrawn(choice_record const& before, selection const& of, choice_map const& observed);
// log p(now) - log p(before) - log q(drawn).
record_change update_of(choice_record const& before, choice_record const& now, choice_map const& changes);
// The logarithm of the Metropolis-Hastings acceptance ratio: the log ratio of the densities of the choices that are kept.
record_change
regeneration_of(choice_record const& before, choice_record const& now, choice_map const& observed);

} // namespace detail

/// Draws all choices of the function that runs in it. It composes as `choosing` does: enclosing contexts intercept the function's calls.
///   simulating s(random_key(7)); double y = overdub(compose(log, s), f, 1.0); s.made().score()
class simulating : public choosing {
public:
  explicit simulating(random_key const& key) : choosing(key) {}
};

/// Draws the choices that have no constraint.
class generating : public choosing {
public:
  generating(choice_map constraints, random_key const& key)
      : generating(std::make_shared<choice_map const>(std::move(constraints)), key) {}

  /// The log density of the constrained choices: an importance weight. Throws unmade_error where a constrained choice was not made.
  double weight() const;

private:
  generating(std::shared_ptr<choice_map const> const& all, random_key const& key);

  std::shared_ptr<choice_map const> constraints_;
};

/// Makes the given choices. The run throws model_error where one is missing.
class assessing : public choosing {
public:
  explicit assessing(choice_map choices)
      : assessing(std::make_shared<choice_map const>(std::move(choices))) {}

  /// The log density of all choices. Throws unmade_error where a given choice was not made.
  double score() const;

private:
  explicit assessing(std::shared_ptr<choice_map const> const& all);

  std::shared_ptr<choice_map const> choices_;
};

/// Replays the choices of an earlier run, with changes. A choice that is neither changed nor in the earlier run with this type is drawn.
class updating : public choosing {
public:
  updating(choice_record before, choice_map changes, random_key const& key = random_key(0))
      : updating(std::make_shared<data const>(data{std::move(before), std::move(changes)}), key) {}

  /// log p(new) - log p(old) - log q(drawn), and the discarded choices, by which an update restores the earlier run. Throws unmade_error
  /// where a changed choice was not made.
  record_change change() const;

private:
  struct data {
    choice_record before;
    choice_map changes;
  };
  updating(std::shared_ptr<data const> const& all, random_key const& key);

  std::shared_ptr<data const> data_;
};

/// Replays the choices of an earlier run, and draws the selected ones. Observed choices are kept, and are not drawn where they appear.
class regenerating : public choosing {
public:
  regenerating(choice_record before, selection of, random_key const& key, choice_map observed = {})
      : regenerating(
            std::make_shared<data const>(data{std::move(before), std::move(of), std::move(observed)}), key) {}

  /// The logarithm of the Metropolis-Hastings acceptance ratio, and the discarded choices. Throws unmade_error where an observed choice was
  /// not made.
  record_change change() const;

private:
  struct data {
    choice_record before;
    selection of;
    choice_map observed;
  };
  regenerating(std::shared_ptr<data const> const& all, random_key const& key);

  std::shared_ptr<data const> data_;
};

} // namespace overdub::models
