#include "vfio_user/messages.hpp"

namespace datum::vfio_user {

const char* name_of(Command command) noexcept {
  switch (command) {
  case Command::version:
    return "VERSION";
  case Command::dma_map:
    return "DMA_MAP";
  case Command::dma_unmap:
    return "DMA_UNMAP";
  case Command::device_get_info:
    return "DEVICE_GET_INFO";
  case Command::device_get_region_info:
    return "DEVICE_GET_REGION_INFO";
  case Command::device_get_region_io_fds:
    return "DEVICE_GET_REGION_IO_FDS";
  case Command::device_get_irq_info:
    return "DEVICE_GET_IRQ_INFO";
  case Command::device_set_irqs:
    return "DEVICE_SET_IRQS";
  case Command::region_read:
    return "REGION_READ";
  case Command::region_write:
    return "REGION_WRITE";
  case Command::dma_read:
    return "DMA_READ";
  case Command::dma_write:
    return "DMA_WRITE";
  case Command::device_reset:
    return "DEVICE_RESET";
  }
  return "unknown command";
}

}  // namespace datum::vfio_user
