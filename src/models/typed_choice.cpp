#include <overdub/models/typed_choice.hpp>

#include <concepts>

namespace overdub::models::detail {

datum converted(datum const& x, ir::type to) {
  if (x.type() == to) return x;
  if (x.type().rank != to.rank) return {};
  return execute::with_type(x.type().element, [&]<class From>(From) {
    return execute::with_type(to.element, [&]<class To>(To) -> datum {
      if (to.rank == 0) {
        auto const y = as_one_of<To>(x.as<From>());
        return y ? datum(*y) : datum();
      }
      array<From> const& from = x.elements<From>();
      overdub::detail::array_builder<To> out(from.size());
      for (i64 i = 0; i < from.size(); ++i) {
        auto const y = as_one_of<To>(from[i]);
        if (!y) return {};
        out.put(i, *y);
      }
      return datum::of(x.shape(), out.finish(from.size()));
    });
  });
}

datum typed_value(address const& at, datum const& x, ir::type wanted) {
  datum y = converted(x, wanted);
  if (!y)
    throw model_error(message(
        "overdub: %.80s was given a value of type %s, and the model chooses %s%s", text_of(at).c_str(),
        overdub::detail::text_of(x.type()).c_str(), overdub::detail::text_of(wanted).c_str(),
        x.type().rank == 0 && wanted.rank > 0 ? (": give all, or one of them, " + text_of(at) + "[0]").c_str()
        : x.type() == ir::i64 && wanted == ir::boolean ? "; 0 and 1 are taken for false and true"
                                                       : ""));
  return y;
}

void check_equals(address const& at, datum const& observed, datum const& is) {
  if (!(typed_value(at, observed, is.type()) == is))
    throw model_error(message(
        "overdub: %.80s is observed as %.80s, and the trace has %.80s: generate one of what is observed",
        text_of(at).c_str(), overdub::text_of(observed).c_str(), overdub::text_of(is).c_str()));
}

} // namespace overdub::models::detail
