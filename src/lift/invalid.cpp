#include "invalid.hpp"

#include <overdub/ir/callers.hpp>
#include <overdub/ir/verify.hpp>

#include <utility>

namespace overdub::lifting {

std::vector<refused_function> erase_invalid(ir::program& p, std::map<ir::function_id, std::string> known) {
  std::vector<refused_function> refused;
  while (true) {
    // The verifier stops at a number of faults.
    if (known.empty())
      for (ir::diagnostic const& fault : ir::faults_of(p)) {
        if (fault.where == ir::nothing) throw ir::invalid_program({fault});
        known.emplace(fault.where, fault.text);
      }
    if (known.empty()) return refused;
    ir::callers const callers(p);
    std::vector<ir::function_id> erased;
    auto const refuse = [&](ir::function_id f, std::string construct, std::string why, std::string instead) {
      refused.push_back(
          {std::string(p.name_of(f)), {}, 0, std::move(construct), std::move(why), std::move(instead)});
      erased.push_back(f);
    };
    for (auto const& [f, fault] : known)
      refuse(
          f, "a construct that is lifted to an invalid program", fault, "report it as an error of overdub");
    for (std::size_t at = 0; at < erased.size(); ++at)
      for (ir::function_call const& call : callers.of(erased[at]))
        if (known.emplace(call.caller, std::string()).second)
          refuse(
              call.caller, "a call of " + std::string(p.name_of(erased[at])), "that function is refused",
              "see its own line");
    for (ir::function_id const f : erased) p.erase(f);
    known.clear();
  }
}

} // namespace overdub::lifting
