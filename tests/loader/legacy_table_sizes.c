/* In C, and apart from everything else: these headers and the current ones cannot meet in one program's C++.
 */
#include "tests/loader/legacy_table_sizes.h"

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>

/* Every table of API 1.4, the oldest that a supported system has. */
static const struct datum_legacy_table tables[] = {
    {"zeGetGlobalProcAddrTable", sizeof(ze_global_dditable_t)},
    {"zeGetDriverProcAddrTable", sizeof(ze_driver_dditable_t)},
    {"zeGetDeviceProcAddrTable", sizeof(ze_device_dditable_t)},
    {"zeGetDeviceExpProcAddrTable", sizeof(ze_device_exp_dditable_t)},
    {"zeGetContextProcAddrTable", sizeof(ze_context_dditable_t)},
    {"zeGetCommandQueueProcAddrTable", sizeof(ze_command_queue_dditable_t)},
    {"zeGetCommandListProcAddrTable", sizeof(ze_command_list_dditable_t)},
    {"zeGetImageProcAddrTable", sizeof(ze_image_dditable_t)},
    {"zeGetImageExpProcAddrTable", sizeof(ze_image_exp_dditable_t)},
    {"zeGetFenceProcAddrTable", sizeof(ze_fence_dditable_t)},
    {"zeGetEventPoolProcAddrTable", sizeof(ze_event_pool_dditable_t)},
    {"zeGetEventProcAddrTable", sizeof(ze_event_dditable_t)},
    {"zeGetEventExpProcAddrTable", sizeof(ze_event_exp_dditable_t)},
    {"zeGetModuleProcAddrTable", sizeof(ze_module_dditable_t)},
    {"zeGetModuleBuildLogProcAddrTable", sizeof(ze_module_build_log_dditable_t)},
    {"zeGetKernelProcAddrTable", sizeof(ze_kernel_dditable_t)},
    {"zeGetKernelExpProcAddrTable", sizeof(ze_kernel_exp_dditable_t)},
    {"zeGetSamplerProcAddrTable", sizeof(ze_sampler_dditable_t)},
    {"zeGetPhysicalMemProcAddrTable", sizeof(ze_physical_mem_dditable_t)},
    {"zeGetMemProcAddrTable", sizeof(ze_mem_dditable_t)},
    {"zeGetVirtualMemProcAddrTable", sizeof(ze_virtual_mem_dditable_t)},
    {"zeGetFabricVertexExpProcAddrTable", sizeof(ze_fabric_vertex_exp_dditable_t)},
    {"zeGetFabricEdgeExpProcAddrTable", sizeof(ze_fabric_edge_exp_dditable_t)},
    {"zetGetDeviceProcAddrTable", sizeof(zet_device_dditable_t)},
    {"zetGetContextProcAddrTable", sizeof(zet_context_dditable_t)},
    {"zetGetCommandListProcAddrTable", sizeof(zet_command_list_dditable_t)},
    {"zetGetModuleProcAddrTable", sizeof(zet_module_dditable_t)},
    {"zetGetKernelProcAddrTable", sizeof(zet_kernel_dditable_t)},
    {"zetGetMetricGroupProcAddrTable", sizeof(zet_metric_group_dditable_t)},
    {"zetGetMetricGroupExpProcAddrTable", sizeof(zet_metric_group_exp_dditable_t)},
    {"zetGetMetricProcAddrTable", sizeof(zet_metric_dditable_t)},
    {"zetGetMetricStreamerProcAddrTable", sizeof(zet_metric_streamer_dditable_t)},
    {"zetGetMetricQueryPoolProcAddrTable", sizeof(zet_metric_query_pool_dditable_t)},
    {"zetGetMetricQueryProcAddrTable", sizeof(zet_metric_query_dditable_t)},
    {"zetGetTracerExpProcAddrTable", sizeof(zet_tracer_exp_dditable_t)},
    {"zetGetDebugProcAddrTable", sizeof(zet_debug_dditable_t)},
    {"zesGetDriverProcAddrTable", sizeof(zes_driver_dditable_t)},
    {"zesGetDeviceProcAddrTable", sizeof(zes_device_dditable_t)},
    {"zesGetSchedulerProcAddrTable", sizeof(zes_scheduler_dditable_t)},
    {"zesGetPerformanceFactorProcAddrTable", sizeof(zes_performance_factor_dditable_t)},
    {"zesGetPowerProcAddrTable", sizeof(zes_power_dditable_t)},
    {"zesGetFrequencyProcAddrTable", sizeof(zes_frequency_dditable_t)},
    {"zesGetEngineProcAddrTable", sizeof(zes_engine_dditable_t)},
    {"zesGetStandbyProcAddrTable", sizeof(zes_standby_dditable_t)},
    {"zesGetFirmwareProcAddrTable", sizeof(zes_firmware_dditable_t)},
    {"zesGetMemoryProcAddrTable", sizeof(zes_memory_dditable_t)},
    {"zesGetFabricPortProcAddrTable", sizeof(zes_fabric_port_dditable_t)},
    {"zesGetTemperatureProcAddrTable", sizeof(zes_temperature_dditable_t)},
    {"zesGetPsuProcAddrTable", sizeof(zes_psu_dditable_t)},
    {"zesGetFanProcAddrTable", sizeof(zes_fan_dditable_t)},
    {"zesGetLedProcAddrTable", sizeof(zes_led_dditable_t)},
    {"zesGetRasProcAddrTable", sizeof(zes_ras_dditable_t)},
    {"zesGetDiagnosticsProcAddrTable", sizeof(zes_diagnostics_dditable_t)},
};

unsigned datum_legacy_minor_version(void) { return ZE_MINOR_VERSION(ZE_API_VERSION_CURRENT); }

const struct datum_legacy_table* datum_legacy_tables(size_t* count) {
  *count = sizeof(tables) / sizeof(tables[0]);
  return tables;
}
