/* Sends buffers from rank 0 to rank 1 and back, 64 B to 4 MiB, and compares every byte.

   ping_pong host     buffers from malloc
   ping_pong device   buffers of the first Level Zero device, filled and read by its own copies

   Status 0: all bytes came back; rank 0 says how many. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <level_zero/ze_api.h>

enum { smallest = 64, largest = 4 << 20 };

static ze_context_handle_t context;
static ze_device_handle_t device;
static ze_command_list_handle_t list;

static void check(ze_result_t result, const char* what) {
  if (result != ZE_RESULT_SUCCESS) {
    fprintf(stderr, "%s: result %#x\n", what, result);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static void open_device(void) {
  ze_driver_handle_t driver;
  uint32_t count = 1;
  check(zeInit(0), "zeInit");
  check(zeDriverGet(&count, &driver), "zeDriverGet");
  count = 1;
  check(zeDeviceGet(driver, &count, &device), "zeDeviceGet");
  const ze_context_desc_t description = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, NULL, 0};
  check(zeContextCreate(driver, &description, &context), "zeContextCreate");
  const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                         .mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
  check(zeCommandListCreateImmediate(context, device, &queue, &list), "zeCommandListCreateImmediate");
}

static void* allocate(int on_device) {
  void* memory = NULL;
  if (on_device) {
    const ze_device_mem_alloc_desc_t description = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    check(zeMemAllocDevice(context, &description, largest, 4096, device, &memory), "zeMemAllocDevice");
  } else {
    memory = malloc(largest);
  }
  return memory;
}

static void move(void* to, const void* from, size_t bytes, int on_device) {
  if (on_device) {
    check(zeCommandListAppendMemoryCopy(list, to, from, bytes, NULL, 0, NULL),
          "zeCommandListAppendMemoryCopy");
  } else {
    memcpy(to, from, bytes);
  }
}

int main(int argument_count, char** arguments) {
  const int on_device = argument_count > 1 && strcmp(arguments[1], "device") == 0;
  int rank = 0;
  long compared = 0;
  MPI_Init(&argument_count, &arguments);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (on_device) {
    open_device();
  }
  unsigned char* const expected = malloc(largest);
  unsigned char* const found = malloc(largest);
  void* const buffer = allocate(on_device);
  for (int bytes = smallest; bytes <= largest; bytes *= 2) {
    for (int i = 0; i < bytes; ++i) {
      expected[i] = (unsigned char)((i * 2654435761U + (unsigned)bytes) >> 13);
    }
    memset(found, 0, largest);
    if (rank == 0) {
      move(buffer, expected, (size_t)bytes, on_device);
      MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      move(buffer, found, (size_t)bytes, on_device); /* so that what comes back is not what was there */
      MPI_Recv(buffer, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(buffer, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    move(found, buffer, (size_t)bytes, on_device);
    if (memcmp(expected, found, (size_t)bytes) != 0) {
      fprintf(stderr, "rank %d: %d bytes came back changed\n", rank, bytes);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    compared += bytes;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    printf("%ld bytes compared\n", compared);
  }
  MPI_Finalize();
  return 0;
}
