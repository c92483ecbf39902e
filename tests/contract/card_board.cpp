// The board contract on a card, through the kernel that this process runs on. scripts/vm runs it in a guest.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <stdexcept>

#include "tests/contract/contract_board.hpp"
#include "vfio_backend/backend.hpp"

namespace datum::test {

namespace {

// What holds for boards in this process and not for a card behind QEMU and the kernel.
constexpr const char* beyond_a_card =
    // VFIO pins pages: memory that the application gave back stays the board's until it is unmapped for it.
    "*a_file_that_is_truncated_*:*memory_that_the_application_unmapped_*:"
    // VFIO tells no program of IOMMU faults.
    "*a_refused_access_is_reported_once*:"
    // QEMU makes a mapping for writing one for reading and writing.
    "*a_mapping_for_writing_refuses_reads*:"
    // Its place in the machine, its size and the limits of the process are none of its address's options.
    "*the_function_says_who_it_is*:*options_of_the_address_*:*the_locked_memory_limit_holds*:"
    // One process at a time, also for a second look by the same test.
    "*a_board_may_go_while_it_works*";

}  // namespace

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
