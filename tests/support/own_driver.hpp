// A driver of a test's own over one board of the golden model, and the functions of the API as a loader gets
// them: a test may put something between driver and board, and has as many drivers one after the other as it
// likes.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <level_zero/ze_ddi.h>

#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

namespace datum {
class Driver;
}  // namespace datum

namespace datum::test {

/// The driver's tables.
struct ApiTables {
  ze_driver_dditable_t driver{};
  ze_device_dditable_t device{};
  ze_context_dditable_t context{};
  ze_command_queue_dditable_t queue{};
  ze_command_list_dditable_t list{};
  ze_command_list_exp_dditable_t list_exp{};
  ze_mem_dditable_t memory{};
  ze_mem_exp_dditable_t memory_exp{};
  ze_fence_dditable_t fence{};
  ze_event_pool_dditable_t pool{};
  ze_event_dditable_t event{};
  ze_image_dditable_t image{};
  ze_physical_mem_dditable_t physical{};
  ze_virtual_mem_dditable_t address{};
};

/// Filled by the driver's own functions, as for a loader.
[[nodiscard]] const ApiTables& api_tables();

/// A structure of the API with its type set and zeros else.
template <class Structure>
[[nodiscard]] Structure of_type(ze_structure_type_t type) {
  Structure made{};
  made.stype = type;
  return made;
}

class OwnDriver {
 public:
  /// What stands between the driver and the board.
  using Decorate = std::function<std::unique_ptr<board::PcieFunction>(std::unique_ptr<board::PcieFunction>)>;

  /// Over "model:OPTIONS".
  static Result<OwnDriver> open(const std::string& options, const Decorate& decorate = {});
  ~OwnDriver();
  OwnDriver(OwnDriver&&) noexcept;
  OwnDriver& operator=(OwnDriver&&) noexcept;

  [[nodiscard]] ze_driver_handle_t handle() const;
  [[nodiscard]] ze_device_handle_t device() const;

  [[nodiscard]] Driver& object() noexcept { return *driver_; }

 private:
  explicit OwnDriver(std::unique_ptr<Driver> driver);

  std::unique_ptr<Driver> driver_;
};

}  // namespace datum::test
