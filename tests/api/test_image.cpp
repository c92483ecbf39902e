// Images as objects: what can be created, what they say about themselves.
#include "tests/support/image.hpp"

namespace datum::test {
namespace {

class Image : public ImageTest {
 protected:
  [[nodiscard]] ze_result_t create_code(const ze_image_desc_t& description) {
    OwnedImage made;
    return zeImageCreate(context(), device(), &description, made.address());
  }

  [[nodiscard]] ze_device_image_properties_t limits() {
    ze_device_image_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetImageProperties(device(), &properties));
    return properties;
  }
};

TEST_F(Image, given_the_device_when_asked_about_images_then_it_has_memory_for_them_and_no_samplers) {
  const ze_device_image_properties_t properties = limits();
  EXPECT_GE(properties.maxImageDims1D, 1024U);
  EXPECT_GE(properties.maxImageDims2D, 1024U);
  EXPECT_GE(properties.maxImageDims3D, 256U);
  EXPECT_GT(properties.maxImageBufferSize, 0U);
  EXPECT_GE(properties.maxImageArraySlices, 256U);
  EXPECT_EQ(0U, properties.maxSamplers);
  EXPECT_EQ(0U, properties.maxReadImageArgs);
  EXPECT_EQ(0U, properties.maxWriteImageArgs);
}

TEST_F(Image, given_every_type_when_created_then_its_layout_is_linear) {
  const struct {
    ze_image_type_t type;
    std::uint32_t height;
    std::uint32_t depth;
    std::uint64_t rows;
  } kinds[] = {{ZE_IMAGE_TYPE_1D, 1, 1, 1},
               {ZE_IMAGE_TYPE_1DARRAY, 1, 3, 3},
               {ZE_IMAGE_TYPE_2D, 5, 1, 5},
               {ZE_IMAGE_TYPE_2DARRAY, 5, 3, 15},
               {ZE_IMAGE_TYPE_3D, 5, 3, 15}};

  for (const auto& kind : kinds) {
    const OwnedImage image = create(image_description(kind.type, 33, kind.height, kind.depth));
    ze_image_memory_properties_exp_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeImageGetMemoryPropertiesExp(image, &properties));
    EXPECT_GE(properties.rowPitch, 33U * 4U) << kind.type;
    EXPECT_EQ(properties.size, properties.rowPitch * kind.rows) << kind.type;
    EXPECT_EQ(0U, properties.slicePitch % properties.rowPitch) << kind.type;
  }
  const OwnedImage buffer = create(image_description(ZE_IMAGE_TYPE_BUFFER, 1000));
  ze_image_memory_properties_exp_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeImageGetMemoryPropertiesExp(buffer, &properties));
  EXPECT_EQ(1000U, properties.size) << "the width of a buffer is in bytes";
}

TEST_F(Image, given_every_format_when_created_then_its_elements_have_their_size) {
  for (const ElementLayout& element : element_layouts) {
    const ze_image_desc_t description = image_description(ZE_IMAGE_TYPE_1D, 10, 1, 1, element.layout);
    const OwnedImage image = create(description);
    ze_image_memory_properties_exp_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeImageGetMemoryPropertiesExp(image, &properties));
    EXPECT_EQ(10U * element.bytes, properties.size) << element.layout;
  }
}

TEST_F(Image, given_formats_when_asked_whether_they_are_supported_then_creation_agrees) {
  for (unsigned layout = ZE_IMAGE_FORMAT_LAYOUT_8; layout <= ZE_IMAGE_FORMAT_LAYOUT_32_32_32; ++layout) {
    for (unsigned type = ZE_IMAGE_FORMAT_TYPE_UINT; type <= ZE_IMAGE_FORMAT_TYPE_FLOAT; ++type) {
      ze_image_desc_t description = image_description(ZE_IMAGE_TYPE_2D, 4, 4);
      description.format.layout = static_cast<ze_image_format_layout_t>(layout);
      description.format.type = static_cast<ze_image_format_type_t>(type);
      ze_image_format_support_ext_properties_t support{};
      support.stype = ZE_STRUCTURE_TYPE_IMAGE_FORMAT_SUPPORT_EXT_PROPERTIES;
      ze_image_properties_t properties{};
      properties.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES;
      properties.pNext = &support;
      properties.samplerFilterFlags = ZE_IMAGE_SAMPLER_FILTER_FLAG_POINT;
      ASSERT_EQ(ZE_RESULT_SUCCESS, zeImageGetProperties(device(), &description, &properties));
      EXPECT_EQ(0U, properties.samplerFilterFlags);
      EXPECT_EQ(support.supported != 0 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
                create_code(description))
          << "layout " << layout << " type " << type;
    }
  }
}

TEST_F(Image, given_typical_formats_when_created_then_media_and_impossible_ones_are_refused) {
  ze_image_desc_t description = image_description(ZE_IMAGE_TYPE_2D, 4, 4);
  description.format.type = ZE_IMAGE_FORMAT_TYPE_UNORM;
  EXPECT_EQ(ZE_RESULT_SUCCESS, create_code(description));
  description.format.type = ZE_IMAGE_FORMAT_TYPE_FLOAT;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, create_code(description)) << "floats of 8 bits";
  description.format.layout = ZE_IMAGE_FORMAT_LAYOUT_16_16;
  EXPECT_EQ(ZE_RESULT_SUCCESS, create_code(description));
  description.format.layout = ZE_IMAGE_FORMAT_LAYOUT_NV12;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, create_code(description)) << "two planes";
}

TEST_F(Image, given_numbers_without_meaning_when_created_then_they_are_refused) {
  const ze_image_desc_t good = image_description(ZE_IMAGE_TYPE_2D, 4, 4);
  ze_image_desc_t bad = good;
  bad.flags = 0x4;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, create_code(bad));
  bad = good;
  bad.type = static_cast<ze_image_type_t>(ZE_IMAGE_TYPE_BUFFER + 1);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, create_code(bad));
  if (!under_validation()) {
    bad = good;
    bad.format.layout = static_cast<ze_image_format_layout_t>(1000);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, create_code(bad));
    bad = good;
    bad.format.w = static_cast<ze_image_format_swizzle_t>(9);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, create_code(bad));
  }
  bad = good;
  bad.stype = ZE_STRUCTURE_TYPE_FENCE_DESC;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_code(bad));
  bad = good;
  bad.miplevels = 1;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_code(bad));
  for (const ze_image_flags_t flags : {ZE_IMAGE_FLAG_KERNEL_WRITE, ZE_IMAGE_FLAG_BIAS_UNCACHED}) {
    ze_image_desc_t flagged = good;
    flagged.flags = flags;
    EXPECT_EQ(ZE_RESULT_SUCCESS, create_code(flagged));
  }
}

TEST_F(Image, given_extents_outside_the_limits_when_created_then_they_are_refused) {
  const ze_device_image_properties_t most = limits();
  EXPECT_EQ(ZE_RESULT_SUCCESS, create_code(image_description(ZE_IMAGE_TYPE_1D, most.maxImageDims1D)));
  const ze_image_desc_t refused[] = {
      image_description(ZE_IMAGE_TYPE_1D, 0),
      image_description(ZE_IMAGE_TYPE_1D, std::uint64_t{most.maxImageDims1D} + 1),
      image_description(ZE_IMAGE_TYPE_2D, 4, 0),
      image_description(ZE_IMAGE_TYPE_2D, 4, most.maxImageDims2D + 1),
      image_description(ZE_IMAGE_TYPE_2D, ~0ULL, 4),
      image_description(ZE_IMAGE_TYPE_3D, 4, 4, most.maxImageDims3D + 1),
      image_description(ZE_IMAGE_TYPE_3D, 4, 4, 0),
      image_description(ZE_IMAGE_TYPE_1DARRAY, 4, 1, 0),
      image_description(ZE_IMAGE_TYPE_2DARRAY, 4, 4, most.maxImageArraySlices + 1),
      image_description(ZE_IMAGE_TYPE_BUFFER, most.maxImageBufferSize + 4),
      image_description(ZE_IMAGE_TYPE_BUFFER, 6)};
  for (const ze_image_desc_t& description : refused) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_code(description))
        << description.type << ": " << description.width << " x " << description.height;
  }
}

TEST_F(Image, given_an_image_larger_than_the_memory_when_created_then_device_memory_is_exhausted) {
  const ze_device_image_properties_t most = limits();
  EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
            create_code(image_description(ZE_IMAGE_TYPE_2DARRAY, most.maxImageDims2D, most.maxImageDims2D,
                                          most.maxImageArraySlices)));
}

TEST_F(Image, given_extensions_that_change_the_image_when_created_then_they_are_refused_by_name) {
  ze_external_memory_export_desc_t exported{};
  exported.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC;
  exported.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
  ze_image_desc_t description = image_description(ZE_IMAGE_TYPE_2D, 4, 4);
  description.pNext = &exported;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, create_code(description));
  ze_image_bindless_exp_desc_t bindless{};
  bindless.stype = ZE_STRUCTURE_TYPE_BINDLESS_IMAGE_EXP_DESC;
  bindless.flags = ZE_IMAGE_BINDLESS_EXP_FLAG_BINDLESS | ZE_IMAGE_BINDLESS_EXP_FLAG_SAMPLED_IMAGE;
  description.pNext = &bindless;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, create_code(description)) << "nothing samples";
  const ze_base_desc_t unknown{static_cast<ze_structure_type_t>(0x7f00), nullptr};
  description.pNext = &unknown;
  EXPECT_EQ(ZE_RESULT_SUCCESS, create_code(description));
}

TEST_F(Image,
       given_two_images_when_asked_for_their_allocation_then_the_ids_differ_and_a_view_shares_its_own) {
  const ze_image_desc_t description = image_description(ZE_IMAGE_TYPE_2D, 4, 4);
  const OwnedImage first = create(description);
  const OwnedImage second = create(description);
  const auto id = [&](ze_image_handle_t image) {
    ze_image_allocation_ext_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_IMAGE_ALLOCATION_EXT_PROPERTIES;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeImageGetAllocPropertiesExt(context(), image, &properties));
    return properties.id;
  };
  EXPECT_NE(id(first), id(second));
  OwnedImage view;
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeImageViewCreateExp(context(), device(), &description, first, view.address()));
  EXPECT_EQ(id(first), id(view));
}

TEST_F(Image, given_a_view_when_described_then_only_the_format_may_differ) {
  const OwnedImage image = create(image_description(ZE_IMAGE_TYPE_2D, 4, 4));
  const auto view_code = [&](const ze_image_desc_t& description) {
    OwnedImage view;
    return zeImageViewCreateExt(context(), device(), &description, image, view.address());
  };
  EXPECT_EQ(ZE_RESULT_SUCCESS,
            view_code(image_description(ZE_IMAGE_TYPE_2D, 4, 4, 1, ZE_IMAGE_FORMAT_LAYOUT_16_16)));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            view_code(image_description(ZE_IMAGE_TYPE_2D, 4, 4, 1, ZE_IMAGE_FORMAT_LAYOUT_16)));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, view_code(image_description(ZE_IMAGE_TYPE_2D, 5, 4)));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, view_code(image_description(ZE_IMAGE_TYPE_3D, 4, 4, 1)));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT,
            view_code(image_description(ZE_IMAGE_TYPE_2D, 4, 4, 1, ZE_IMAGE_FORMAT_LAYOUT_YUYV)));
  ze_image_view_planar_ext_desc_t plane{};
  plane.stype = ZE_STRUCTURE_TYPE_IMAGE_VIEW_PLANAR_EXT_DESC;
  ze_image_desc_t of_plane = image_description(ZE_IMAGE_TYPE_2D, 4, 4);
  of_plane.pNext = &plane;
  EXPECT_EQ(ZE_RESULT_SUCCESS, view_code(of_plane));
  plane.planeIndex = 1;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, view_code(of_plane)) << "there is one plane";
}

TEST_F(Image, given_an_image_when_made_resident_and_evicted_then_only_its_own_context_may) {
  const OwnedImage image = create(image_description(ZE_IMAGE_TYPE_2D, 4, 4));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextMakeImageResident(context(), device(), image));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextEvictImage(context(), device(), image));
  const OwnedContext other = create_context(driver());
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeContextMakeImageResident(other, device(), image));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeContextEvictImage(other, device(), image));
}

TEST_F(Image, given_a_context_with_an_image_when_destroyed_then_it_is_in_use) {
  if (under_validation()) {
    GTEST_SKIP() << "the layer's lifetime checker remembers the destruction that was refused";
  }
  OwnedContext other = create_context(driver());
  const ze_image_desc_t description = image_description(ZE_IMAGE_TYPE_2D, 4, 4);
  OwnedImage image;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeImageCreate(other, device(), &description, image.address()));
  EXPECT_EQ(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeContextDestroy(other));
  EXPECT_EQ(ZE_RESULT_SUCCESS, image.destroy());
  EXPECT_EQ(ZE_RESULT_SUCCESS, other.destroy());
}

TEST_F(Image, given_images_created_and_destroyed_when_counted_then_their_memory_comes_back) {
  const ze_image_desc_t description = image_description(ZE_IMAGE_TYPE_2D, 4096, 4096);  // 64 MiB
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, create_code(description)) << "round " << i;
  }
}

TEST_F(Image, given_null_pointers_when_called_then_they_are_named) {
  const ze_image_desc_t description = image_description(ZE_IMAGE_TYPE_2D, 4, 4);
  ze_image_handle_t made = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeImageCreate(context(), device(), nullptr, &made));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeImageCreate(context(), device(), &description, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeImageGetProperties(device(), &description, nullptr));
  const OwnedImage image = create(description);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeImageGetMemoryPropertiesExp(image, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeImageGetAllocPropertiesExt(context(), image, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeImageViewCreateExt(context(), device(), &description, image, nullptr));
}

TEST_F(Image, given_each_type_and_flag_when_asked_created_and_viewed_then_all_agree) {
  std::vector<ze_image_desc_t> descriptions;
  for (unsigned type = ZE_IMAGE_TYPE_1D; type <= ZE_IMAGE_TYPE_BUFFER; ++type) {
    descriptions.push_back(image_description(static_cast<ze_image_type_t>(type), 8, 4, 2));
  }
  for (const ze_image_flags_t flags : {ZE_IMAGE_FLAG_KERNEL_WRITE, ZE_IMAGE_FLAG_BIAS_UNCACHED}) {
    descriptions.push_back(image_description(ZE_IMAGE_TYPE_2D, 8, 4));
    descriptions.back().flags = flags;
  }
  for (const ze_image_desc_t& description : descriptions) {
    ze_image_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeImageGetProperties(device(), &description, &properties));
    const OwnedImage image = create(description);
    OwnedImage view;
    OwnedImage old_view;
    EXPECT_EQ(ZE_RESULT_SUCCESS,
              zeImageViewCreateExt(context(), device(), &description, image, view.address()));
    EXPECT_EQ(ZE_RESULT_SUCCESS,
              zeImageViewCreateExp(context(), device(), &description, image, old_view.address()));
  }
}

TEST_F(Image, given_descriptors_that_make_no_sense_when_asked_or_viewed_then_each_has_its_code) {
  const OwnedImage image = create(image_description(ZE_IMAGE_TYPE_2D, 4, 4));
  ze_image_desc_t flags = image_description(ZE_IMAGE_TYPE_2D, 4, 4);
  flags.flags = 0x4;
  ze_image_desc_t stype = image_description(ZE_IMAGE_TYPE_2D, 4, 4);
  stype.stype = ZE_STRUCTURE_TYPE_FENCE_DESC;
  const ze_image_desc_t media = image_description(ZE_IMAGE_TYPE_2D, 4, 4, 1, ZE_IMAGE_FORMAT_LAYOUT_NV12);
  ze_external_memory_export_desc_t exported{};
  exported.stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC;
  exported.flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD;
  ze_image_desc_t external = image_description(ZE_IMAGE_TYPE_2D, 4, 4);
  external.pNext = &exported;
  ze_image_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, zeImageGetProperties(device(), &flags, &properties));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeImageGetProperties(device(), &stype, &properties));
  for (const auto create_view : {zeImageViewCreateExt, zeImageViewCreateExp}) {
    const auto code = [&](const ze_image_desc_t& description) {
      OwnedImage view;
      return create_view(context(), device(), &description, image, view.address());
    };
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, code(flags));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, code(stype));
    EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, code(media));
    EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, code(external));
    OwnedImage view;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
              create_view(context(), device(), nullptr, image, view.address()));
  }
  const OwnedContext other = create_context(driver());
  ze_image_allocation_ext_properties_t allocation{};
  allocation.stype = ZE_STRUCTURE_TYPE_IMAGE_ALLOCATION_EXT_PROPERTIES;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeImageGetAllocPropertiesExt(other, image, &allocation));
}

TEST_F(Image, given_null_handles_when_called_then_they_are_named) {
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  const ze_image_desc_t description = image_description(ZE_IMAGE_TYPE_2D, 4, 4);
  constexpr ze_result_t null_handle = ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  ze_image_handle_t made = nullptr;
  ze_image_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES;
  ze_image_allocation_ext_properties_t allocation{};
  allocation.stype = ZE_STRUCTURE_TYPE_IMAGE_ALLOCATION_EXT_PROPERTIES;
  ze_image_memory_properties_exp_t layout{};
  layout.stype = ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES;
  EXPECT_EQ(null_handle, zeImageGetProperties(nullptr, &description, &properties));
  EXPECT_EQ(null_handle, zeImageCreate(nullptr, device(), &description, &made));
  EXPECT_EQ(null_handle, zeImageCreate(context(), nullptr, &description, &made));
  EXPECT_EQ(null_handle, zeImageDestroy(nullptr));
  for (const auto create_view : {zeImageViewCreateExt, zeImageViewCreateExp}) {
    EXPECT_EQ(null_handle, create_view(context(), device(), &description, nullptr, &made));
  }
  EXPECT_EQ(null_handle, zeImageGetAllocPropertiesExt(context(), nullptr, &allocation));
  EXPECT_EQ(null_handle, zeImageGetMemoryPropertiesExp(nullptr, &layout));
  EXPECT_EQ(null_handle, zeContextMakeImageResident(context(), device(), nullptr));
  EXPECT_EQ(null_handle, zeContextEvictImage(context(), device(), nullptr));
}

}  // namespace
}  // namespace datum::test
