// Chapter "image": images as memory. There is no sampling and no kernel that could read one.
#include "driver/object/image.hpp"

#include "driver/api/extension_chain.hpp"
#include "driver/api/handles.hpp"
#include "driver/api/image_descriptor.hpp"
#include "driver/api/image_extensions.hpp"
#include "driver/api/image_format.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

/// The arguments that creating an image and a view of one share.
struct Creation {
  Context* context = nullptr;
  Device* device = nullptr;
  ImageLayout layout;
  ImageFormat format;
  ImageExtensions extensions;
};

ze_result_t find_place(ze_context_handle_t hContext, ze_device_handle_t hDevice, Creation& creation) {
  creation.context = find<Context>(hContext);
  if (creation.context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (const ze_result_t code = check_alive(*creation.context); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  creation.device = find<Device>(hDevice);
  return creation.device != nullptr ? ZE_RESULT_SUCCESS : refuse_handle(hDevice, "hDevice");
}

ze_result_t read_creation(const ze_image_desc_t& desc, Creation& creation) {
  if (const ze_result_t code = check_image_enumerators(desc); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (!creation.context->has(*creation.device)) {
    return refuse_foreign_device();
  }
  if (const ze_result_t code = read_image_extensions(desc.pNext, creation.extensions);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  const ze_result_t code = read_image_descriptor(*creation.device, desc, creation.layout, creation.format);
  return code == ZE_RESULT_SUCCESS ? apply_pitches(creation.extensions, creation.layout) : code;
}

ze_result_t give(const Result<Image*>& image, ze_image_handle_t* handle) {
  if (!image) {
    return answer(image.error());
  }
  *handle = reinterpret_cast<ze_image_handle_t>((*image)->handle());
  return ZE_RESULT_SUCCESS;
}

/// Image and context of a residency call.
ze_result_t check_residency(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                            ze_image_handle_t hImage, Creation& place) {
  if (const ze_result_t code = find_place(hContext, hDevice, place); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  auto* image = find<Image>(hImage);
  if (image == nullptr) {
    return refuse_handle(hImage, "hImage");
  }
  if (&image->context() != place.context || &image->device() != place.device) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the image is not one of hContext and hDevice");
  }
  return ZE_RESULT_SUCCESS;
}

}  // namespace

ze_result_t zeImageGetProperties(ze_device_handle_t hDevice, const ze_image_desc_t* desc,
                                 ze_image_properties_t* pImageProperties) {
  Device* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (desc == nullptr) {
    return refuse_null_pointer("desc");
  }
  if (pImageProperties == nullptr) {
    return refuse_null_pointer("pImageProperties");
  }
  if (const ze_result_t code = check_image_enumerators(*desc); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  pImageProperties->samplerFilterFlags = 0;
  if (pImageProperties->stype != ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES) {
    return ZE_RESULT_SUCCESS;
  }
  return for_each_output_extension(pImageProperties->pNext, [&](ze_structure_type_t stype, void* structure) {
    if (stype == ZE_STRUCTURE_TYPE_IMAGE_FORMAT_SUPPORT_EXT_PROPERTIES) {
      static_cast<ze_image_format_support_ext_properties_t*>(structure)->supported =
          element_bytes(desc->format) != 0 ? 1 : 0;
    }
    return ZE_RESULT_SUCCESS;
  });
}

ze_result_t zeImageCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                          const ze_image_desc_t* desc, ze_image_handle_t* phImage) {
  Creation creation;
  if (const ze_result_t code = find_place(hContext, hDevice, creation); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (desc == nullptr) {
    return refuse_null_pointer("desc");
  }
  if (phImage == nullptr) {
    return refuse_null_pointer("phImage");
  }
  if (const ze_result_t code = read_creation(*desc, creation); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  void* const memory = creation.extensions.memory;
  return give(
      memory != nullptr
          ? Image::create_on(*creation.context, *creation.device, creation.layout, creation.format, memory)
          : Image::create(*creation.context, *creation.device, creation.layout, creation.format),
      phImage);
}

ze_result_t zeImageDestroy(ze_image_handle_t hImage) {
  auto* image = find<Image>(hImage);
  if (image == nullptr) {
    return refuse_handle(hImage, "hImage");
  }
  image->destroy();
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeImageViewCreateExt(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                 const ze_image_desc_t* desc, ze_image_handle_t hImage,
                                 ze_image_handle_t* phImageView) {
  Creation creation;
  if (const ze_result_t code = find_place(hContext, hDevice, creation); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  auto* image = find<Image>(hImage);
  if (image == nullptr) {
    return refuse_handle(hImage, "hImage");
  }
  if (desc == nullptr) {
    return refuse_null_pointer("desc");
  }
  if (phImageView == nullptr) {
    return refuse_null_pointer("phImageView");
  }
  if (const ze_result_t code = read_creation(*desc, creation); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (&image->context() != creation.context || &image->device() != creation.device) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the image is not one of hContext and hDevice");
  }
  if (creation.extensions.on_memory) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a view is on the memory of its image");
  }
  const ImageLayout& layout = image->layout();
  if (creation.layout.kind != layout.kind || creation.layout.element_bytes != layout.element_bytes ||
      creation.layout.extent != layout.extent) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "a view has the type and extent of its image, and elements of the same size");
  }
  return give(Image::view(*image, creation.format), phImageView);
}

ze_result_t zeImageViewCreateExp(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                 const ze_image_desc_t* desc, ze_image_handle_t hImage,
                                 ze_image_handle_t* phImageView) {
  return api::zeImageViewCreateExt(hContext, hDevice, desc, hImage, phImageView);
}

ze_result_t zeImageGetAllocPropertiesExt(ze_context_handle_t hContext, ze_image_handle_t hImage,
                                         ze_image_allocation_ext_properties_t* pImageAllocProperties) {
  auto* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  auto* image = find<Image>(hImage);
  if (image == nullptr) {
    return refuse_handle(hImage, "hImage");
  }
  if (pImageAllocProperties == nullptr) {
    return refuse_null_pointer("pImageAllocProperties");
  }
  if (&image->context() != context) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the image is not one of hContext");
  }
  pImageAllocProperties->id = image->allocation_id();
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeImageGetMemoryPropertiesExp(ze_image_handle_t hImage,
                                          ze_image_memory_properties_exp_t* pMemoryProperties) {
  auto* image = find<Image>(hImage);
  if (image == nullptr) {
    return refuse_handle(hImage, "hImage");
  }
  if (pMemoryProperties == nullptr) {
    return refuse_null_pointer("pMemoryProperties");
  }
  pMemoryProperties->size = image->layout().bytes();
  pMemoryProperties->rowPitch = image->layout().row_pitch();
  pMemoryProperties->slicePitch = image->layout().slice_pitch();
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeImageGetDeviceOffsetExp(ze_image_handle_t hImage, uint64_t* pDeviceOffset) {
  auto* image = find<Image>(hImage);
  if (image == nullptr) {
    return refuse_handle(hImage, "hImage");
  }
  if (pDeviceOffset == nullptr) {
    return refuse_null_pointer("pDeviceOffset");
  }
  const void* const first = image->first_byte();
  if (first == nullptr) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the image of the view was destroyed");
  }
  // Images lie in the device's address space: where one begins is what finds it there.
  *pDeviceOffset = reinterpret_cast<std::uintptr_t>(first);
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeContextMakeImageResident(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                       ze_image_handle_t hImage) {
  Creation place;
  if (const ze_result_t code = check_residency(hContext, hDevice, hImage, place); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  return answer(place.context->space(*place.device).commit());
}

ze_result_t zeContextEvictImage(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                ze_image_handle_t hImage) {
  Creation place;
  return check_residency(hContext, hDevice, hImage, place);  // memory of this driver never moves
}

}  // namespace datum::api
