#include "tests/support/own_driver.hpp"

#include <utility>
#include <vector>

#include "driver/device/board.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "sim/backend.hpp"

namespace datum::test {

const ApiTables& api_tables() {
  static const ApiTables filled = [] {
    ApiTables tables;
    constexpr ze_api_version_t version = ZE_API_VERSION_CURRENT;
    zeGetDriverProcAddrTable(version, &tables.driver);
    zeGetDeviceProcAddrTable(version, &tables.device);
    zeGetContextProcAddrTable(version, &tables.context);
    zeGetCommandQueueProcAddrTable(version, &tables.queue);
    zeGetCommandListProcAddrTable(version, &tables.list);
    zeGetCommandListExpProcAddrTable(version, &tables.list_exp);
    zeGetMemProcAddrTable(version, &tables.memory);
    zeGetMemExpProcAddrTable(version, &tables.memory_exp);
    zeGetFenceProcAddrTable(version, &tables.fence);
    zeGetEventPoolProcAddrTable(version, &tables.pool);
    zeGetEventProcAddrTable(version, &tables.event);
    zeGetImageProcAddrTable(version, &tables.image);
    zeGetPhysicalMemProcAddrTable(version, &tables.physical);
    zeGetVirtualMemProcAddrTable(version, &tables.address);
    return tables;
  }();
  return filled;
}

OwnDriver::OwnDriver(std::unique_ptr<Driver> driver) : driver_(std::move(driver)) {}

OwnDriver::OwnDriver(OwnDriver&&) noexcept = default;
OwnDriver& OwnDriver::operator=(OwnDriver&&) noexcept = default;
OwnDriver::~OwnDriver() = default;

Result<OwnDriver> OwnDriver::open(const std::string& options, const Decorate& decorate) {
  auto simulated = sim::open_simulated("model:" + options);
  if (!simulated) {
    return std::move(simulated).error();
  }
  std::unique_ptr<board::PcieFunction> function = std::move(*simulated);
  Result<std::unique_ptr<Board>> board =
      Board::adopt(decorate ? decorate(std::move(function)) : std::move(function));
  if (!board) {
    return std::move(board).error();
  }
  std::vector<std::unique_ptr<Board>> boards;
  boards.push_back(std::move(*board));
  Result<std::unique_ptr<Driver>> driver = Driver::create(std::move(boards));
  if (!driver) {
    return std::move(driver).error();
  }
  return OwnDriver(std::move(*driver));
}

ze_driver_handle_t OwnDriver::handle() const {
  return reinterpret_cast<ze_driver_handle_t>(driver_->handle());
}

ze_device_handle_t OwnDriver::device() const {
  return reinterpret_cast<ze_device_handle_t>(driver_->devices().front()->handle());
}

}  // namespace datum::test
