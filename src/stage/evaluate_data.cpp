#include <overdub/stage/evaluate_data.hpp>

#include <span>
#include <vector>

namespace overdub {

std::vector<datum> evaluate(
    ir::program const& p, ir::function_id id, std::span<datum const> arguments, evaluation_place* failed) {
  ir::verify(p);
  using cell = detail::cell<stack<>>;
  std::vector<ir::type> given;
  for (datum const& d : arguments) given.push_back(d.type());
  detail::check_arguments(p, id, given);
  std::vector<cell> cells;
  for (datum const& d : arguments)
    cells.push_back(
        detail::with_type(d.type(), [&]<class T>(std::type_identity<T>) { return cell(d.as<T>()); }));
  std::vector<datum> results;
  for (cell const& c : detail::evaluation<stack<>>::run(p, {}, id, cells, failed))
    results.push_back(c.visit([](auto const& x) { return datum(x); }));
  return results;
}

std::vector<datum> evaluate(ir::program const& p, std::span<datum const> arguments) {
  return evaluate(p, detail::entry_of(p), arguments);
}

} // namespace overdub
