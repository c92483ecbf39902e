// What copies of images refuse, and with which code.
#include "tests/support/image.hpp"

namespace datum::test {
namespace {

constexpr std::uint32_t argument_pixel_bytes = 4;

class ImageCopyArguments : public ImageTest {};

TEST_F(ImageCopyArguments, given_regions_that_leave_their_image_when_appended_then_they_are_refused) {
  const OwnedImage image = create(image_description(ZE_IMAGE_TYPE_2D, 16, 8));
  const OwnedImage other = create(image_description(ZE_IMAGE_TYPE_2D, 16, 8));
  Bytes bytes(16 * 8 * argument_pixel_bytes);
  const OwnedList list = this->list();
  const ze_image_region_t whole{0, 0, 0, 16, 8, 1};
  const ze_image_region_t bad[] = {{1, 0, 0, 16, 8, 1},  {0, 1, 0, 16, 8, 1},  {0, 0, 1, 16, 8, 1},
                                   {0, 0, 0, 17, 8, 1},  {0, 0, 0, 16, 9, 1},  {0, 0, 0, 16, 8, 2},
                                   {~0U, 0, 0, 2, 1, 1}, {0, ~0U, 0, 1, 2, 1}, {16, 8, 1, 1, 1, 1}};
  for (const ze_image_region_t& region : bad) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeCommandListAppendImageCopyFromMemory(
                                                    list, image, bytes.data(), &region, nullptr, 0, nullptr));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              zeCommandListAppendImageCopyToMemory(list, bytes.data(), image, &region, nullptr, 0, nullptr));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              zeCommandListAppendImageCopyRegion(list, image, other, &region, &region, nullptr, 0, nullptr));
  }
  const ze_image_region_t smaller{0, 0, 0, 15, 8, 1};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandListAppendImageCopyRegion(list, image, other, &whole, &smaller, nullptr, 0, nullptr))
      << "different extents";
}

TEST_F(ImageCopyArguments, given_images_that_do_not_match_when_appended_then_they_are_refused) {
  const OwnedImage image = create(image_description(ZE_IMAGE_TYPE_2D, 16, 8));
  const OwnedImage format = create(image_description(ZE_IMAGE_TYPE_2D, 16, 8, 1, ZE_IMAGE_FORMAT_LAYOUT_32));
  const OwnedImage extent = create(image_description(ZE_IMAGE_TYPE_2D, 16, 9));
  const OwnedContext other_context = create_context(driver());
  const ze_image_desc_t description = image_description(ZE_IMAGE_TYPE_2D, 16, 8);
  OwnedImage foreign;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeImageCreate(other_context, device(), &description, foreign.address()));
  const OwnedList list = this->list();
  for (const ze_image_handle_t wrong : {format.get(), extent.get(), foreign.get()}) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              zeCommandListAppendImageCopy(list, image, wrong, nullptr, 0, nullptr));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
              zeCommandListAppendImageCopyRegion(list, wrong, image, nullptr, nullptr, nullptr, 0, nullptr));
  }
}

TEST_F(ImageCopyArguments, given_pitches_that_do_not_fit_when_appended_then_they_are_refused) {
  const OwnedImage line = create(image_description(ZE_IMAGE_TYPE_1D, 16));
  const OwnedImage plane = create(image_description(ZE_IMAGE_TYPE_2D, 16, 8));
  const OwnedImage volume = create(image_description(ZE_IMAGE_TYPE_3D, 16, 8, 2));
  Bytes bytes(1U << 16U);
  const OwnedList list = this->list();
  const auto code = [&](ze_image_handle_t image, std::uint32_t row_pitch, std::uint32_t slice_pitch) {
    const ze_result_t to = zeCommandListAppendImageCopyToMemoryExt(
        list, bytes.data(), image, nullptr, row_pitch, slice_pitch, nullptr, 0, nullptr);
    EXPECT_EQ(to, zeCommandListAppendImageCopyFromMemoryExt(list, image, bytes.data(), nullptr, row_pitch,
                                                            slice_pitch, nullptr, 0, nullptr));
    return to;
  };
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, code(line, 64, 0)) << "must be 0 for a line";
  EXPECT_EQ(ZE_RESULT_SUCCESS, code(line, 0, 0));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, code(plane, 63, 0));
  EXPECT_EQ(ZE_RESULT_SUCCESS, code(plane, 64, 0));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, code(plane, 64, 512)) << "must be 0 for a plane";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, code(volume, 64, 511));
  EXPECT_EQ(ZE_RESULT_SUCCESS, code(volume, 64, 512));
  EXPECT_EQ(ZE_RESULT_SUCCESS, code(volume, 0, 0));
}

TEST_F(ImageCopyArguments, given_memory_that_is_too_small_when_appended_then_it_is_refused) {
  const OwnedImage image = create(image_description(ZE_IMAGE_TYPE_2D, 16, 8));
  const OwnedMemory block = memory(MemoryKind::device, 16 * 8 * argument_pixel_bytes - 1);
  const OwnedList list = this->list();
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandListAppendImageCopyFromMemory(list, image, block.get(), nullptr, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandListAppendImageCopyToMemory(list, block.get(), image, nullptr, nullptr, 0, nullptr));
}

/// What the six functions have in common.
struct AppendArguments {
  ze_command_list_handle_t list;
  ze_image_handle_t dst;
  ze_image_handle_t src;
  void* memory;
  ze_event_handle_t signal;
  std::uint32_t wait_count;
  ze_event_handle_t* waits;
};

struct AppendFunction {
  const char* name;
  bool takes_memory;
  ze_result_t (*append)(const AppendArguments& a);
};

constexpr AppendFunction append_functions[] = {
    {"ImageCopy", false,
     [](const AppendArguments& a) {
       return zeCommandListAppendImageCopy(a.list, a.dst, a.src, a.signal, a.wait_count, a.waits);
     }},
    {"ImageCopyRegion", false,
     [](const AppendArguments& a) {
       return zeCommandListAppendImageCopyRegion(a.list, a.dst, a.src, nullptr, nullptr, a.signal,
                                                 a.wait_count, a.waits);
     }},
    {"ImageCopyToMemory", true,
     [](const AppendArguments& a) {
       return zeCommandListAppendImageCopyToMemory(a.list, a.memory, a.src, nullptr, a.signal, a.wait_count,
                                                   a.waits);
     }},
    {"ImageCopyFromMemory", true,
     [](const AppendArguments& a) {
       return zeCommandListAppendImageCopyFromMemory(a.list, a.dst, a.memory, nullptr, a.signal, a.wait_count,
                                                     a.waits);
     }},
    {"ImageCopyToMemoryExt", true,
     [](const AppendArguments& a) {
       return zeCommandListAppendImageCopyToMemoryExt(a.list, a.memory, a.src, nullptr, 0, 0, a.signal,
                                                      a.wait_count, a.waits);
     }},
    {"ImageCopyFromMemoryExt", true, [](const AppendArguments& a) {
       return zeCommandListAppendImageCopyFromMemoryExt(a.list, a.dst, a.memory, nullptr, 0, 0, a.signal,
                                                        a.wait_count, a.waits);
     }}};

TEST_F(ImageCopyArguments, given_wrong_arguments_when_appended_then_each_has_its_code) {
  const OwnedImage image = create(image_description(ZE_IMAGE_TYPE_2D, 16, 8));
  const OwnedImage other = create(image_description(ZE_IMAGE_TYPE_2D, 16, 8));
  Bytes bytes(512);
  const OwnedList open = list();
  const OwnedList closed = list();
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(closed));
  const OwnedContext other_context = create_context(driver());
  const OwnedEventPool foreign_pool = create_event_pool(other_context, 1);
  const OwnedEvent foreign = create_event(foreign_pool);
  const AppendArguments good{open, other, image, bytes.data(), nullptr, 0, nullptr};
  for (const AppendFunction& function : append_functions) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, function.append(good)) << function.name;
    AppendArguments bad = good;
    if (null_arrays_reach_the_driver()) {
      bad.wait_count = 1;
      EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SIZE, function.append(bad)) << function.name;
    }
    bad = good;
    bad.signal = foreign;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, function.append(bad)) << function.name;
    bad = good;
    bad.list = closed;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, function.append(bad)) << function.name;
    if (function.takes_memory) {
      bad = good;
      bad.memory = nullptr;
      EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, function.append(bad)) << function.name;
    }
  }
}

TEST_F(ImageCopyArguments, given_null_handles_when_appended_then_they_are_named) {
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  const OwnedImage image = create(image_description(ZE_IMAGE_TYPE_2D, 16, 8));
  Bytes bytes(512);
  const OwnedList open = list();
  for (const AppendFunction& function : append_functions) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
              function.append({nullptr, image, image, bytes.data(), nullptr, 0, nullptr}))
        << function.name;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE,
              function.append({open, nullptr, nullptr, bytes.data(), nullptr, 0, nullptr}))
        << function.name;
  }
}

}  // namespace
}  // namespace datum::test
