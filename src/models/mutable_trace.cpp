#include <overdub/models/mutable_trace.hpp>

#include <cstdint>
#include <vector>

namespace overdub::models {

namespace rejections {

void argument_number(model_core const& m, std::uint32_t k, std::uint32_t arguments) {
  throw model_error(message(
      "overdub: argument %d of the model @%s was set, and it has %u, counted from 0", static_cast<int>(k),
      m.name().c_str(), arguments));
}
void argument_type(model_core const& m, std::uint32_t k, ir::type wanted, ir::type given) {
  throw argument_error(message(
      "overdub: argument %u of the model @%s is %s, and was given %s", k, m.name().c_str(),
      overdub::detail::text_of(wanted).c_str(), overdub::detail::text_of(given).c_str()));
}
void counting(model_core const& m, std::uint32_t k, std::uint32_t site) {
  throw model_error(message(
      "overdub: argument %u of the model @%s decides how many choices \"%s\" there are, or how large they "
      "are; change such traces by extend, where there are more, or by update",
      k, m.name().c_str(), m.sites()[site].address.c_str()));
}
void observed(model_core const& m, std::uint32_t site) {
  throw model_error(
      message("overdub: the choice \"%s\" is observed, and does not move", m.sites()[site].address.c_str()));
}
void commit() {
  throw model_error(
      message("overdub: the function of metropolis commits its proposal; it sets choices, and the "
              "move decides whether they stay"));
}
void appearing(model_core const& m, std::vector<std::vector<i64>> const& shapes, choice_index const& choice) {
  std::vector<i64> at;
  indices_of(shapes[choice.site], choice.number, at);
  throw model_error(message(
      "overdub: a change makes the choice %.80s appear, and its value is not given; set it, too, or give "
      "propose a key, with which it is drawn",
      text_of(address(m.sites()[choice.site].address, at)).c_str()));
}

} // namespace rejections

template class mutable_trace<incremental_program>;
template class mutable_trace<reexecuted_program>;

} // namespace overdub::models
