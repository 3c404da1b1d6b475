#include <overdub/compile/fields_as_arguments.hpp>
#include <overdub/core/error.hpp>
#include <overdub/implementation/execute/native_host.hpp>
#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/stage/recorder.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

namespace overdub::detail {

// Rewrites functions that read fields, with the fields as additional parameters, and their calls.
class field_writer {
public:
  explicit field_writer(ir::program& p) : p_(p), reads_(p.functions.size()) {}

  std::vector<field_argument> write() && {
    find_fields();
    if (fields_.empty()) return {};
    find_readers();
    if (!reads_[index_of(p_.entry)]) return {};
    std::vector<ir::function_id> made(reads_.size(), ir::nothing);
    for (std::uint32_t f = 0; f < reads_.size(); ++f)
      if (reads_[f]) made[f] = declare(ir::function_id{f});
    for (std::uint32_t f = 0; f < reads_.size(); ++f)
      if (reads_[f]) write(ir::function_id{f}, made);
    p_.entry = made[index_of(p_.entry)];
    for (std::uint32_t f = 0; f < reads_.size(); ++f)
      if (reads_[f]) p_.erase(ir::function_id{f});
    std::erase_if(p_.hosts, [&](ir::host_binding const& h) { return is_field(h); });
    return std::move(fields_);
  }

private:
  bool is_field(ir::host_binding const& h) const {
    return h.context != ir::host_binding::no_context && p_.text(h.name).starts_with(context_field_prefix);
  }
  // The field that an operation reads, if any.
  std::optional<field_argument> field_of(ir::function const& f, ir::node_id n) const {
    if (f[n].code != ir::op::host) return {};
    ir::host_binding const* const h = p_.host(f[n].attributes.text());
    if (h == nullptr || !is_field(*h)) return {};
    return field_argument{
        h->context, static_cast<i64>(f.bits_of(f.operand(n, 0))), f.type_of(f.result(n)), h->run};
  }

  template <class Visit>
  void for_each_operation(Visit const& visit) const {
    for (std::uint32_t f = 0; f < reads_.size(); ++f)
      if (!p_.is_erased(ir::function_id{f}))
        ir::walk(p_.functions[f], ir::function::body, [&](ir::node_id n) { visit(ir::function_id{f}, n); });
  }
  void find_fields() {
    for_each_operation([&](ir::function_id f, ir::node_id n) {
      auto const field = field_of(p_[f], n);
      if (field && std::ranges::find(fields_, *field) == fields_.end()) fields_.push_back(*field);
    });
  }
  // The functions that read fields, and their callers.
  void find_readers() {
    reads_ = ir::functions_with(p_, ir::call_components(p_), [&](ir::function const& f, ir::node_id n) {
      return field_of(f, n).has_value();
    });
    for_each_operation([&](ir::function_id f, ir::node_id n) {
      if (p_[f][n].code == ir::op::closure && reads_[index_of(p_[f][n].attributes.callee())])
        refuse(p_[f][n].attributes.callee(), "is passed as a value");
    });
    for (std::uint32_t f = 0; f < reads_.size(); ++f) {
      ir::derivative const& d = p_.functions[f].derivative;
      if (reads_[f] && d.how != ir::derivative::by::body)
        refuse(ir::function_id{f}, "says how it is differentiated");
      for (ir::function_id const rule : {d.tangent, d.cotangent})
        if (rule != ir::nothing && reads_[index_of(rule)]) refuse(rule, "is the derivative of another one");
    }
  }
  [[noreturn]] void refuse(ir::function_id f, char const* what) const {
    throw staging_error(message(
        "overdub: @%s reads a field of its context, and %s, which is possible in compile and gradient, and "
        "not in incremental or model; give the field to the function as an argument",
        std::string(p_.name_of(f)).c_str(), what));
  }

  ir::function_id declare(ir::function_id f) {
    std::vector<ir::type> types;
    for (ir::value_id const v : p_[f].parameters()) types.push_back(p_[f].type_of(v));
    for (field_argument const& field : fields_) types.push_back(field.type);
    ir::function_id const made = p_.add(p_.name_of(f), types);
    ir::function const& from = p_[f];
    ir::function& to = p_[made];
    to.results = from.results;
    to.place = from.place;
    return made;
  }
  void write(ir::function_id f, std::vector<ir::function_id> const& made) {
    ir::function_id const to = made[index_of(f)];
    ir::value_map<ir::value_id> map;
    auto const count = static_cast<std::uint32_t>(p_[f].parameters().size());
    for (std::uint32_t i = 0; i < count; ++i)
      map.insert_or_assign(p_[f].argument(ir::function::body, i), p_[to].argument(ir::function::body, i));
    {
      ir::cursor end(p_, to, ir::function::body);
      end.clone_contents(f, ir::function::body, map);
    }
    auto const parameter_of = [&](std::size_t field) {
      return p_[to].argument(ir::function::body, count + static_cast<std::uint32_t>(field));
    };
    for (ir::cursor at(p_, to); at.next();) {
      ir::node_id const n = at.node();
      if (auto const field = field_of(*at, n)) {
        auto const k = std::ranges::find(fields_, *field) - fields_.begin();
        at.replace(parameter_of(static_cast<std::size_t>(k)));
      } else if (at.code() == ir::op::call && reads_[index_of((*at)[n].attributes.callee())]) {
        std::vector<ir::value_id> operands;
        for (ir::value_id const v : at->operands_of(n)) operands.push_back(v);
        for (std::size_t k = 0; k < fields_.size(); ++k) operands.push_back(parameter_of(k));
        ir::function_id const callee = made[index_of((*at)[n].attributes.callee())];
        at.set_operands(n, operands);
        at.attributes_of(n).subject = index_of(callee);
      }
    }
  }

  ir::program& p_;
  std::vector<bool> reads_; // by function: whether it, or a callee, reads fields
  std::vector<field_argument> fields_;
};

std::vector<field_argument> fields_as_arguments(ir::program& p) { return field_writer(p).write(); }

datum value_of(field_argument const& field, void* context) {
  return execute::with_native_type(field.type, [&]<class T>() {
    T x{};
    void const* const arguments[] = {&field.offset};
    void* const results[] = {&x};
    field.read(context, arguments, results);
    return datum(x);
  });
}

} // namespace overdub::detail
