// Management interface: engines. A board that counts its busy time has one group, all of its DMA channels
// together, because it tells their times not apart. Its handle stands for the board.
#include <algorithm>

#include "driver/api/sysman_lookup.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/device/traffic_counters.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

Board* find_engines(zes_engine_handle_t handle) {
  return static_cast<Board*>(find_object(ObjectType::sysman_engines, handle));
}

ze_result_t tell_activity(Board& board, zes_engine_stats_t& stats) {
  const Result<EngineActivity> activity = engine_activity(board);
  if (!activity) {
    return answer(activity.error());
  }
  stats = {activity->busy_us, activity->at_us};
  return ZE_RESULT_SUCCESS;
}

}  // namespace

ze_result_t zesDeviceEnumEngineGroups(zes_device_handle_t hDevice, uint32_t* pCount,
                                      zes_engine_handle_t* phEngine) {
  Device* device = nullptr;
  if (const ze_result_t code = find_managed(hDevice, pCount, "pCount", device); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  HandleSlot* const engines = device->sysman_engines();
  const std::uint32_t available = engines != nullptr ? 1 : 0;
  const std::uint32_t wanted = phEngine != nullptr ? *pCount : 0;
  *pCount = available;
  if (wanted != 0 && available != 0) {
    *phEngine = reinterpret_cast<zes_engine_handle_t>(engines);
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesEngineGetProperties(zes_engine_handle_t hEngine, zes_engine_properties_t* pProperties) {
  if (find_engines(hEngine) == nullptr) {
    return refuse_handle(hEngine, "hEngine");
  }
  if (pProperties == nullptr) {
    return refuse_null_pointer("pProperties");
  }
  pProperties->type = ZES_ENGINE_GROUP_COPY_ALL;
  pProperties->onSubdevice = 0;
  pProperties->subdeviceId = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesEngineGetActivity(zes_engine_handle_t hEngine, zes_engine_stats_t* pStats) {
  Board* const board = find_engines(hEngine);
  if (board == nullptr) {
    return refuse_handle(hEngine, "hEngine");
  }
  if (pStats == nullptr) {
    return refuse_null_pointer("pStats");
  }
  return tell_activity(*board, *pStats);
}

/// The board has no virtual functions: what there is to tell is the physical one's.
ze_result_t zesEngineGetActivityExt(zes_engine_handle_t hEngine, uint32_t* pCount,
                                    zes_engine_stats_t* pStats) {
  Board* const board = find_engines(hEngine);
  if (board == nullptr) {
    return refuse_handle(hEngine, "hEngine");
  }
  if (pCount == nullptr) {
    return refuse_null_pointer("pCount");
  }
  const bool wanted = pStats != nullptr && *pCount != 0;
  *pCount = 1;
  return wanted ? tell_activity(*board, *pStats) : ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
