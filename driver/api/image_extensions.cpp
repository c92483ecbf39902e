#include "driver/api/image_extensions.hpp"

#include <fmt/format.h>

#include "driver/api/extension_chain.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/result.hpp"

namespace datum::api {
namespace {

ze_result_t check_bindless(ze_image_bindless_exp_flags_t flags) {
  constexpr ze_image_bindless_exp_flags_t known =
      ZE_IMAGE_BINDLESS_EXP_FLAG_BINDLESS | ZE_IMAGE_BINDLESS_EXP_FLAG_SAMPLED_IMAGE;
  if ((flags & ~known) != 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "the flags of the bindless image mean nothing");
  }
  return (flags & ZE_IMAGE_BINDLESS_EXP_FLAG_SAMPLED_IMAGE) == 0
             ? ZE_RESULT_SUCCESS
             : refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "the device samples no images");
}

ze_result_t read_memory(const ze_image_pitched_exp_desc_t& desc, ImageExtensions& extensions) {
  if (desc.ptr == nullptr) {
    return refuse_null_pointer("ptr of the pitched image");
  }
  extensions.on_memory = true;
  extensions.memory = desc.ptr;
  return ZE_RESULT_SUCCESS;
}

ze_result_t read_pitches(const ze_custom_pitch_exp_desc_t& desc, ImageExtensions& extensions) {
  if (desc.rowPitch == 0 || desc.rowPitch % row_pitch_alignment_bytes != 0 ||
      desc.rowPitch > largest_row_pitch_bytes) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("the row pitch {} is no multiple of {} bytes up to {}", desc.rowPitch,
                              row_pitch_alignment_bytes, largest_row_pitch_bytes));
  }
  if (desc.slicePitch % desc.rowPitch != 0 || desc.slicePitch > largest_row_pitch_bytes) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("the slice pitch {} is no multiple of the row pitch {} up to {}",
                              desc.slicePitch, desc.rowPitch, largest_row_pitch_bytes));
  }
  extensions.custom_pitch = true;
  extensions.row_pitch = desc.rowPitch;
  extensions.slice_pitch = desc.slicePitch;
  return ZE_RESULT_SUCCESS;
}

ze_result_t read_extension(ze_structure_type_t stype, const void* structure, ImageExtensions& extensions) {
  switch (stype) {
  case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC:
    return static_cast<const ze_external_memory_export_desc_t*>(structure)->flags == 0
               ? ZE_RESULT_SUCCESS
               : refuse(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, "images cannot be exported");
  case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD:
  case ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_WIN32:
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, "images cannot be imported");
  case ZE_STRUCTURE_TYPE_BINDLESS_IMAGE_EXP_DESC:
    return check_bindless(static_cast<const ze_image_bindless_exp_desc_t*>(structure)->flags);
  case ZE_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC:
    return read_memory(*static_cast<const ze_image_pitched_exp_desc_t*>(structure), extensions);
  case ZE_STRUCTURE_TYPE_CUSTOM_PITCH_EXP_DESC:
    return read_pitches(*static_cast<const ze_custom_pitch_exp_desc_t*>(structure), extensions);
  case ZE_STRUCTURE_TYPE_IMAGE_VIEW_PLANAR_EXT_DESC:
    return static_cast<const ze_image_view_planar_ext_desc_t*>(structure)->planeIndex == 0
               ? ZE_RESULT_SUCCESS
               : refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "every image of the device has one plane");
  default:
    return ZE_RESULT_SUCCESS;
  }
}

}  // namespace

ze_result_t read_image_extensions(const void* chain, ImageExtensions& extensions) {
  const ze_result_t code = for_each_extension(chain, [&](ze_structure_type_t stype, const void* structure) {
    return read_extension(stype, structure, extensions);
  });
  if (code == ZE_RESULT_SUCCESS && extensions.custom_pitch && !extensions.on_memory) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "pitches are for an image on memory of the application's (ze_image_pitched_exp_desc_t)");
  }
  return code;
}

ze_result_t apply_pitches(const ImageExtensions& extensions, ImageLayout& layout) {
  if (extensions.on_memory && layout.one_row()) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "an image of one row has no pitch");
  }
  if (!extensions.custom_pitch) {
    return ZE_RESULT_SUCCESS;
  }
  if (extensions.row_pitch < layout.row_bytes()) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("the row pitch {} is less than a row of {} bytes", extensions.row_pitch,
                              layout.row_bytes()));
  }
  if (layout.kind == ImageKind::line_array) {  // whose levels are the rows of its layout
    layout.own_row_pitch = extensions.slice_pitch != 0 ? extensions.slice_pitch : extensions.row_pitch;
    return ZE_RESULT_SUCCESS;
  }
  layout.own_row_pitch = extensions.row_pitch;
  if (extensions.slice_pitch != 0 && extensions.slice_pitch < layout.row_pitch() * layout.extent.height) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("the slice pitch {} is less than {} rows of {} bytes", extensions.slice_pitch,
                              layout.extent.height, layout.row_pitch()));
  }
  layout.own_slice_pitch = extensions.slice_pitch;
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
