#include <overdub/implementation/models/binding_time.hpp>
#include <overdub/models/numbers.hpp>
#include <overdub/models/posterior.hpp>
#include <overdub/models/site_constraints.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse/gradient_program.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

namespace overdub::models {

posterior::posterior(shared_core const& m, std::vector<datum> const& arguments, choice_map const& observed) {
  auto made = std::make_shared<layout>();
  made->core = m;
  made->arguments = arguments;
  detail::site_constraints const given(*m, observed);
  weighted_trace const first = generate(m, arguments, observed, random_key(0));
  choice_schema s = m->all_in(role::unconstrained);
  s.has_trace_shapes = true;
  for (std::uint32_t k = 0; k < m->sites().size(); ++k) {
    site const& of = m->sites()[k];
    auto const reject = [&](char const* why) {
      throw model_error(message("overdub: the choice \"%s\" %s", of.address.c_str(), why));
    };
    if (given.is_whole(k)) {
      s.roles[k] = role::given;
      continue;
    }
    if (given.has(k))
      reject("is observed in part: sample what is observed and what is not at addresses of their own");
    if (of.is_discrete())
      reject("is discrete, and has no gradient: observe it, sum over its values, or move it by gibbs");
    if (of.has_random_count)
      reject("has a number of choices that depends on other choices, and may change: Hamiltonian "
             "Monte Carlo moves among as many numbers as there are at first");
    if (of.is_conditional || of.varies_in_size)
      reject("is nested in a branch, so that the number of choices may change: Hamiltonian Monte Carlo moves "
             "among as many numbers as there are at first");
  }
  made->roles = s.roles;
  made->observed = given.whole();

  choice_schema shapes = m->all_in(role::given);
  shapes.score = choice_schema::scores::none;
  shapes.unconstrained_values = true;
  model_run const start = m->run(shapes, arguments, first.of.values());
  selection latent;
  auto parameter = static_cast<std::uint32_t>(arguments.size());
  std::vector<bool> requested(arguments.size(), false);
  for (std::uint32_t k = 0; k < s.roles.size(); ++k, ++parameter) {
    requested.push_back(s.roles[k] == role::unconstrained);
    if (s.roles[k] == role::given) continue;
    datum const& y = start.unconstrained[k];
    auto const size = static_cast<std::size_t>(y.size());
    made->parts.push_back({k, parameter, made->dimension, size, y.shape()});
    made->dimension += size;
    latent.add(m->sites()[k].address);
  }

  made->names = number_row(first.of, latent).names();

  ir::program p = m->program_of(s);
  differentiate_entry(p, requested, true);
  pass::default_pipeline(p);
  std::vector<bool> known(arguments.size(), true);
  for (role const r : s.roles) known.push_back(r == role::given);
  binding_time_split const parts = split_by_binding_time(std::move(p), known);
  std::vector<datum> data = arguments;
  for (std::uint32_t k = 0; k < s.roles.size(); ++k)
    if (s.roles[k] == role::given) data.push_back(given.whole()[k]);
  made->precomputed = m->code_of(parts.static_part)->run(data);
  made->gradient = m->code_of(parts.dynamic_part);
  s.score = choice_schema::scores::none;
  s.values = true;
  made->values = m->code_of(m->program_of(s));
  layout_ = std::move(made);
  bind();
}

posterior::posterior(posterior const& other) : layout_(other.layout_) { bind(); }

// Binds arguments and observations once; the point is bound in each call.
void posterior::bind() {
  gradient_.emplace(layout_->gradient);
  values_.emplace(layout_->values);
  for (tiered_call* const call : {&*gradient_, &*values_}) {
    std::uint32_t next = 0;
    auto const pass = [&](datum const& d) {
      if (d.type().rank == 0)
        call->set(next, d.bits());
      else
        execute::with_type(d.type().element, [&]<class T>(T) {
          call->lend(next, d.elements<T>().data(), d.shape().data());
        });
    };
    for (datum const& d : layout_->arguments) pass(d), ++next;
    for (std::uint32_t k = 0; k < layout_->roles.size(); ++k, ++next)
      if (layout_->roles[k] == role::given) pass(layout_->observed[k]);
    if (call == &*gradient_)
      for (datum const& d : layout_->precomputed) pass(d), ++next;
  }
}

void posterior::lend(bound_call& to, std::span<double const> q) const {
  for (part const& p : layout_->parts)
    if (p.extents.empty())
      to.set(p.parameter, std::bit_cast<std::uint64_t>(q[p.first]));
    else
      to.lend(p.parameter, q.data() + p.first, p.extents.data());
}

double posterior::operator()(std::span<double const> q, std::span<double> gradient) {
  lend(*gradient_, q);
  gradient_->run();
  std::size_t next = 1;
  for (part const& p : layout_->parts) {
    if (p.extents.empty())
      gradient[p.first] = std::bit_cast<double>(gradient_->word(next));
    else if (p.size > 0)
      std::memcpy(gradient.data() + p.first, gradient_->elements(next), p.size * sizeof(double));
    ++next;
  }
  return std::bit_cast<double>(gradient_->word(0));
}

void posterior::report(std::span<double const> q, std::span<double> out) {
  lend(*values_, q);
  values_->run();
  std::size_t at = 0;
  for (part const& p : layout_->parts) {
    ir::type const t = layout_->core->sites()[p.site].type_of_all();
    if (t.rank == 0) {
      out[at++] = std::bit_cast<double>(values_->word(p.site));
      continue;
    }
    std::size_t size = 1;
    for (std::uint32_t k = 0; k < t.rank; ++k) size *= static_cast<std::size_t>(values_->extents(p.site)[k]);
    if (size > 0) std::memcpy(out.data() + at, values_->elements(p.site), size * sizeof(double));
    at += size;
  }
}

std::vector<double> posterior::numbers_of(trace const& t) const {
  choice_schema s = layout_->core->all_in(role::given);
  s.score = choice_schema::scores::none;
  s.unconstrained_values = true;
  model_run const r = layout_->core->run(s, layout_->arguments, t.values());
  std::vector<double> q(layout_->dimension);
  for (part const& p : layout_->parts) {
    datum const& y = r.unconstrained[p.site];
    if (p.extents.empty())
      q[p.first] = y.as<double>();
    else
      std::ranges::copy(y.elements<double>(), q.begin() + static_cast<std::ptrdiff_t>(p.first));
  }
  return q;
}

trace posterior::trace_of(std::span<double const> q) const {
  choice_schema s{.roles = layout_->roles, .score = choice_schema::scores::none, .values = true};
  std::vector<datum> given = layout_->observed;
  for (part const& p : layout_->parts)
    given[p.site] = p.extents.empty()
                        ? datum(q[p.first])
                        : datum::of(p.extents, array<double>::copy_of(q.subspan(p.first, p.size)));
  model_run const values = layout_->core->run(s, layout_->arguments, given);
  choice_schema all = detail::tracing(*layout_->core, role::given);
  return trace(layout_->core, layout_->arguments, layout_->core->run(all, layout_->arguments, values.values));
}

} // namespace overdub::models
