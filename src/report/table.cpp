#include <overdub/report/table.hpp>
#include <overdub/report/text.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::report {
namespace {

// Whether each cell of a column is a number, or marks a missing one.
bool is_of_numbers(std::vector<std::vector<std::string>> const& rows, std::size_t column) {
  if (rows.empty()) return false;
  for (auto const& row : rows) {
    std::string_view const cell = row[column];
    bool const number = cell.starts_with("-∞") || cell.starts_with("∞") || cell == "–" ||
                        cell == "not defined" ||
                        (cell.find_first_of("0123456789") <= 1 && cell.find_first_of("0123456789-+.") == 0);
    if (!number) return false;
  }
  return true;
}

} // namespace

std::string table::html() const {
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].size() != heads.size())
      throw report_error(message(
          "overdub: row %zu of the table \"%.100s\" has %zu cells below %zu heads", i + 1, title.c_str(),
          rows[i].size(), heads.size()));
  std::size_t const count = rows.size() < 500 ? rows.size() : 500;
  std::string out = "<figure class=\"whole\"><figcaption>" + escaped(title) +
                    "</figcaption>\n<div class=\"picture\"><table><thead><tr>";
  std::vector<char const*> classes;
  for (std::size_t c = 0; c < heads.size(); ++c) {
    classes.push_back(is_of_numbers(rows, c) ? " class=\"number\"" : "");
    out += std::string("<th") + classes[c] + ">" + escaped(heads[c]) + "</th>";
  }
  out += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < count; ++i) {
    out += "<tr>";
    for (std::size_t c = 0; c < heads.size(); ++c)
      out += std::string("<td") + classes[c] + ">" + escaped(rows[i][c]) + "</td>";
    out += "</tr>\n";
  }
  out += "</tbody></table></div>";
  if (rows.empty()) out += "<p class=\"note\">There are no rows.</p>";
  if (rows.size() > count)
    out += "<p class=\"note\">Of " + counted(rows.size(), "row") + ", the first " + std::to_string(count) +
           " are shown.</p>";
  if (!note.empty()) out += "<p class=\"note\">" + escaped(note) + "</p>";
  return out + "</figure>\n";
}

} // namespace overdub::report
