// The board contract through the real backend: a fake kernel with the golden model as the card in its slot.
#include <algorithm>
#include <string>
#include <vector>

#include "sim/backend.hpp"
#include "tests/contract/contract_board.hpp"
#include "tests/fakes/kernel/fake_kernel.hpp"
#include "tests/fakes/kernel/function_card.hpp"
#include "vfio_backend/backend.hpp"

namespace datum::test {

namespace {

// What VFIO does not offer on any card: the kernel keeps IOMMU faults to itself and makes no memfds of a
// card's memory.
constexpr const char* beyond_vfio = "*.a_refused_access_is_reported_once/*:*.exported_memory_is_*:"
                                    "*.exports_outside_of_*";

constexpr const char* slot_address = "da70:03:00.0";

/// Machines outlive the cards that are open in them; those without are taken down when the next one is built.
FakeKernel& keep(std::unique_ptr<FakeKernel> kernel) {
  static std::vector<std::unique_ptr<FakeKernel>> machines;
  std::erase_if(machines, [](const auto& machine) { return machine->open_descriptors() == 0; });
  machines.push_back(std::move(kernel));
  return *machines.back();
}

/// Takes "locked=64K" out of the options: the limit belongs to the process here, and not to the board.
bool take_lock_limit(std::string& options) {
  const std::string limit = "locked=64K";
  const std::size_t at = options.find(limit);
  if (at == std::string::npos) {
    return false;
  }
  options.erase(at, limit.size());
  return true;
}

}  // namespace

std::vector<std::string> contract_addresses() {
  return {std::string("vfio:") + slot_address + ",iommufd",
          std::string("vfio:") + slot_address + ",container"};
}

std::vector<std::string> step_locked_addresses() { return {}; }

std::string address_as_name(const ::testing::TestParamInfo<std::string>& info) {
  return info.param.substr(info.param.rfind(',') + 1);
}

Result<std::unique_ptr<board::PcieFunction>> open_board(std::string address, const std::string& options) {
  std::string model_options = options;
  auto kernel = std::make_unique<FakeKernel>();
  if (take_lock_limit(model_options)) {
    kernel->machine.traits.memlock_bytes = 0x10000;
  }
  auto model = sim::open_simulated("model:" + model_options);
  if (!model) {
    return std::move(model).error();
  }
  kernel->plug(slot_address, 12, std::make_shared<FunctionCard>(std::move(model).value()));
  return vfio::open_card(keep(std::move(kernel)), address);
}

}  // namespace datum::test

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  std::string& filter = ::testing::GTEST_FLAG(filter);
  filter += (filter.find('-') == std::string::npos ? "-" : ":") + std::string(datum::test::beyond_vfio);
  return RUN_ALL_TESTS();
}
