#include <overdub/pass/pipeline_step.hpp>

#include <string>
#include <utility>
#include <vector>

namespace overdub::pass {

pipeline_step::pipeline_step(std::string name) : name_(std::move(name)) { append(name_); }
void pipeline_step::append(std::string const& text) {
  key_.append(std::to_string(text.size())).append(":").append(text);
}
std::vector<pipeline_step> default_steps() { return {pipeline_step("default_pipeline")}; }

} // namespace overdub::pass
