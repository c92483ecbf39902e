#include "driver/api/tables/ddi_handle.hpp"

#include "driver/api/tables/dispatch_tables.hpp"
#include "driver/api/tables/loader_version.hpp"

namespace datum::api {
namespace {

// ze_handle_t has pointers to writable tables, but neither the loader nor the driver writes through them.
constinit const ze_handle_t prefix = {
    .pCore = const_cast<ze_dditable_driver_t*>(&core_dispatch_tables),
    .pTools = const_cast<zet_dditable_driver_t*>(&tools_dispatch_tables),
    .pSysman = const_cast<zes_dditable_driver_t*>(&sysman_dispatch_tables),
    .pRuntime = const_cast<zer_dditable_driver_t*>(&runtime_dispatch_tables),
};

}  // namespace

const ze_handle_t& ddi_handle_prefix() noexcept { return prefix; }

bool ddi_handles_usable() noexcept { return lowest_loader_version() >= ZE_API_VERSION_1_13; }

}  // namespace datum::api
