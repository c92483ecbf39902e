// That a board has one UUID, however it was named.
#include <string>

#include <gtest/gtest.h>

#include "driver/object/board_uuid.hpp"

namespace datum {
namespace {

board::FunctionInfo board_at(std::uint32_t domain, std::uint8_t bus, std::string address) {
  board::FunctionInfo info;
  info.vendor_id = 0x1234;
  info.device_id = 0xda70;
  info.pci = {domain, bus, 0, 0};
  info.address = std::move(address);
  return info;
}

TEST(BoardUuid, given_a_card_when_its_address_is_written_otherwise_then_it_is_the_same) {
  const auto uuid = uuid_of(board_at(0, 3, "vfio:0000:03:00.0"));
  for (const char* address :
       {"vfio:", "vfio:3:00.0", "vfio:03:00.0,container", "vfio:0000:03:00.0,iommufd"}) {
    EXPECT_EQ(uuid, uuid_of(board_at(0, 3, address))) << address;
  }
}

TEST(BoardUuid, given_cards_in_other_places_then_they_differ) {
  EXPECT_NE(uuid_of(board_at(0, 3, "vfio:")), uuid_of(board_at(0, 4, "vfio:")));
  EXPECT_NE(uuid_of(board_at(0, 3, "vfio:")), uuid_of(board_at(1, 3, "vfio:")));
}

TEST(BoardUuid, given_boards_whose_place_is_only_counted_then_their_addresses_tell_them_apart) {
  EXPECT_NE(uuid_of(board_at(0xda70, 0, "model:")), uuid_of(board_at(0xda70, 0, "rtl:")));
  EXPECT_NE(uuid_of(board_at(0xda71, 0, "vfio-user:/run/a")),
            uuid_of(board_at(0xda71, 0, "vfio-user:/run/b")));
}

}  // namespace
}  // namespace datum
