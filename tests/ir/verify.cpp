// What the verifier accepts, and a rejection for each of its rules.
#include "catch.hpp"
#include "ir/samples.hpp"

#include <overdub/ir/verify.hpp>

using namespace overdub::ir;

TEST_CASE("valid programs have no faults") {
  for (program const& p : samples::all()) {
    for (auto const& d : faults_of(p)) UNSCOPED_INFO(d.text);
    CHECK(faults_of(p).empty());
    CHECK_NOTHROW(verify(p));
  }
}
