// Calls of the management interface.
#include <array>
#include <vector>

#include <level_zero/zes_ddi.h>

#include "tests/faults/calls.hpp"

namespace datum::test {
namespace {

struct ManagementTables {
  zes_device_dditable_t device{};
  zes_memory_dditable_t memory{};
  zes_engine_dditable_t engine{};
  zes_ras_dditable_t ras{};
};

const ManagementTables& management() {
  static const ManagementTables filled = [] {
    ManagementTables tables;
    constexpr ze_api_version_t version = ZE_API_VERSION_CURRENT;
    zesGetDeviceProcAddrTable(version, &tables.device);
    zesGetMemoryProcAddrTable(version, &tables.memory);
    zesGetEngineProcAddrTable(version, &tables.engine);
    zesGetRasProcAddrTable(version, &tables.ras);
    return tables;
  }();
  return filled;
}

zes_device_handle_t managed(const World& w) { return reinterpret_cast<zes_device_handle_t>(w.device()); }

template <class Structure>
Structure of_zes_type(zes_structure_type_t type) {
  Structure made{};
  made.stype = type;
  return made;
}

/// The first of those that `enumerate` names.
template <class Handle, class Enumerate>
ze_result_t take_first(World& w, Enumerate enumerate, Handle& first) {
  std::uint32_t count = 1;
  return enumerate(managed(w), &count, &first);
}

/// `call` of the first of them.
template <class Handle, class Enumerate, class Function>
ze_result_t of_first(World& w, Enumerate enumerate, const Function& call) {
  Handle first = nullptr;
  const ze_result_t code = take_first(w, enumerate, first);
  return code == ZE_RESULT_SUCCESS ? call(first) : code;
}

ze_result_t get_pci_properties(World& w) {
  auto found = of_zes_type<zes_pci_properties_t>(ZES_STRUCTURE_TYPE_PCI_PROPERTIES);
  return management().device.pfnPciGetProperties(managed(w), &found);
}

ze_result_t get_bars(World& w) {
  std::uint32_t count = 0;
  if (const ze_result_t code = management().device.pfnPciGetBars(managed(w), &count, nullptr);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  std::array<zes_pci_bar_properties_t, 8> bars{};
  return management().device.pfnPciGetBars(managed(w), &count, bars.data());
}

const std::array device_calls{
    Call{"zesDeviceGetProperties", nullptr,
         [](World& w) {
           auto found = of_zes_type<zes_device_properties_t>(ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES);
           return management().device.pfnGetProperties(managed(w), &found);
         },
         nullptr},
    Call{"zesDeviceGetState", nullptr,
         [](World& w) {
           auto found = of_zes_type<zes_device_state_t>(ZES_STRUCTURE_TYPE_DEVICE_STATE);
           return management().device.pfnGetState(managed(w), &found);
         },
         nullptr},
    Call{"zesDevicePciGetProperties", nullptr, get_pci_properties, nullptr},
    Call{"zesDevicePciGetState", nullptr,
         [](World& w) {
           auto found = of_zes_type<zes_pci_state_t>(ZES_STRUCTURE_TYPE_PCI_STATE);
           return management().device.pfnPciGetState(managed(w), &found);
         },
         nullptr},
    Call{"zesDevicePciGetBars", nullptr, get_bars, nullptr},
    Call{"zesDeviceGetEccState", nullptr,
         [](World& w) {
           auto found = of_zes_type<zes_device_ecc_properties_t>(ZES_STRUCTURE_TYPE_DEVICE_ECC_PROPERTIES);
           return management().device.pfnGetEccState(managed(w), &found);
         },
         nullptr},
    Call{"zesDeviceReset", nullptr, [](World& w) { return management().device.pfnReset(managed(w), 1); },
         [](World& w) { w.make_anew(); }},
};

const std::array part_calls{
    Call{"zesMemoryGetState", nullptr,
         [](World& w) {
           return of_first<zes_mem_handle_t>(
               w, management().device.pfnEnumMemoryModules, [](zes_mem_handle_t module) {
                 auto found = of_zes_type<zes_mem_state_t>(ZES_STRUCTURE_TYPE_MEM_STATE);
                 return management().memory.pfnGetState(module, &found);
               });
         },
         nullptr},
    Call{"zesMemoryGetProperties", nullptr,
         [](World& w) {
           return of_first<zes_mem_handle_t>(
               w, management().device.pfnEnumMemoryModules, [](zes_mem_handle_t module) {
                 auto found = of_zes_type<zes_mem_properties_t>(ZES_STRUCTURE_TYPE_MEM_PROPERTIES);
                 return management().memory.pfnGetProperties(module, &found);
               });
         },
         nullptr},
    Call{"zesEngineGetActivity", nullptr,
         [](World& w) {
           return of_first<zes_engine_handle_t>(w, management().device.pfnEnumEngineGroups,
                                                [](zes_engine_handle_t engine) {
                                                  zes_engine_stats_t found{};
                                                  return management().engine.pfnGetActivity(engine, &found);
                                                });
         },
         nullptr},
    Call{"zesRasGetState", nullptr,
         [](World& w) {
           return of_first<zes_ras_handle_t>(
               w, management().device.pfnEnumRasErrorSets, [](zes_ras_handle_t errors) {
                 auto found = of_zes_type<zes_ras_state_t>(ZES_STRUCTURE_TYPE_RAS_STATE);
                 return management().ras.pfnGetState(errors, 0, &found);
               });
         },
         nullptr},
};

}  // namespace

std::span<const Call> management_calls() {
  static const std::vector<Call> all = [] {
    std::vector<Call> joined(device_calls.begin(), device_calls.end());
    joined.insert(joined.end(), part_calls.begin(), part_calls.end());
    return joined;
  }();
  return all;
}

}  // namespace datum::test
