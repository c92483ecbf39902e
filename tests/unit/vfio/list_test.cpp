// Which cards are used without being asked for.
#include "tests/unit/vfio/card_test.hpp"

namespace datum::test {

class Listing : public CardTest {
 protected:
  void add(const std::string& pci, std::uint16_t vendor, std::uint16_t device,
           const std::string& driver = "vfio-pci") {
    add_to_sysfs(kernel_.machine, pci, 40, vendor, device, driver);
  }

  using Addresses = std::vector<std::string>;
};

TEST_F(Listing, bound_cards_with_known_ids_are_listed_in_order) {
  add("0000:81:00.0", 0x1234, 0xda70);
  add("0000:02:00.0", 0x1234, 0xda70);
  EXPECT_EQ(vfio::list_cards(kernel_, ""),
            (Addresses{"vfio:0000:02:00.0", "vfio:0000:03:00.0", "vfio:0000:81:00.0"}));
}

TEST_F(Listing, devices_that_are_bound_for_somebody_else_are_not) {
  add("0000:04:00.0", 0x10de, 0x2204);
  EXPECT_EQ(vfio::list_cards(kernel_, ""), Addresses{"vfio:0000:03:00.0"});
}

TEST_F(Listing, ids_that_are_asked_for_are_listed_too) {
  add("0000:04:00.0", 0x10ee, 0x9038);
  add("0000:05:00.0", 0x1bad, 0x0001);
  EXPECT_EQ(vfio::list_cards(kernel_, "1bad:0001,10ee:9038"),
            (Addresses{"vfio:0000:03:00.0", "vfio:0000:04:00.0", "vfio:0000:05:00.0"}));
  EXPECT_EQ(vfio::list_cards(kernel_, "10ee,:,,10ee:"), Addresses{"vfio:0000:03:00.0"});
}

TEST_F(Listing, cards_with_another_driver_are_not_listed) {
  add("0000:04:00.0", 0x1234, 0xda70, "xdma");
  EXPECT_EQ(vfio::list_cards(kernel_, ""), Addresses{"vfio:0000:03:00.0"});
}

TEST_F(Listing, files_of_the_driver_are_no_devices) {
  kernel_.machine.files.add_file("/sys/bus/pci/drivers/vfio-pci/new_id", "");
  kernel_.machine.files.add_link("/sys/bus/pci/drivers/vfio-pci/module", "/sys/module/vfio_pci");
  EXPECT_EQ(vfio::list_cards(kernel_, ""), Addresses{"vfio:0000:03:00.0"});
}

TEST_F(Listing, a_machine_without_vfio_lists_nothing) {
  kernel_.machine.files.remove("/sys/bus/pci/drivers");
  EXPECT_EQ(vfio::list_cards(kernel_, "1234:da70"), Addresses{});
}

TEST_F(Listing, the_backend_of_the_running_kernel_answers_without_a_card) {
  const board::Backend& backend = vfio::backend();
  EXPECT_EQ(backend.scheme, "vfio");
  const auto opened = backend.open("vfio:ffff:ff:1f.7");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::not_available);
  EXPECT_TRUE(has(backend.diagnose("vfio:ffff:ff:1f.7"), "no PCI device ffff:ff:1f.7"));
  EXPECT_TRUE(has(backend.diagnose("vfio:nonsense"), "nonsense"));
}

}  // namespace datum::test
