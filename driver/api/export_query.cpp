#include "driver/api/export_query.hpp"

#include "driver/api/extension_chain.hpp"
#include "driver/api/result.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/object/context.hpp"
#include "driver/object/driver.hpp"

namespace datum::api {

ze_result_t fill_exports(Context& context, std::uint64_t id, void* chain, bool write) {
  return for_each_output_extension(chain, [&](ze_structure_type_t stype, void* structure) {
    if (stype == ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_WIN32) {
      return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                    "a Win32 handle is asked for, and no memory can be exported as one");
    }
    if (stype != ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD) {
      return ZE_RESULT_SUCCESS;
    }
    auto& asked = *static_cast<ze_external_memory_export_fd_t*>(structure);
    const bool dma_buf = asked.flags == ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
    if (asked.flags != 0 && asked.flags != ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD && !dma_buf) {
      return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                    "a descriptor is asked for of a type for which the memory was not made, or of several");
    }
    Result<int> descriptor =
        context.driver().exports().descriptor(id, dma_buf ? ExternalType::dma_buf : ExternalType::opaque);
    if (!descriptor.ok()) {
      return answer(descriptor.error());
    }
    if (write) {
      asked.fd = *descriptor;
    }
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace datum::api
