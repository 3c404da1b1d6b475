#include <overdub/core/floating_point.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/models/define_moves.hpp>
#include <overdub/models/moves.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace overdub::models {

namespace detail {

bool accepts(double weight, double score, random_generator& g, move_record& record) {
  ++record.proposed;
  double const u = std::log(g.uniform());
  if (overdub::is_nan(weight)) {
    ++record.undefined;
    return false;
  }
  if (std::abs(u - weight) <= 1e-9 * std::max(1.0, std::abs(score))) ++record.ties;
  bool const yes = u < weight;
  record.accepted += yes;
  return yes;
}

void reject_unless(bool fits, site const& s, char const* why) {
  if (!fits) throw model_error(message("overdub: the choice \"%s\" %s", s.address.c_str(), why));
}

} // namespace detail

random_walk::random_walk(std::string address, double sd) : address_(std::move(address)), sd_(sd) {
  if (!(sd > 0 && overdub::is_finite(sd)))
    throw model_error(message(
        "overdub: random_walk(\"%.80s\", %g): a step has a standard deviation above 0", address_.c_str(),
        sd));
}

void random_walk::adapt(std::size_t) {
  if (!moved_) return; // the last transition made no such choice
  sd_ *= std::exp((acceptance_ - 0.44) / std::sqrt(static_cast<double>(++adapted_)));
}

void elliptical_slice::reject_loops(model_core const& m, std::uint32_t s) {
  ir::function const& f = m.model().function();
  for (ir::region_id at = f[m.sites()[s].nodes[0]].parent; f[at].parent != ir::nothing;
       at = f[f[at].parent].parent)
    detail::reject_unless(
        !ir::carries_values(f[f[at].parent].code), m.sites()[s],
        "is nested in a loop, where the distribution of one may depend on another; elliptical_slice moves "
        "all "
        "of a site at once: move it by random_walk or from_prior");
}

template void gibbs::operator()(followed_trace&, random_key const&, move_record&);
template void gibbs::operator()(reexecuted_trace&, random_key const&, move_record&);
template void random_walk::operator()(followed_trace&, random_key const&, move_record&);
template void random_walk::operator()(reexecuted_trace&, random_key const&, move_record&);
template void from_prior::operator()(followed_trace&, random_key const&, move_record&);
template void from_prior::operator()(reexecuted_trace&, random_key const&, move_record&);
template void elliptical_slice::operator()(followed_trace&, random_key const&, move_record&);
template void elliptical_slice::operator()(reexecuted_trace&, random_key const&, move_record&);

} // namespace overdub::models
