#include "tools/datum/find_driver.hpp"

#include <algorithm>
#include <utility>

#include <datum/ze_datum.h>

namespace datum::tool {

namespace {

std::vector<ze_driver_handle_t> all_drivers(const Loader& loader) {
  if (loader.init_drivers != nullptr) {
    ze_init_driver_type_desc_t types{};
    types.stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC;
    types.flags = UINT32_MAX;
    return all_of<ze_driver_handle_t>(
        [&](std::uint32_t* count, ze_driver_handle_t* drivers) {
          return loader.init_drivers(count, drivers, &types);
        },
        nullptr);
  }
  if (loader.init(0) != ZE_RESULT_SUCCESS) {
    return {};
  }
  return all_of<ze_driver_handle_t>(loader.driver_get, nullptr);
}

std::vector<std::string> extensions_of(const Loader& loader, ze_driver_handle_t driver) {
  std::vector<std::string> names;
  for (const ze_driver_extension_properties_t& extension : all_of<ze_driver_extension_properties_t>(
           [&](std::uint32_t*count, ze_driver_extension_properties_t*values) {
             return loader.driver_extensions(driver, count, values);
           },
           {})) {
    names.emplace_back(extension.name);
  }
  return names;
}

bool is_ours(const std::vector<std::string>& extensions) {
  for (const std::string& name : extensions) {
    if (name == ZEX_DATUM_BOARD_CLOCK_NAME) {
      return true;
    }
  }
  return false;
}

}  // namespace

Result<FoundDriver> find_driver(const Loader& loader) {
  for (ze_driver_handle_t driver : all_drivers(loader)) {
    std::vector<std::string> extensions = extensions_of(loader, driver);
    if (is_ours(extensions)) {
      return FoundDriver{driver, std::move(extensions)};
    }
  }
  return make_error(ErrorCode::not_available, "the loader gives no Datum driver that has a board",
                    "'datum doctor' finds out why; a line above that begins with 'datum:' is the driver's "
                    "own word");
}

}  // namespace datum::tool
