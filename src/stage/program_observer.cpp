#include <overdub/implementation/stage/evaluation_in_library.hpp>
#include <overdub/stage/program_observer.hpp>

#include <cstddef>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {
namespace {

template <class X>
observed_in_program observed(X const& x) {
  if constexpr (is_cell_type<X>)
    return observed_in_program(cell<stack<>>(x));
  else if constexpr (is_any_of<X> || std::is_same_v<X, listed_value>)
    return x ? x.visit([](auto const& held) { return observed(held); }) : observed_in_program();
  else if constexpr (callee<X>)
    return observed_in_program(ambient_object{X::name()});
  else
    return observed_in_program(ambient_object{
        type_name<X>().find("lambda") != std::string_view::npos ? std::string_view("<lambda>")
                                                                : type_name<X>()});
}

} // namespace

// Passes all calls to a program_observer.
struct untyped_observer : context {
  explicit untyped_observer(program_observer& observer) : to(observer) {}
  program_observer& to;

  template <callee F, class... X>
  void before(F const&, X const&... x) {
    with<F>([&](program_call const& call) { to.before(call); }, x...);
  }
  template <callee F, class R, class... X>
  void after(F const&, R const& result, X const&... x) {
    with<F>([&](program_call const& call) { to.after(call, observed(result)); }, x...);
  }
  template <callee F, class... X>
  void failed(F const&, std::exception_ptr const& exception, X const&... x) {
    with<F>([&](program_call const& call) { to.failed(call, exception); }, x...);
  }

private:
  template <class F, class Pass, class... X>
  static void with(Pass const& pass, X const&... x) {
    observed_in_program const all[] = {observed(x)..., observed_in_program()};
    constexpr program_call_kind kind = function<F>      ? program_call_kind::function
                                       : native_leaf<F> ? program_call_kind::native
                                                        : program_call_kind::primitive;
    pass({F::name(), kind, all, sizeof...(X)});
  }
};

std::vector<cell<stack<>>> evaluate_observed(
    ir::program const& p, ir::function_id f, std::vector<cell<stack<>>> const& arguments,
    program_observer& observer, evaluation_place* failed) {
  untyped_observer context(observer);
  run_lifetime<untyped_observer> const run;
  auto const contexts = make_run_stack<types<>>(run.get(), stack<>{}, context);
  using S = std::remove_const_t<decltype(contexts)>;
  std::vector<cell<S>> given;
  for (cell<stack<>> const& a : arguments)
    given.push_back(a.visit([&](auto const& x) { return cell<S>(wrap(contexts, x)); }));
  std::vector<cell<stack<>>> results;
  for (cell<S> const& r : evaluation_here<S>::run(p, contexts, f, given, failed))
    results.push_back(r.visit([](auto const& x) { return cell<stack<>>(concrete(x)); }));
  return results;
}

} // namespace overdub::detail
