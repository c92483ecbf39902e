// A machine with one card, and the backend that opens it.
#pragma once

#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <datum/base/mapping.hpp>
#include <datum/board/pcie_function.hpp>

#include "tests/fakes/kernel/fake_kernel.hpp"
#include "tests/fakes/kernel/register_card.hpp"
#include "vfio_backend/backend.hpp"
#include "vfio_backend/vfio_function.hpp"

namespace datum::test {

inline constexpr const char* card_pci = "0000:03:00.0";
inline constexpr const char* card_text = "0000:03:00.0 (1234:da70)";
inline constexpr unsigned card_group = 12;

/// At the end of every test the machine is as it was: no descriptor, no mapping, no locked memory, and no
/// complaint.
class CardTest : public ::testing::Test {
 protected:
  CardTest() { plug({}); }

  void TearDown() override {
    function_.reset();
    EXPECT_EQ(kernel_.open_descriptors(), 0U);
    EXPECT_EQ(kernel_.machine.live_mappings, 0U);
    EXPECT_EQ(kernel_.machine.locked_bytes, 0U);
    EXPECT_EQ(card_->mapping_count(), 0U);
    EXPECT_FALSE(card_->bus_master());
    EXPECT_TRUE(kernel_.machine.complaints.empty()) << kernel_.machine.complaints.front();
  }

  /// Puts another card into the slot in place of the one that is there.
  void plug(RegisterCard::Shape shape) {
    kernel_.machine.slots.clear();
    card_ = std::make_shared<RegisterCard>(std::move(shape));
    slot_ = &kernel_.plug(card_pci, card_group, card_);
  }

  [[nodiscard]] Result<std::unique_ptr<board::PcieFunction>> try_open(const std::string& options = {}) {
    return vfio::open_card(kernel_, fmt::format("vfio:{}{}", card_pci, options));
  }

  void open(const std::string& options = {}) {
    auto opened = try_open(options);
    ASSERT_TRUE(opened) << opened.error().message;
    function_ = std::move(opened).value();
  }

  [[nodiscard]] Error refusal(const std::string& options = {}) {
    auto opened = try_open(options);
    return opened ? make_error(ErrorCode::unknown, "it was opened") : opened.error();
  }

  [[nodiscard]] board::Bar& registers() { return **function_->bar(0); }

  [[nodiscard]] board::Bar& memory() { return **function_->bar(2); }

  [[nodiscard]] std::uint64_t in_ms(std::uint64_t ms) { return function_->clock().now_ns + ms * 1'000'000U; }

  FakeKernel kernel_;
  std::shared_ptr<RegisterCard> card_;
  Slot* slot_ = nullptr;
  std::unique_ptr<board::PcieFunction> function_;
};

/// The same through either interface of the kernel; the parameter is the option that forces it.
class EitherInterface : public CardTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void open_it() { open(std::string(",") + GetParam()); }

  [[nodiscard]] Error refused() { return refusal(std::string(",") + GetParam()); }

  [[nodiscard]] bool through_iommufd() const { return std::string(GetParam()) == "iommufd"; }
};

#define DATUM_THROUGH_EITHER(suite)                                                                          \
  INSTANTIATE_TEST_SUITE_P(Interfaces, suite, ::testing::Values("iommufd", "container"),                     \
                           [](const auto& chosen) { return std::string(chosen.param); })

/// Pages of this process.
[[nodiscard]] inline Mapping host_pages(std::size_t bytes, int protection = PROT_READ | PROT_WRITE) {
  void* const base = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return base == MAP_FAILED ? Mapping{} : Mapping{base, bytes};
}

[[nodiscard]] inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace datum::test
