#include <overdub/models/resimulation.hpp>
#include <overdub/models/typed_choice.hpp>

#include <limits>

namespace overdub::models::detail {

void reject_array(address const& at, datum const& x) {
  if (x && x.type().rank > 0)
    throw model_error(message(
        "overdub: the choice %.80s is an array, and only numbers can be reported; remove it from the "
        "reported addresses",
        text_of(at).c_str()));
}

double reported_number(address const& at, datum const& x) {
  return x ? typed_value(at, x, ir::f64).as<double>() : std::numeric_limits<double>::quiet_NaN();
}

} // namespace overdub::models::detail
