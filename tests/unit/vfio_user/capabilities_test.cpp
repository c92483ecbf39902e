// VERSION: what the two ends tell each other.
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "vfio_user/capabilities.hpp"

namespace datum::test {
namespace {

using vfio_user::Capabilities;
using vfio_user::decode_version;

std::vector<std::byte> version(std::string_view text, bool with_end = true, std::uint16_t major = 0) {
  auto body = vfio_user::as_message_body(vfio_user::Version{major, 0});
  const auto bytes = std::as_bytes(std::span{text.data(), text.size()});
  body.insert(body.end(), bytes.begin(), bytes.end());
  if (with_end) {
    body.push_back(std::byte{0});
  }
  return body;
}

TEST(Capabilities, given_all_of_them_when_encoded_then_the_same_come_back) {
  Capabilities sent;
  sent.max_descriptors = 16;
  sent.max_data_bytes = 65536;
  sent.max_mappings = 1000;
  sent.page_sizes = 4096;
  sent.board = vfio_user::BoardCapabilities{"a board", 50, 48, 1ULL << 40U};
  const auto got = decode_version(vfio_user::encode_version(sent));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->max_descriptors, 16U);
  EXPECT_EQ(got->max_data_bytes, 65536U);
  EXPECT_EQ(got->max_mappings, 1000U);
  ASSERT_TRUE(got->board);
  EXPECT_EQ(got->board->name, "a board");
  EXPECT_EQ(got->board->wait_scale, 50U);
  EXPECT_EQ(got->board->iova_bits, 48U);
  EXPECT_EQ(got->board->max_locked_bytes, 1ULL << 40U);
}

TEST(Capabilities, given_what_qemu_sends_when_decoded_then_unknown_keys_are_passed_over) {
  const auto got = decode_version(version(
      R"({"capabilities":{"pgsizes":4096,"max_msg_fds":16,"max_dma_maps":65535,"max_data_xfer_size":1048576,)"
      R"("migration":{"pgsize":4096,"max_bitmap_size":33554432},"write_multiple":true}})"));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->max_descriptors, 16U);
  EXPECT_EQ(got->max_mappings, 65535U);
  EXPECT_FALSE(got->board);
}

TEST(Capabilities, given_none_when_decoded_then_the_protocols_defaults_hold) {
  for (const auto& body : {version("", false), version("{}"), version(R"({"capabilities":{}})")}) {
    const auto got = decode_version(body);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->max_descriptors, 1U);
    EXPECT_EQ(got->max_data_bytes, 1U << 20U);
  }
}

TEST(Capabilities, given_another_major_version_when_decoded_then_it_is_unsupported) {
  const auto got = decode_version(version("{}", true, 1));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, ErrorCode::unsupported_version);
}

TEST(Capabilities, given_nonsense_when_decoded_then_it_is_refused) {
  std::string deep;
  for (int level = 0; level < 100'000; ++level) {
    deep += '[';
  }
  const std::vector<std::vector<std::byte>> bodies{
      {},
      std::vector<std::byte>(3),
      version("{}", false),
      version("x"),
      version("[]"),
      version("7"),
      version("{\"capabilities\":"),
      version("{\"capabilities\":[]}"),
      version("{\"capabilities\":{\"max_msg_fds\":-1}}"),
      version("{\"capabilities\":{\"max_msg_fds\":\"16\"}}"),
      version("{\"capabilities\":{\"max_msg_fds\":1.5}}"),
      version("{\"capabilities\":{\"max_msg_fds\":4294967296}}"),
      version("{\"capabilities\":{\"max_data_xfer_size\":0}}"),
      version("{\"capabilities\":{\"datum\":7}}"),
      version("{\"capabilities\":{\"datum\":{\"wait_scale\":0}}}"),
      version("{\"capabilities\":{\"datum\":{\"iova_bits\":65}}}"),
      version("{\"capabilities\":{\"datum\":{\"name\":" + std::string("\"") + std::string(500, 'x') +
              "\"}}}"),
      version(deep),
      version("\xff\xfe{}"),
  };
  for (std::size_t index = 0; index < bodies.size(); ++index) {
    const auto got = decode_version(bodies[index]);
    ASSERT_FALSE(got) << index;
    EXPECT_EQ(got.error().code, ErrorCode::invalid_argument) << index;
  }
}

TEST(Capabilities, given_a_name_with_control_characters_when_decoded_then_they_are_made_harmless) {
  const auto got = decode_version(version("{\"capabilities\":{\"datum\":{\"name\":\"a\\u001b[2Jb\"}}}"));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->board->name, "a?[2Jb");
}

}  // namespace
}  // namespace datum::test
