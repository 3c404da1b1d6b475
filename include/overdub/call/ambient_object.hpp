// ambient_object: the name of a type, in the place of an object that hooks do not look into.
#pragma once

#include <overdub/core/requirements.hpp>

#include <string_view>

namespace overdub {

/// An object of a type that hooks do not look into. Streams print the name of its type.
struct ambient_object {
  std::string_view type;

  template <class Stream>
  friend Stream& operator<<(Stream& out, ambient_object x) {
    out << x.type;
    return out;
  }
};

} // namespace overdub
