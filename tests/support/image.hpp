// Images, and what the tests say about them.
#pragma once

#include <level_zero/ze_api.h>

#include "tests/support/api_session.hpp"
#include "tests/support/owned_handle.hpp"

namespace datum::test {

using OwnedImage = Owned<ze_image_handle_t, zeImageDestroy>;

/// A layout of the API, with its bytes.
struct ElementLayout {
  ze_image_format_layout_t layout;
  std::uint32_t bytes;
};

inline constexpr ElementLayout element_layouts[] = {
    {ZE_IMAGE_FORMAT_LAYOUT_8, 1},          {ZE_IMAGE_FORMAT_LAYOUT_8_8, 2},
    {ZE_IMAGE_FORMAT_LAYOUT_8_8_8, 3},      {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, 4},
    {ZE_IMAGE_FORMAT_LAYOUT_16, 2},         {ZE_IMAGE_FORMAT_LAYOUT_16_16, 4},
    {ZE_IMAGE_FORMAT_LAYOUT_16_16_16, 6},   {ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, 8},
    {ZE_IMAGE_FORMAT_LAYOUT_32, 4},         {ZE_IMAGE_FORMAT_LAYOUT_32_32, 8},
    {ZE_IMAGE_FORMAT_LAYOUT_32_32_32, 12},  {ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, 16},
    {ZE_IMAGE_FORMAT_LAYOUT_10_10_10_2, 4}, {ZE_IMAGE_FORMAT_LAYOUT_11_11_10, 4},
    {ZE_IMAGE_FORMAT_LAYOUT_5_6_5, 2},      {ZE_IMAGE_FORMAT_LAYOUT_5_5_5_1, 2},
    {ZE_IMAGE_FORMAT_LAYOUT_4_4_4_4, 2}};

/// `depth` is the number of levels of an array.
[[nodiscard]] inline ze_image_desc_t
image_description(ze_image_type_t type, std::uint64_t width, std::uint32_t height = 1,
                  std::uint32_t depth = 1, ze_image_format_layout_t layout = ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8) {
  ze_image_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC;
  description.type = type;
  description.format = {layout,
                        ZE_IMAGE_FORMAT_TYPE_UINT,
                        ZE_IMAGE_FORMAT_SWIZZLE_R,
                        ZE_IMAGE_FORMAT_SWIZZLE_G,
                        ZE_IMAGE_FORMAT_SWIZZLE_B,
                        ZE_IMAGE_FORMAT_SWIZZLE_A};
  description.width = width;
  description.height = height;
  description.depth = type == ZE_IMAGE_TYPE_3D ? depth : 0;
  description.arraylevels = type == ZE_IMAGE_TYPE_1DARRAY || type == ZE_IMAGE_TYPE_2DARRAY ? depth : 0;
  return description;
}

/// A test with a context of its own that makes images in it.
class ImageTest : public ApiTest {
 protected:
  [[nodiscard]] OwnedImage create(const ze_image_desc_t& description) {
    OwnedImage made;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeImageCreate(context(), device(), &description, made.address()))
        << last_error_text();
    return made;
  }

  /// Writes the whole image.
  void fill(ze_image_handle_t image, const Bytes& bytes) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
                EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendImageCopyFromMemory(
                                                 list, image, bytes.data(), nullptr, nullptr, 0, nullptr));
              }));
  }

  /// Reads the whole image.
  [[nodiscard]] Bytes content(ze_image_handle_t image, std::size_t bytes) {
    Bytes found(bytes);
    EXPECT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
                EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendImageCopyToMemory(
                                                 list, found.data(), image, nullptr, nullptr, 0, nullptr));
              }));
    return found;
  }

  /// A list that is never executed.
  [[nodiscard]] OwnedList list() { return create_list(context(), device()); }
};

}  // namespace datum::test
