// The generative function interface as contexts: simulating, generating, assessing, updating and regenerating make the choices of the
// function that runs in them, as the operations of `dynamic_model` do, and weigh them.
#pragma once

#include <overdub/contexts/models/choosing.hpp>
#include <overdub/header_only.hpp>

#include <memory>
#include <utility>

namespace overdub::models {

/// What a run changed of the choices of an earlier one: the logarithm of its weight, and the choices that are not there any more, or
/// have new values.
struct record_change {
  double weight = 0;
  choice_map discard;
};

namespace detail {

// What an earlier run has there, if it is of this type.
OVERDUB_DECL datum kept(choice_record const& before, address const& at, ir::type type);
// What is given there. Throws model_error where nothing is.
OVERDUB_DECL datum given_to_assess(choice_map const& choices, address const& at);
// log p(now) - log p(before) - log q(drawn).
OVERDUB_DECL record_change
update_of(choice_record const& before, choice_record const& now, choice_map const& changes);
// The logarithm of the acceptance ratio of Metropolis and Hastings: what all that stays says, now and before.
OVERDUB_DECL record_change
regeneration_of(choice_record const& before, choice_record const& now, choice_map const& observed);

} // namespace detail

/// Draws all choices of the function that runs in it. It composes as `choosing` does: contexts around it see the function's calls.
///   simulating s(random_key(7)); double y = overdub(compose(log, s), f, 1.0); s.made().score()
class simulating : public choosing {
public:
  explicit simulating(random_key const& key) : choosing(key) {}
};

/// Draws the choices that are not constrained.
class generating : public choosing {
public:
  generating(choice_map constraints, random_key const& key)
      : generating(std::make_shared<choice_map const>(std::move(constraints)), key) {}

  /// The log density of the constrained choices: an importance weight. Throws unmade_error where a constrained choice was not made.
  double weight() const;

private:
  generating(std::shared_ptr<choice_map const> const& all, random_key const& key)
      : choosing(key, [all](address const& at, ir::type) { return all->find(at); }), constraints_(all) {}

  std::shared_ptr<choice_map const> constraints_;
};

/// Makes the choices that are given. The run throws model_error where one is not.
class assessing : public choosing {
public:
  explicit assessing(choice_map choices)
      : assessing(std::make_shared<choice_map const>(std::move(choices))) {}

  /// The log density of all choices. Throws unmade_error where one that is given was not made.
  double score() const;

private:
  explicit assessing(std::shared_ptr<choice_map const> const& all);

  std::shared_ptr<choice_map const> choices_;
};

/// Makes the choices of an earlier run again, but for those that change. Those that it does not have, or has with another type, are
/// drawn.
class updating : public choosing {
public:
  updating(choice_record before, choice_map changes, random_key const& key = random_key(0))
      : updating(std::make_shared<data const>(data{std::move(before), std::move(changes)}), key) {}

  /// log p(new) - log p(old) - log q(drawn), and what an update goes back by. Throws unmade_error where a choice that changes was not made.
  record_change change() const;

private:
  struct data {
    choice_record before;
    choice_map changes;
  };
  updating(std::shared_ptr<data const> const& all, random_key const& key);

  std::shared_ptr<data const> data_;
};

/// Makes the choices of an earlier run again, but draws those that are selected. What was observed stays, and is not drawn where it
/// appears.
class regenerating : public choosing {
public:
  regenerating(choice_record before, selection of, random_key const& key, choice_map observed = {})
      : regenerating(
            std::make_shared<data const>(data{std::move(before), std::move(of), std::move(observed)}), key) {}

  /// The logarithm of the acceptance ratio of Metropolis and Hastings, and the choices that were there. Throws unmade_error where an
  /// observed choice was not made.
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

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/generating.ipp>
#endif
