// What a session does for a client that speaks as QEMU does.
#include <linux/pci_regs.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "tests/unit/vfio_user/session_test.hpp"

namespace datum::test {
namespace {

using vfio_user::as_message_body;
using vfio_user::config_region;

class Service : public SessionTest {
 protected:
  void SetUp() override {
    SessionTest::SetUp();
    negotiate();
  }

  vfio_user::RegionInfo region_info(std::uint32_t index, std::uint32_t argsz, Message& reply) {
    reply = peer().ask(Command::device_get_region_info,
                       as_message_body(vfio_user::RegionInfo{argsz, 0, index, 0, 0, 0}));
    EXPECT_GE(reply.body.size(), sizeof(vfio_user::RegionInfo));
    return vfio_user::read_body<vfio_user::RegionInfo>(reply.body);
  }

  /// Ring 0 with one descriptor at `iova`, and its record behind it.
  void start_ring(std::uint64_t iova) {
    write<std::uint64_t>(register_bar, hw::ring_base(0), iova);
    write<std::uint64_t>(register_bar, hw::ring_completion(0), iova + 0x800);
    write<std::uint32_t>(register_bar, hw::ring_size_log2(0), 4);
    write<std::uint32_t>(register_bar, hw::ring_control(0), 1);
    auto doorbell = as_message_body(vfio_user::RegionAccess{hw::ring_tail(0), register_bar, 4});
    vfio_user::append(doorbell, std::uint32_t{1});
    peer().send(Command::region_write, doorbell, {}, vfio_user::flag_no_reply);
  }

  static hw::Descriptor reporting_nop() {
    return hw::Descriptor{}.set_opcode(hw::Opcode::nop).set_sequence(7).set_flag_interrupt(true);
  }

  void set_bus_master(bool on) {
    write<std::uint16_t>(config_region, PCI_COMMAND, on ? PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER : 0);
  }

  UniqueFd connect_vector(std::uint32_t vector, std::uint32_t index = vfio_user::msix_irq) {
    UniqueFd event(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    const int fd = event.get();
    EXPECT_EQ(peer().error_of(Command::device_set_irqs,
                              as_message_body(vfio_user::IrqSet{20, 0x24, index, vector, 1}), {&fd, 1}),
              0U);
    return event;
  }

  static bool raised(const UniqueFd& event, int milliseconds = 10'000) {
    pollfd entry{event.get(), POLLIN, 0};
    std::uint64_t count = 0;
    return ::poll(&entry, 1, milliseconds) > 0 && ::read(event.get(), &count, sizeof count) == 8;
  }

  hw::RingState ring_state() {
    return static_cast<hw::RingState>(read<std::uint32_t>(register_bar, hw::ring_state(0)));
  }

  void answer_read(const Message& question, std::span<const std::byte> data) {
    Header header = question.header;
    header.flags = vfio_user::type_reply;
    auto body = question.body;
    body.insert(body.end(), data.begin(), data.end());
    peer().send(header, body);
  }

  void refuse(const Message& question) {
    Header header = question.header;
    header.flags = vfio_user::type_reply | vfio_user::flag_error;
    header.error = ENODEV;
    peer().send(header, {});
  }
};

TEST_F(Service, given_a_device_when_asked_then_it_is_a_pci_function_that_can_be_reset) {
  const auto reply =
      peer().ask(Command::device_get_info, as_message_body(vfio_user::DeviceInfo{16, 0, 0, 0}));
  const auto info = vfio_user::read_body<vfio_user::DeviceInfo>(reply.body);
  EXPECT_EQ(info.flags, 3U);
  EXPECT_EQ(info.region_count, 9U);
  EXPECT_EQ(info.irq_count, 5U);
}

TEST_F(Service, given_the_aperture_when_asked_for_with_room_then_its_fixed_part_can_be_mapped) {
  Message reply;
  const auto brief = region_info(aperture_bar, 32, reply);
  EXPECT_EQ(brief.flags, 7U) << "capabilities that do not fit must not be announced";
  EXPECT_EQ(brief.argsz, 64U);
  EXPECT_EQ(reply.body.size(), 32U);
  const auto full = region_info(aperture_bar, brief.argsz, reply);
  EXPECT_EQ(full.flags, 15U);
  ASSERT_EQ(reply.body.size(), 64U);
  ASSERT_EQ(reply.descriptors.size(), 1U);
  const auto area = vfio_user::read_body<vfio_user::SparseArea>(std::span{reply.body}.subspan(48));
  EXPECT_EQ(area.offset, 0U);
  EXPECT_EQ(area.bytes, 16ULL << 20U);
  const Mapping view(
      ::mmap(nullptr, area.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, reply.descriptors[0].get(), 0),
      area.bytes);
  view.data()[0x12345] = std::byte{0x5a};
  EXPECT_EQ(read<std::uint8_t>(aperture_bar, 0x12345), 0x5aU);
  EXPECT_NE(::ftruncate(reply.descriptors[0].get(), 0), 0) << "a client must not be able to shrink it";
}

TEST_F(Service, given_other_regions_when_asked_then_they_come_without_descriptors) {
  for (const std::uint32_t index : {0U, 1U, 3U, 4U, 5U, 6U, 7U, 8U}) {
    Message reply;
    const auto info = region_info(index, 32, reply);
    EXPECT_TRUE(reply.descriptors.empty()) << index;
    EXPECT_EQ(info.bytes, board_->region_bytes(index)) << index;
    EXPECT_EQ(info.flags, info.bytes == 0 ? 0U : 3U) << index;
  }
}

TEST_F(Service, given_the_configuration_space_when_read_then_its_capabilities_are_a_chain_with_msix_and_flr) {
  const auto reply =
      peer().ask(Command::region_read, as_message_body(vfio_user::RegionAccess{0, config_region, 4096}));
  const auto config = std::span{reply.body}.subspan(sizeof(vfio_user::RegionAccess));
  ASSERT_EQ(config.size(), 4096U);
  const auto word = [&](std::size_t at) { return vfio_user::read_body<std::uint16_t>(config.subspan(at)); };
  EXPECT_EQ(word(PCI_VENDOR_ID), 0x1234);
  EXPECT_EQ(word(PCI_DEVICE_ID), 0xda70);
  std::vector<unsigned> seen;
  for (unsigned at = word(PCI_CAPABILITY_LIST) & 0xffU; at != 0; at = word(at) >> 8U) {
    seen.push_back(word(at) & 0xffU);
    if (seen.back() == PCI_CAP_ID_MSIX) {
      EXPECT_EQ(word(at + PCI_MSIX_FLAGS) & PCI_MSIX_FLAGS_QSIZE, 65);
      EXPECT_EQ(word(at + PCI_MSIX_TABLE), 4);
    } else if (seen.back() == PCI_CAP_ID_EXP) {
      EXPECT_NE(vfio_user::read_body<std::uint32_t>(config.subspan(at + PCI_EXP_DEVCAP)) & PCI_EXP_DEVCAP_FLR,
                0U);
    }
    ASSERT_LT(seen.size(), 10U);
  }
  EXPECT_EQ(seen, (std::vector<unsigned>{PCI_CAP_ID_PM, PCI_CAP_ID_MSIX, PCI_CAP_ID_EXP}));
}

TEST_F(Service, given_bars_when_sized_then_they_say_their_size_and_kind) {
  for (const std::uint32_t bar : {0U, 2U, 4U}) {
    write<std::uint32_t>(config_region, PCI_BASE_ADDRESS_0 + 4 * bar, ~0U);
    write<std::uint32_t>(config_region, PCI_BASE_ADDRESS_0 + 4 * bar + 4, ~0U);
    const auto value = read<std::uint64_t>(config_region, PCI_BASE_ADDRESS_0 + 4 * bar);
    EXPECT_EQ(~(value & ~0xfULL) + 1, board_->region_bytes(bar)) << bar;
    EXPECT_EQ(value & 6U, 4U) << "64 bits";
  }
  write<std::uint32_t>(config_region, PCI_BASE_ADDRESS_0 + 4, ~0U);
  EXPECT_EQ(read<std::uint16_t>(config_region, PCI_VENDOR_ID), 0x1234) << "ids cannot be written";
}

TEST_F(Service, given_memory_handed_over_as_a_file_when_the_board_works_then_no_message_is_needed) {
  const UniqueFd file(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), 0x3000), 0);
  const Mapping view(::mmap(nullptr, 0x3000, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0), 0x3000);
  const auto descriptor = reporting_nop();
  std::memcpy(view.data() + 0x1000, descriptor.words.data(), sizeof descriptor);
  ASSERT_EQ(map(0x10000, 0x1000, 3, file.get(), 0x1000), 0U);
  const auto event = connect_vector(0);
  set_bus_master(true);
  start_ring(0x10000);
  ASSERT_TRUE(raised(event));
  EXPECT_EQ(vfio_user::read_body<std::uint32_t>(view.span().subspan(0x1800)), 7U) << "sequence in the record";
}

TEST_F(Service, given_memory_by_message_when_the_board_works_then_registers_answer_meanwhile) {
  ASSERT_EQ(map(0x10000, 0x1000, 3), 0U);
  const auto event = connect_vector(0);
  set_bus_master(true);
  start_ring(0x10000);
  auto fetch = peer().receive();
  ASSERT_TRUE(fetch);
  ASSERT_EQ(fetch->command(), Command::dma_read);
  const auto access = vfio_user::read_body<vfio_user::DmaAccess>(fetch->body);
  EXPECT_EQ(access.iova, 0x10000U);
  EXPECT_EQ(access.count, sizeof(hw::Descriptor));
  // The board waits for us; it must not let us wait.
  for (int times = 0; times < 20; ++times) {
    expect_alive();
  }
  EXPECT_EQ(ring_state(), hw::RingState::active);
  const auto descriptor = reporting_nop();
  answer_read(*fetch, std::as_bytes(std::span{descriptor.words}));
  auto record = peer().receive();
  ASSERT_TRUE(record);
  ASSERT_EQ(record->command(), Command::dma_write);
  EXPECT_EQ(vfio_user::read_body<vfio_user::DmaAccess>(record->body).iova, 0x10800U);
  expect_alive();
  EXPECT_FALSE(raised(event, 0)) << "an interrupt must not overtake its record";
  record->body.resize(sizeof(vfio_user::DmaAccess));
  answer_read(*record, {});
  EXPECT_TRUE(raised(event));
}

TEST_F(Service, given_a_ring_stopped_amid_an_access_when_asked_then_it_is_disabled_only_after_the_answer) {
  ASSERT_EQ(map(0x10000, 0x1000, 3), 0U);
  set_bus_master(true);
  start_ring(0x10000);
  const auto fetch = peer().receive();
  ASSERT_TRUE(fetch);
  EXPECT_EQ(write<std::uint32_t>(register_bar, hw::ring_control(0), 0), 0U);
  EXPECT_EQ(ring_state(), hw::RingState::active) << "its access is still under way";
  answer_read(*fetch, std::vector<std::byte>(sizeof(hw::Descriptor)));
  while (ring_state() == hw::RingState::active) {
  }
  EXPECT_EQ(ring_state(), hw::RingState::disabled);
  EXPECT_FALSE(peer().readable(0)) << "nothing follows";
}

TEST_F(Service, given_a_ring_restarted_amid_an_access_when_the_old_answer_comes_then_it_is_not_taken) {
  ASSERT_EQ(map(0x10000, 0x1000, 3), 0U);
  const auto event = connect_vector(0);
  set_bus_master(true);
  start_ring(0x10000);
  const auto old_fetch = peer().receive();
  ASSERT_TRUE(old_fetch);
  write<std::uint32_t>(register_bar, hw::ring_control(0), 0);
  start_ring(0x10000);
  expect_alive();
  answer_read(*old_fetch, std::vector<std::byte>(sizeof(hw::Descriptor), std::byte{0xff}));
  const auto fetch = peer().receive();
  ASSERT_TRUE(fetch);
  ASSERT_EQ(fetch->command(), Command::dma_read) << "the descriptor is asked for again";
  const auto descriptor = reporting_nop();
  answer_read(*fetch, std::as_bytes(std::span{descriptor.words}));
  auto record = peer().receive();
  ASSERT_TRUE(record);
  ASSERT_EQ(record->command(), Command::dma_write);
  EXPECT_EQ(vfio_user::read_body<std::uint32_t>(std::span{record->body}.subspan(16)), 7U);
  record->body.resize(sizeof(vfio_user::DmaAccess));
  answer_read(*record, {});
  EXPECT_TRUE(raised(event));
}

TEST_F(Service, given_memory_that_the_client_refuses_when_the_board_reads_it_then_the_ring_faults) {
  set_bus_master(true);
  start_ring(0x77000);
  for (const auto expected : {Command::dma_read, Command::dma_write}) {  // the fetch, then the record
    const auto question = peer().receive();
    ASSERT_TRUE(question);
    EXPECT_EQ(question->command(), expected);
    refuse(*question);
  }
  while (ring_state() == hw::RingState::active) {
  }
  EXPECT_EQ(ring_state(), hw::RingState::faulted);
}

TEST_F(Service, given_bus_mastering_off_when_a_ring_starts_then_nothing_leaves_the_board) {
  ASSERT_EQ(map(0x10000, 0x1000, 3), 0U);
  const auto event = connect_vector(0);
  start_ring(0x10000);
  while (ring_state() == hw::RingState::active) {
  }
  EXPECT_EQ(ring_state(), hw::RingState::faulted);
  EXPECT_FALSE(raised(event, 0));
  EXPECT_FALSE(peer().readable(0));
}

TEST_F(Service, given_a_vector_without_a_descriptor_when_raised_then_it_is_pending_until_there_is_one) {
  EXPECT_EQ(peer().error_of(Command::device_set_irqs, as_message_body(vfio_user::IrqSet{20, 0x21, 2, 9, 1})),
            0U);
  EXPECT_EQ(read<std::uint64_t>(message_bar, 0x1000), 1ULL << 9U);
  const auto event = connect_vector(9);
  EXPECT_TRUE(raised(event));
  EXPECT_EQ(read<std::uint64_t>(message_bar, 0x1000), 0U);
}

TEST_F(Service, given_a_full_eventfd_when_its_vector_is_raised_then_nobody_waits) {
  UniqueFd event(::eventfd(0, EFD_CLOEXEC));  // one that blocks
  const std::uint64_t most = ~0ULL - 1;
  ASSERT_EQ(::write(event.get(), &most, sizeof most), 8);
  const int fd = event.get();
  EXPECT_EQ(peer().error_of(Command::device_set_irqs, as_message_body(vfio_user::IrqSet{20, 0x24, 2, 0, 1}),
                            {&fd, 1}),
            0U);
  EXPECT_EQ(peer().error_of(Command::device_set_irqs, as_message_body(vfio_user::IrqSet{20, 0x21, 2, 0, 1})),
            0U);
  expect_alive();
}

TEST_F(Service, given_a_function_level_reset_when_written_then_the_board_is_as_after_power_on) {
  set_bus_master(true);
  write<std::uint64_t>(register_bar, hw::scratch, 0x1234ULL);
  write<std::uint64_t>(aperture_bar, 0x100, 0x5678ULL);
  ASSERT_EQ(map(0x10000, 0x1000, 3), 0U);
  constexpr std::uint32_t devctl = 0x68;
  EXPECT_EQ(write<std::uint16_t>(config_region, devctl, 0xa810), 0U);
  EXPECT_EQ(read<std::uint64_t>(register_bar, hw::scratch), 0U);
  EXPECT_EQ(read<std::uint16_t>(config_region, PCI_COMMAND), 0U);
  EXPECT_EQ(read<std::uint16_t>(config_region, devctl) & PCI_EXP_DEVCTL_BCR_FLR, 0);
  EXPECT_EQ(read<std::uint64_t>(aperture_bar, 0x100), 0x5678U) << "memory is not registers";
  EXPECT_EQ(board_->mappings(), 1U) << "mappings are the IOMMU's";
  EXPECT_EQ(peer().error_of(Command::device_reset, {}), 0U);
}

TEST_F(Service, given_unmaps_as_qemu_sends_them_when_nothing_or_many_lie_there_then_they_succeed) {
  EXPECT_EQ(unmap(0, 0xfee00000), 0U);
  EXPECT_EQ(unmap(0xfef00000, 0xffffffff01100000), 0U) << "ends where addresses end";
  const UniqueFd file(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), 0x200000), 0);
  for (std::uint64_t page = 0; page < 0x200000; page += 0x1000) {
    ASSERT_EQ(map(0x4000000000ULL + page, 0x1000, 3, file.get(), 0x1ff000 - page), 0U);
  }
  EXPECT_EQ(board_->mappings(), 512U);
  EXPECT_EQ(unmap(0x4000000000ULL, 0x200000), 0U);
  EXPECT_EQ(board_->mappings(), 0U);
  ASSERT_EQ(map(0x1000, 0x1000, 1), 0U);
  EXPECT_EQ(unmap(0, 0, vfio_user::dma_unmap_all), 0U);
  EXPECT_EQ(board_->mappings(), 0U);
}

TEST_F(Service, given_a_client_that_reads_nothing_when_it_floods_then_it_is_cut_off_and_the_server_lives) {
  const auto question = as_message_body(vfio_user::RegionAccess{0, aperture_bar, vfio_user::most_data_bytes});
  const auto whole = vfio_user::encode({1, 9, 0, 0, 0}, question);
  int error = 0;
  for (int times = 0; times < 1000 && error == 0; ++times) {
    error = vfio_user::send_all(peer().socket(), whole, {});
  }
  EXPECT_NE(error, 0);
  disconnect();
  connect();
  negotiate();
  expect_alive();
}

}  // namespace
}  // namespace datum::test
