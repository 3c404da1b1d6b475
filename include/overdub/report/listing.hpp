// listing: preformatted text, as source code or the output of a program.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/report/share.hpp>

#include <string>

namespace overdub::report {

/// Preformatted text in a monospaced font. Long lines are wrapped.
struct listing {
  std::string title, text;
  share width = share::whole;
  std::string note = {};

  /// O(size of the text).
  std::string html() const;
};

} // namespace overdub::report
