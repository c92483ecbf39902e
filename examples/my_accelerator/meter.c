/* Copies device memory to the host and reads from the board's own block how many bytes that was: registers of
   one's own RTL are reached through an extension of the driver, while it uses the board. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <datum/ze_datum.h>

#define COPIED_BYTES ((size_t)1 << 20)

static const uint64_t meter_id = 0x6000, meter_control = 0x6004, meter_bytes = 0x6008;

static void check(ze_result_t result, const char* what) {
  if (result != ZE_RESULT_SUCCESS) {
    fprintf(stderr, "%s failed: 0x%08x\n", what, (unsigned)result);
    exit(1);
  }
}

#define CALL(function, ...) check(function(__VA_ARGS__), #function)

int main(void) {
  ze_driver_handle_t driver = NULL;
  ze_device_handle_t device = NULL;
  uint32_t one = 1;
  CALL(zeInit, 0);
  CALL(zeDriverGet, &one, &driver);
  one = 1;
  CALL(zeDeviceGet, driver, &one, &device);

  void* found = NULL;
  CALL(zeDriverGetExtensionFunctionAddress, driver, ZEX_DATUM_DEVICE_READ_REGISTER, &found);
  const zex_datum_pfnDeviceReadRegister_t read_register = (zex_datum_pfnDeviceReadRegister_t)found;
  CALL(zeDriverGetExtensionFunctionAddress, driver, ZEX_DATUM_DEVICE_WRITE_REGISTER, &found);
  const zex_datum_pfnDeviceWriteRegister_t write_register = (zex_datum_pfnDeviceWriteRegister_t)found;

  ze_context_handle_t context = NULL;
  const ze_context_desc_t context_description = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
  CALL(zeContextCreate, driver, &context_description, &context);
  void *on_device = NULL, *on_host = NULL;
  const ze_device_mem_alloc_desc_t device_memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
  const ze_host_mem_alloc_desc_t host_memory = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
  CALL(zeMemAllocDevice, context, &device_memory, COPIED_BYTES, 64, device, &on_device);
  CALL(zeMemAllocHost, context, &host_memory, COPIED_BYTES, 64, &on_host);

  ze_command_list_handle_t list = NULL;
  const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                         .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
  CALL(zeCommandListCreateImmediate, context, device, &queue, &list);

  uint64_t id = 0, bytes = 0;
  CALL(read_register, device, meter_id, 4, &id);
  CALL(write_register, device, meter_control, 4, 3); /* from 0, and on */
  CALL(zeCommandListAppendMemoryCopy, list, on_host, on_device, COPIED_BYTES, NULL, 0, NULL);
  CALL(write_register, device, meter_control, 4, 0);
  CALL(read_register, device, meter_bytes, 8, &bytes);
  printf("meter     %08" PRIx64 "\ncopied    %zu bytes to the host\nmetered   %" PRIu64
         " bytes, with completion records and interrupts\n",
         id, COPIED_BYTES, bytes);

  CALL(zeCommandListDestroy, list);
  CALL(zeMemFree, context, on_host);
  CALL(zeMemFree, context, on_device);
  CALL(zeContextDestroy, context);
  return bytes >= COPIED_BYTES ? 0 : 1;
}
