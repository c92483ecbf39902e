// Addresses of cards.
#include <gtest/gtest.h>

#include "vfio_backend/card_address.hpp"

namespace datum::test {

using vfio::KernelInterface;
using vfio::parse_card_address;

TEST(CardAddress, a_full_pci_address_is_taken_as_it_is) {
  const auto address = parse_card_address("vfio:0000:03:00.0");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->text, "vfio:0000:03:00.0");
  EXPECT_EQ(address->pci, "0000:03:00.0");
  EXPECT_FALSE(address->forced.has_value());
}

TEST(CardAddress, short_and_capital_forms_become_what_sysfs_uses) {
  EXPECT_EQ(parse_card_address("vfio:3:0.1")->pci, "0000:03:00.1");
  EXPECT_EQ(parse_card_address("vfio:AF:1F.7")->pci, "0000:af:1f.7");
  EXPECT_EQ(parse_card_address("vfio:10000:e1:00.0")->pci, "10000:e1:00.0");
}

TEST(CardAddress, no_pci_address_means_the_first_card) {
  EXPECT_EQ(parse_card_address("vfio:")->pci, "");
  EXPECT_EQ(parse_card_address("vfio:,container")->forced, KernelInterface::container);
}

TEST(CardAddress, an_option_forces_the_kernel_interface) {
  EXPECT_EQ(parse_card_address("vfio:0000:03:00.0,iommufd")->forced, KernelInterface::iommufd);
  EXPECT_EQ(parse_card_address("vfio:0000:03:00.0,container")->forced, KernelInterface::container);
}

TEST(CardAddress, what_makes_no_sense_is_refused_with_the_part_that_does_not) {
  for (const char* text :
       {"vfio:03", "vfio:0000:03:00", "vfio:0000:03:20.0", "vfio:0000:03:00.8", "vfio:0000:03:00.0.1",
        "vfio:0000:003:00.0", "vfio:zz:00.0", "vfio:0000:03:00.0 ", "vfio::.", "vfio:-1:00.0",
        "vfio:0000:03:00.0,", "vfio:0000:03:00.0,fast", "vfio:0000:03:00.0,iommufd,container",
        "vfio:0000:03:00.0,container,container", "rtl:"}) {
    const auto address = parse_card_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, ErrorCode::invalid_argument) << text;
    EXPECT_NE(address.error().message.find(text), std::string::npos) << address.error().message;
  }
  EXPECT_NE(parse_card_address("vfio:0000:03:00.0,fast").error().message.find("'fast'"), std::string::npos);
}

}  // namespace datum::test
