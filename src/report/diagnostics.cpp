#include <overdub/core/floating_point.hpp>
#include <overdub/report/diagnostics.hpp>
#include <overdub/report/table.hpp>
#include <overdub/report/text.hpp>

#include <string>

namespace overdub::report {

std::string diagnostics::html() const {
  table t{
      .title = title,
      .heads = {"variable", "mean", "mcse", "sd", "5 %", "50 %", "95 %", "R-hat", "ESS bulk", "ESS tail"}};
  for (inference::summary::row const& r : summary.rows())
    t.rows.push_back(
        {r.name, number_beside(r.mean, r.sd), number(r.mcse, 2), number(r.sd), number_beside(r.q5, r.sd),
         number_beside(r.median, r.sd), number_beside(r.q95, r.sd),
         overdub::is_finite(r.rhat) ? writing::fixed(r.rhat, 3) : number(r.rhat), number(r.ess_bulk, 1),
         number(r.ess_tail, 1)});
  std::string out = t.html();
  out += "<div class=\"verdict " + std::string(summary.warnings().empty() ? "well" : "warned") + "\">";
  if (summary.warnings().empty())
    out += "<p>No warnings" +
           (summary.has_energies() ? ": no divergences in " + counted(summary.transitions(), "transition") +
                                         "; R-hat, effective sample sizes and E-BFMI"
                                   : " (" + counted(summary.transitions(), "transition") +
                                         "): R-hat and effective sample sizes") +
           " are within their limits.</p>";
  for (std::string const& w : summary.warnings()) out += "<p>" + escaped(w) + ".</p>";
  return out + "</div>\n";
}

} // namespace overdub::report
