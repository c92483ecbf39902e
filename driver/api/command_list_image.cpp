// Chapter "command list": copies of images.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "driver/api/handles.hpp"
#include "driver/api/known_range.hpp"
#include "driver/api/synchronization.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/command_list.hpp"
#include "driver/object/image.hpp"

namespace datum::api {
namespace {

/// A part of an image in bytes: where it begins and how it goes on.
struct ImagePart {
  std::byte* first = nullptr;
  RegionShape shape;
  Pitches pitches;
};

/// Whether the list may use the image; `name` is the argument's.
ze_result_t check_image(CommandList& list, Image& image, const char* name) {
  if (&image.context() != &list.context() || &image.device() != &list.device()) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("{} was created for another context or device than the list", name));
  }
  if (image.first_byte() == nullptr) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("{} is a view of an image that was destroyed", name));
  }
  return ZE_RESULT_SUCCESS;
}

bool inside(std::uint64_t origin, std::uint64_t count, std::uint64_t all) noexcept {
  return origin <= all && count <= all - origin;
}

/// `region` null: the whole image. Dimensions that the image does not have may be given as 0 or 1.
ze_result_t find_part(Image& image, const ze_image_region_t* region, const char* name, ImagePart& part) {
  const ImageLayout& layout = image.layout();
  const ImageExtent& extent = layout.extent;
  part.pitches = {layout.row_pitch(), layout.slice_pitch()};
  part.first = static_cast<std::byte*>(image.first_byte());
  if (region == nullptr) {
    part.shape = {layout.row_bytes(), extent.height, extent.depth};
    return ZE_RESULT_SUCCESS;
  }
  const std::uint32_t rows = layout.one_row() ? std::max(region->height, 1U) : region->height;
  const std::uint32_t planes = extent.depth == 1 ? std::max(region->depth, 1U) : region->depth;
  if (!inside(region->originX, region->width, extent.width) ||
      !inside(region->originY, rows, extent.height) || !inside(region->originZ, planes, extent.depth)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("{} of {} x {} x {} at {}, {}, {} leaves its image of {} x {} x {}", name,
                              region->width, rows, planes, region->originX, region->originY, region->originZ,
                              extent.width, extent.height, extent.depth));
  }
  part.shape = {std::uint64_t{region->width} * layout.element_bytes, rows, planes};
  part.first += region->originZ * part.pitches.plane + region->originY * part.pitches.row +
                std::uint64_t{region->originX} * layout.element_bytes;
  return ZE_RESULT_SUCCESS;
}

/// Pitches of a part in the application's memory; 0 in either stands for "packed".
ze_result_t find_memory_pitches(const ImageLayout& layout, const RegionShape& shape, std::uint32_t row_pitch,
                                std::uint32_t slice_pitch, Pitches& pitches) {
  if (layout.one_row() && row_pitch != 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the row pitch of an image of one row must be 0");
  }
  const bool slices = layout.kind == ImageKind::volume || layout.kind == ImageKind::plane_array ||
                      layout.kind == ImageKind::line_array;
  if (!slices && slice_pitch != 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the slice pitch of an image of one slice must be 0");
  }
  pitches.row = row_pitch != 0 ? row_pitch : shape.row_bytes;
  if (pitches.row < shape.row_bytes) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("the row pitch {} is less than a row of {} bytes", row_pitch, shape.row_bytes));
  }
  pitches.plane = slice_pitch != 0 ? slice_pitch : pitches.row * shape.rows;
  if (layout.kind != ImageKind::line_array && pitches.plane < pitches.row * shape.rows) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("the slice pitch {} is less than {} rows of {} bytes", slice_pitch, shape.rows,
                              pitches.row));
  }
  // Each image of an array of lines is a slice of one row.
  if (layout.kind == ImageKind::line_array && slice_pitch != 0) {
    if (slice_pitch < pitches.row) {
      return refuse(
          ZE_RESULT_ERROR_INVALID_ARGUMENT,
          fmt::format("the slice pitch {} is less than a row of {} bytes", slice_pitch, pitches.row));
    }
    pitches.row = slice_pitch;
  }
  if (shape.planes > 1 && pitches.plane > std::numeric_limits<std::uint32_t>::max()) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("slices that are {} bytes apart; at most 4 GiB - 1", pitches.plane));
  }
  return ZE_RESULT_SUCCESS;
}

/// The start of each copy: list, images, memory, events. `src` or `dst` may be memory instead of an image.
struct ImageSide {
  const void* handle_or_pointer;
  const char* name;
  bool is_image;
};

ze_result_t check_side(const ImageSide& side, Image*& image) {
  if (!side.is_image) {
    return side.handle_or_pointer != nullptr ? ZE_RESULT_SUCCESS : refuse_null_pointer(side.name);
  }
  image = find<Image>(side.handle_or_pointer);
  return image != nullptr ? ZE_RESULT_SUCCESS : refuse_handle(side.handle_or_pointer, side.name);
}

struct Events {
  ze_event_handle_t signal;
  std::uint32_t wait_count;
  ze_event_handle_t* waits;
};

struct Call {
  CommandList* list = nullptr;
  Image* dst = nullptr;
  Image* src = nullptr;
  Synchronization events;
};

ze_result_t resolve(ze_command_list_handle_t hCommandList, const ImageSide& dst, const ImageSide& src,
                    const Events& events, Call& call) {
  call.list = find<CommandList>(hCommandList);
  if (call.list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  // Handles come before pointers.
  for (const bool images : {true, false}) {
    for (const auto& [side, image] : {std::pair{&dst, &call.dst}, std::pair{&src, &call.src}}) {
      if (side->is_image != images) {
        continue;
      }
      if (const ze_result_t code = check_side(*side, *image); code != ZE_RESULT_SUCCESS) {
        return code;
      }
    }
  }
  if (const ze_result_t code =
          call.events.resolve(*call.list, events.signal, events.wait_count, events.waits);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  for (const auto& [side, image] : {std::pair{&dst, call.dst}, std::pair{&src, call.src}}) {
    if (image == nullptr) {
      continue;
    }
    if (const ze_result_t code = check_image(*call.list, *image, side->name); code != ZE_RESULT_SUCCESS) {
      return code;
    }
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t append_between_images(Call& call, const ze_image_region_t* dst_region,
                                  const ze_image_region_t* src_region, ze_result_t overlap_code) {
  if (call.dst->format() != call.src->format()) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the images have different formats");
  }
  ImagePart dst;
  ImagePart src;
  if (const ze_result_t code = find_part(*call.dst, dst_region, "the destination region", dst);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (const ze_result_t code = find_part(*call.src, src_region, "the source region", src);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (dst.shape.row_bytes != src.shape.row_bytes || dst.shape.rows != src.shape.rows ||
      dst.shape.planes != src.shape.planes) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "source and destination differ in width, height or depth");
  }
  if (regions_overlap(dst.shape, reinterpret_cast<std::uintptr_t>(dst.first), dst.pitches,
                      reinterpret_cast<std::uintptr_t>(src.first), src.pitches)) {
    return refuse(overlap_code, "source and destination share elements");
  }
  CopyCommand command;
  command.dst = dst.first;
  command.src = src.first;
  command.shape = dst.shape;
  command.dst_pitches = dst.pitches;
  command.src_pitches = src.pitches;
  return answer(call.list->append(command, call.events.signal(), call.events.waits()));
}

/// What is common to the two directions: the part of the image, and the memory's pitches.
ze_result_t find_both(Call& call, Image& image, const ze_image_region_t* region, const void* memory,
                      std::uint32_t row_pitch, std::uint32_t slice_pitch, ImagePart& part, Pitches& pitches) {
  if (const ze_result_t code = find_part(image, region, "the region", part); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (part.shape.empty()) {
    return ZE_RESULT_SUCCESS;
  }
  if (const ze_result_t code =
          find_memory_pitches(image.layout(), part.shape, row_pitch, slice_pitch, pitches);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  return answer(check_known_range(*call.list, memory, extent_bytes(part.shape, pitches)));
}

}  // namespace

ze_result_t zeCommandListAppendImageCopyRegion(ze_command_list_handle_t hCommandList,
                                               ze_image_handle_t hDstImage, ze_image_handle_t hSrcImage,
                                               const ze_image_region_t* pDstRegion,
                                               const ze_image_region_t* pSrcRegion,
                                               ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                               ze_event_handle_t* phWaitEvents) {
  Call call;
  if (const ze_result_t code =
          resolve(hCommandList, {hDstImage, "hDstImage", true}, {hSrcImage, "hSrcImage", true},
                  {hSignalEvent, numWaitEvents, phWaitEvents}, call);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  return append_between_images(call, pDstRegion, pSrcRegion, ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
}

ze_result_t zeCommandListAppendImageCopy(ze_command_list_handle_t hCommandList, ze_image_handle_t hDstImage,
                                         ze_image_handle_t hSrcImage, ze_event_handle_t hSignalEvent,
                                         uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  Call call;
  if (const ze_result_t code =
          resolve(hCommandList, {hDstImage, "hDstImage", true}, {hSrcImage, "hSrcImage", true},
                  {hSignalEvent, numWaitEvents, phWaitEvents}, call);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  // OVERLAPPING_REGIONS is no answer of this function.
  return append_between_images(call, nullptr, nullptr, ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

ze_result_t zeCommandListAppendImageCopyToMemoryExt(ze_command_list_handle_t hCommandList, void* dstptr,
                                                    ze_image_handle_t hSrcImage,
                                                    const ze_image_region_t* pSrcRegion,
                                                    uint32_t destRowPitch, uint32_t destSlicePitch,
                                                    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                                    ze_event_handle_t* phWaitEvents) {
  Call call;
  if (const ze_result_t code =
          resolve(hCommandList, {dstptr, "dstptr", false}, {hSrcImage, "hSrcImage", true},
                  {hSignalEvent, numWaitEvents, phWaitEvents}, call);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  ImagePart part;
  CopyCommand command;
  if (const ze_result_t code = find_both(call, *call.src, pSrcRegion, dstptr, destRowPitch, destSlicePitch,
                                         part, command.dst_pitches);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  command.dst = dstptr;
  command.src = part.first;
  command.shape = part.shape;
  command.src_pitches = part.pitches;
  return answer(call.list->append(command, call.events.signal(), call.events.waits()));
}

ze_result_t zeCommandListAppendImageCopyFromMemoryExt(ze_command_list_handle_t hCommandList,
                                                      ze_image_handle_t hDstImage, const void* srcptr,
                                                      const ze_image_region_t* pDstRegion,
                                                      uint32_t srcRowPitch, uint32_t srcSlicePitch,
                                                      ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                                      ze_event_handle_t* phWaitEvents) {
  Call call;
  if (const ze_result_t code =
          resolve(hCommandList, {hDstImage, "hDstImage", true}, {srcptr, "srcptr", false},
                  {hSignalEvent, numWaitEvents, phWaitEvents}, call);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  ImagePart part;
  CopyCommand command;
  if (const ze_result_t code = find_both(call, *call.dst, pDstRegion, srcptr, srcRowPitch, srcSlicePitch,
                                         part, command.src_pitches);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  command.dst = part.first;
  command.src = srcptr;
  command.shape = part.shape;
  command.dst_pitches = part.pitches;
  return answer(call.list->append(command, call.events.signal(), call.events.waits()));
}

ze_result_t zeCommandListAppendImageCopyToMemory(ze_command_list_handle_t hCommandList, void* dstptr,
                                                 ze_image_handle_t hSrcImage,
                                                 const ze_image_region_t* pSrcRegion,
                                                 ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                                 ze_event_handle_t* phWaitEvents) {
  return api::zeCommandListAppendImageCopyToMemoryExt(hCommandList, dstptr, hSrcImage, pSrcRegion, 0, 0,
                                                      hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t zeCommandListAppendImageCopyFromMemory(ze_command_list_handle_t hCommandList,
                                                   ze_image_handle_t hDstImage, const void* srcptr,
                                                   const ze_image_region_t* pDstRegion,
                                                   ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                                   ze_event_handle_t* phWaitEvents) {
  return api::zeCommandListAppendImageCopyFromMemoryExt(hCommandList, hDstImage, srcptr, pDstRegion, 0, 0,
                                                        hSignalEvent, numWaitEvents, phWaitEvents);
}

}  // namespace datum::api
