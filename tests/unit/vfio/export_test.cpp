// Device memory as a descriptor.
#include <array>

#include "tests/unit/vfio/card_test.hpp"

namespace datum::test {

class Exporting : public EitherInterface {};

DATUM_THROUGH_EITHER(Exporting);

TEST_P(Exporting, an_older_kernel_makes_no_descriptors_of_memory) {
  open_it();
  const auto exported = function_->export_memory(std::array{board::DeviceRange{{0, 0}, 0x1000}}, "label");
  ASSERT_FALSE(exported);
  EXPECT_EQ(exported.error().code, ErrorCode::unsupported_feature);
}

TEST_P(Exporting, memory_that_the_aperture_always_shows_becomes_a_dma_buf) {
  kernel_.machine.traits.dma_bufs = true;
  open_it();
  ASSERT_TRUE(function_->limits().can_export.dma_buf);
  const std::array<board::DeviceRange, 2> ranges{{{{0x4000, 0}, 0x2000}, {{0x9000, 0}, 0x1000}}};
  const auto exported = function_->export_memory(ranges, "label");
  ASSERT_TRUE(exported) << exported.error().message;
  EXPECT_TRUE(exported->valid());
  EXPECT_EQ(function_->limits().exportable_memories, 1U);
}

TEST_P(Exporting, a_dma_buf_cannot_be_taken_back) {
  kernel_.machine.traits.dma_bufs = true;
  open_it();
  EXPECT_FALSE(function_->limits().exports_end);
  const std::array ranges{board::DeviceRange{{0x4000, 0}, 0x2000}};
  ASSERT_TRUE(function_->export_memory(ranges, "label"));
  EXPECT_EQ(function_->end_export(ranges).error().code, ErrorCode::unsupported_feature);
}

TEST_P(Exporting, what_is_crooked_is_invalid_and_what_the_aperture_does_not_show_is_unsupported) {
  kernel_.machine.traits.dma_bufs = true;
  open_it();
  const auto code = [&](DeviceAddress first, std::uint64_t bytes) {
    const auto exported = function_->export_memory(
        std::array{board::DeviceRange{{0, 0}, 0x1000}, board::DeviceRange{first, bytes}}, "label");
    return exported ? ErrorCode::unknown : exported.error().code;
  };
  EXPECT_EQ(function_->export_memory({}, "label").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(code({0x800, 0}, 0x1000), ErrorCode::invalid_argument);
  EXPECT_EQ(code({0, 0}, 0x800), ErrorCode::invalid_argument);
  EXPECT_EQ(code({0, 0}, 0), ErrorCode::invalid_argument);
  EXPECT_EQ(code({0, 1}, 0x1000), ErrorCode::unsupported_feature);
  EXPECT_EQ(code({RegisterCard::memory_bytes / 2, 0}, 0x1000), ErrorCode::unsupported_feature);
  EXPECT_EQ(code({RegisterCard::memory_bytes / 2 - 0x1000, 0}, 0x2000), ErrorCode::unsupported_feature);
  EXPECT_EQ(code({0x1000, 0}, ~0xfffULL), ErrorCode::unsupported_feature);
}

TEST_P(Exporting, a_card_without_an_aperture_exports_nothing) {
  kernel_.machine.traits.dma_bufs = true;
  plug({.has_bar2 = false});
  open_it();
  EXPECT_FALSE(function_->limits().can_export.dma_buf);
  EXPECT_EQ(function_->export_memory(std::array{board::DeviceRange{{0, 0}, 0x1000}}, "label").error().code,
            ErrorCode::unsupported_feature);
}

}  // namespace datum::test
