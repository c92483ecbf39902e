// The board contract through the real backend: a fake kernel with a simulated board as the card in its slot.
#include <algorithm>
#include <string>
#include <string_view>
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

/// What is in which slot. The RTL goes through one of the kernel's interfaces: they differ in the backend
/// alone.
struct CardSlot {
  std::string_view address;
  const char* board;
};

constexpr CardSlot model_slot{"da70:03:00.0", "model:"};
constexpr CardSlot rtl_slot{"da70:04:00.0", "rtl:"};

CardSlot slot_of(std::string_view address) {
  return address.find(rtl_slot.address) != std::string_view::npos ? rtl_slot : model_slot;
}

std::string vfio_address(const CardSlot& slot, const char* interface) {
  return "vfio:" + std::string(slot.address) + ',' + interface;
}

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
  std::vector<std::string> addresses{vfio_address(model_slot, "iommufd"),
                                     vfio_address(model_slot, "container")};
  if (DATUM_HAVE_RTL != 0) {
    addresses.push_back(vfio_address(rtl_slot, "iommufd"));
  }
  return addresses;
}

std::vector<std::string> step_locked_addresses() { return {}; }

std::string address_as_name(const ::testing::TestParamInfo<std::string>& info) {
  const std::string interface = info.param.substr(info.param.rfind(',') + 1);
  return slot_of(info.param).board == rtl_slot.board ? "rtl_" + interface : interface;
}

Result<std::unique_ptr<board::PcieFunction>> open_board(std::string address, const std::string& options) {
  const CardSlot slot = slot_of(address);
  std::string board_options = options;
  auto kernel = std::make_unique<FakeKernel>();
  if (take_lock_limit(board_options)) {
    kernel->machine.traits.memlock_bytes = 0x10000;
  }
  auto board = sim::open_simulated(slot.board + board_options);
  if (!board) {
    return std::move(board).error();
  }
  kernel->plug(std::string(slot.address), 12, std::make_shared<FunctionCard>(std::move(board).value()));
  return vfio::open_card(keep(std::move(kernel)), address);
}

}  // namespace datum::test

int main(int count, char** arguments) {
  ::testing::InitGoogleTest(&count, arguments);
  std::string& filter = ::testing::GTEST_FLAG(filter);
  filter += (filter.find('-') == std::string::npos ? "-" : ":") + std::string(datum::test::beyond_vfio);
  return RUN_ALL_TESTS();
}
