// Images over memory of the application's, with the pitch that the driver or the application chose; bindless
// images.
#include <cstring>

#include "tests/support/image.hpp"

namespace datum::test {
namespace {

constexpr std::uint32_t width = 21;
constexpr std::uint32_t height = 7;
constexpr std::uint32_t row_bytes = width * 4;
constexpr std::size_t packed_bytes = std::size_t{row_bytes} * height;

class PitchedImage : public ImageTest {
 protected:
  void SetUp() override {
    ImageTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetPitchFor2dImage(context(), device(), width, height, 4, &pitch_));
    memory_ = memory(MemoryKind::device, pitch_ * height);
    upload(memory_.get(), Bytes(pitch_ * height, 0xee));
    pitched_.stype = ZE_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC;
    pitched_.ptr = memory_.get();
    description_ = image_description(ZE_IMAGE_TYPE_2D, width, height);
    description_.pNext = &pitched_;
  }

  void TearDown() override {
    EXPECT_EQ(ZE_RESULT_SUCCESS, memory_.free());
    ImageTest::TearDown();
  }

  [[nodiscard]] ze_result_t create_code(const ze_image_desc_t& description) {
    OwnedImage made;
    return zeImageCreate(context(), device(), &description, made.address());
  }

  /// `pixels` in rows that lie `pitch` bytes apart, and nothing between them was written.
  static void expect_rows(const Bytes& found, const Bytes& pixels, std::size_t pitch) {
    for (std::uint32_t y = 0; y < height; ++y) {
      EXPECT_TRUE(
          same_bytes(pixels.data() + std::size_t{y} * row_bytes, found.data() + y * pitch, row_bytes));
      EXPECT_EQ(Bytes(pitch - row_bytes, 0xee),
                Bytes(found.begin() + static_cast<std::ptrdiff_t>(y * pitch + row_bytes),
                      found.begin() + static_cast<std::ptrdiff_t>((y + 1) * pitch)));
    }
  }

  std::size_t pitch_ = 0;
  OwnedMemory memory_;
  ze_image_pitched_exp_desc_t pitched_{};
  ze_image_desc_t description_{};
};

TEST_F(PitchedImage,
       given_memory_of_the_advised_pitch_when_an_image_lies_on_it_then_its_rows_are_those_bytes) {
  const Bytes pixels = pattern(packed_bytes, 1);
  {
    const OwnedImage image = create(description_);
    fill(image, pixels);
    EXPECT_EQ(pixels, content(image, packed_bytes));
    ze_image_memory_properties_exp_t layout{};
    layout.stype = ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeImageGetMemoryPropertiesExp(image, &layout));
    EXPECT_EQ(pitch_, layout.rowPitch);
    EXPECT_EQ(pitch_ * height, layout.size);
  }
  expect_rows(download(memory_.get(), pitch_ * height), pixels, pitch_);
}

TEST_F(PitchedImage,
       given_pixels_in_memory_when_an_image_lies_on_it_then_it_shows_them_and_so_does_its_view) {
  Bytes rows(pitch_ * height, 0x11);
  upload(memory_.get(), rows);
  OwnedImage image = create(description_);
  ze_image_desc_t as_floats =
      image_description(ZE_IMAGE_TYPE_2D, width, height, 1, ZE_IMAGE_FORMAT_LAYOUT_32);
  as_floats.format.type = ZE_IMAGE_FORMAT_TYPE_FLOAT;
  OwnedImage view;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeImageViewCreateExt(context(), device(), &as_floats, image, view.address()));
  EXPECT_EQ(Bytes(packed_bytes, 0x11), content(view, packed_bytes));
  as_floats.pNext = &pitched_;
  OwnedImage none;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeImageViewCreateExt(context(), device(), &as_floats, image, none.address()));
  const OwnedImage plain = create(image_description(ZE_IMAGE_TYPE_2D, width, height));
  ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
              EXPECT_EQ(ZE_RESULT_SUCCESS,
                        zeCommandListAppendImageCopy(list, plain, image, nullptr, 0, nullptr));
            }));
  EXPECT_EQ(Bytes(packed_bytes, 0x11), content(plain, packed_bytes));
}

TEST_F(PitchedImage,
       given_a_pitch_of_the_applications_when_an_image_is_made_then_its_rows_lie_that_far_apart) {
  const std::size_t wide = 3 * pitch_;
  const OwnedMemory large = memory(MemoryKind::device, 64 + wide * height);
  upload(large.get(), Bytes(64 + wide * height, 0xee));
  ze_custom_pitch_exp_desc_t pitch{ZE_STRUCTURE_TYPE_CUSTOM_PITCH_EXP_DESC, nullptr, wide, 0};
  pitched_.pNext = &pitch;
  pitched_.ptr = large.bytes() + 64;
  const Bytes pixels = pattern(packed_bytes, 2);
  const OwnedImage image = create(description_);
  fill(image, pixels);
  expect_rows(download(large.bytes() + 64, wide * height), pixels, wide);
  EXPECT_EQ(Bytes(64, 0xee), download(large.get(), 64));
}

TEST_F(PitchedImage,
       given_slices_of_the_applications_when_an_image_array_is_made_then_they_lie_that_far_apart) {
  const std::size_t slice = pitch_ * (height + 2);
  const OwnedMemory large = memory(MemoryKind::device, 2 * slice);
  const Bytes pixels = pattern(2 * packed_bytes, 3);
  ze_custom_pitch_exp_desc_t pitch{ZE_STRUCTURE_TYPE_CUSTOM_PITCH_EXP_DESC, nullptr, pitch_, slice};
  pitched_.pNext = &pitch;
  pitched_.ptr = large.get();
  ze_image_desc_t array = image_description(ZE_IMAGE_TYPE_2DARRAY, width, height, 2);
  array.pNext = &pitched_;
  const OwnedImage image = create(array);
  fill(image, pixels);
  for (std::size_t level = 0; level < 2; ++level) {
    const Bytes rows = download(large.bytes() + level * slice, pitch_ * height);
    for (std::uint32_t y = 0; y < height; ++y) {
      EXPECT_TRUE(same_bytes(pixels.data() + level * packed_bytes + std::size_t{y} * row_bytes,
                             rows.data() + y * pitch_, row_bytes));
    }
  }
}

TEST_F(PitchedImage, given_what_cannot_carry_the_image_when_it_is_made_then_the_code_says_so) {
  const OwnedMemory host = memory(MemoryKind::host, pitch_ * height);
  const OwnedMemory small = memory(MemoryKind::device, pitch_ * height - 1);
  int local = 0;
  for (void* wrong :
       {host.get(), small.get(), static_cast<void*>(memory_.bytes() + 1), static_cast<void*>(&local)}) {
    pitched_.ptr = wrong;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_code(description_));
  }
  pitched_.ptr = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, create_code(description_));
  pitched_.ptr = memory_.get();
  ze_custom_pitch_exp_desc_t pitch{ZE_STRUCTURE_TYPE_CUSTOM_PITCH_EXP_DESC, nullptr, 0, 0};
  pitched_.pNext = &pitch;
  for (const std::size_t rows :
       {std::size_t{0}, std::size_t{1}, std::size_t{64}, pitch_ + 1, std::size_t{1} << 32U}) {
    pitch.rowPitch = rows;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_code(description_)) << rows;
  }
  pitch.rowPitch = pitch_;
  for (const std::size_t slice : {pitch_ + 1, pitch_ * (height - 1)}) {
    pitch.slicePitch = slice;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_code(description_)) << slice;
  }
  description_.pNext = &pitch;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_code(description_)) << "a pitch without memory";
  pitched_.pNext = nullptr;
  ze_image_desc_t line = image_description(ZE_IMAGE_TYPE_1D, width);
  line.pNext = &pitched_;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_code(line));
}

TEST_F(PitchedImage, given_memory_freed_before_its_image_when_the_image_is_copied_then_it_is_refused) {
  const OwnedImage image = create(description_);
  ASSERT_EQ(ZE_RESULT_SUCCESS, memory_.free());
  const Bytes pixels = pattern(packed_bytes, 4);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, run([&](ze_command_list_handle_t list) {
              static_cast<void>(zeCommandListAppendImageCopyFromMemory(list, image, pixels.data(), nullptr,
                                                                       nullptr, 0, nullptr));
            }));
}

TEST_F(PitchedImage, given_bindless_images_when_asked_for_their_offset_then_it_is_where_they_begin) {
  ze_image_bindless_exp_desc_t bindless{ZE_STRUCTURE_TYPE_BINDLESS_IMAGE_EXP_DESC, nullptr,
                                        ZE_IMAGE_BINDLESS_EXP_FLAG_BINDLESS};
  pitched_.pNext = &bindless;
  OwnedImage image = create(description_);
  std::uint64_t offset = 0;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeImageGetDeviceOffsetExp(image, &offset));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory_.get()), offset);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeImageGetDeviceOffsetExp(image, nullptr));
  description_.pNext = nullptr;
  OwnedImage view;
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeImageViewCreateExt(context(), device(), &description_, image, view.address()));
  ASSERT_EQ(ZE_RESULT_SUCCESS, image.destroy());
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeImageGetDeviceOffsetExp(view, &offset));
  description_.pNext = &bindless;
  const OwnedImage own = create(description_);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeImageGetDeviceOffsetExp(own, &offset));
  EXPECT_NE(0U, offset);
  bindless.flags = 4;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, create_code(description_));
  bindless.flags = ZE_IMAGE_BINDLESS_EXP_FLAG_SAMPLED_IMAGE;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, create_code(description_));
  DATUM_NEEDS_SURVIVABLE_BAD_HANDLES();
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, zeImageGetDeviceOffsetExp(nullptr, &offset));
}

TEST_F(PitchedImage, given_the_device_when_asked_for_pitches_then_what_it_says_is_what_it_takes) {
  ze_pitched_alloc_2dimage_linear_pitch_exp_info_t of_pitch{};
  of_pitch.stype = ZE_STRUCTURE_TYPE_PITCHED_ALLOC_2DIMAGE_LINEAR_PITCH_EXP_INFO;
  ze_device_pitched_alloc_exp_properties_t limits{};
  limits.stype = ZE_STRUCTURE_TYPE_PITCHED_ALLOC_DEVICE_EXP_PROPERTIES;
  limits.pNext = &of_pitch;
  ze_device_image_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES;
  properties.pNext = &limits;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetImageProperties(device(), &properties));
  EXPECT_EQ(properties.maxImageDims2D, limits.maxImageLinearWidth);
  EXPECT_EQ(properties.maxImageDims2D, limits.maxImageLinearHeight);
  ASSERT_NE(0U, of_pitch.pitchAlign);
  EXPECT_EQ(0U, pitch_ % of_pitch.pitchAlign);
  EXPECT_EQ(0U, of_pitch.maxSupportedPitch % of_pitch.pitchAlign);
  ze_custom_pitch_exp_desc_t pitch{ZE_STRUCTURE_TYPE_CUSTOM_PITCH_EXP_DESC, nullptr,
                                   of_pitch.maxSupportedPitch, 0};
  ze_image_desc_t row = image_description(ZE_IMAGE_TYPE_2D, width, 1);
  row.pNext = &pitched_;
  pitched_.pNext = &pitch;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_code(row)) << "the memory is too small for such a row";
  EXPECT_NE(std::string::npos, last_error_text().find("does not fit")) << last_error_text();
  pitch.rowPitch += of_pitch.pitchAlign;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create_code(row));
  EXPECT_EQ(std::string::npos, last_error_text().find("does not fit")) << last_error_text();
}

}  // namespace
}  // namespace datum::test
