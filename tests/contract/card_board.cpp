// The board contract on a card, through the kernel that this process runs on. scripts/vm runs it in a guest.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <stdexcept>

#include "tests/contract/beyond.hpp"
#include "tests/contract/contract_board.hpp"
#include "vfio_backend/backend.hpp"

namespace datum::test {

/// One card, named by DATUM_CONTRACT_CARD ("vfio:0000:01:00.0,container").
std::vector<std::string> contract_addresses() {
  const char* named = std::getenv("DATUM_CONTRACT_CARD");
  return {named != nullptr ? named : "vfio:"};
}

std::vector<std::string> step_locked_addresses() { return {}; }

std::string address_as_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(),
      [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
  return name;
}

/// What kind of board is in the slot was settled when its server was started.
Result<std::unique_ptr<board::PcieFunction>> open_board(std::string address, const std::string& options) {
  if (!options.empty()) {
    throw std::runtime_error("a card has no option " + options);
  }
  return vfio::backend().open(address);
}

}  // namespace datum::test

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  std::string& filter = ::testing::GTEST_FLAG(filter);
  filter += (filter.find('-') == std::string::npos ? "-" : ":") + std::string(datum::test::beyond_a_card);
  return RUN_ALL_TESTS();
}
