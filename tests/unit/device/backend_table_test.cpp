#include <cstdlib>

#include <gtest/gtest.h>

#include "driver/device/backend_table.hpp"

namespace datum::test {
namespace {

class BackendTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* before = std::getenv("DATUM_SIM_PLUGIN");
    before_ = before == nullptr ? "" : before;
  }

  void TearDown() override {
    if (before_.empty()) {
      ::unsetenv("DATUM_SIM_PLUGIN");
    } else {
      ::setenv("DATUM_SIM_PLUGIN", before_.c_str(), 1);
    }
  }

  static Error refusal(const char* address) {
    Result<std::unique_ptr<board::PcieFunction>> function = open_function(address);
    return function.ok() ? make_error(ErrorCode::not_ready, "it was opened") : function.error();
  }

  std::string before_;
};

TEST_F(BackendTableTest, given_an_unknown_scheme_when_opened_then_the_known_ones_are_told) {
  const Error error = refusal("floppy:a");
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_NE(error.message.find("'floppy'"), std::string::npos) << error.message;
  EXPECT_NE(error.hint.find("rtl:"), std::string::npos) << error.hint;
}

TEST_F(BackendTableTest, given_an_empty_address_when_opened_then_it_is_refused) {
  EXPECT_EQ(refusal("").code, ErrorCode::invalid_argument);
  EXPECT_EQ(refusal(":").code, ErrorCode::invalid_argument);
}

TEST_F(BackendTableTest, given_a_server_that_is_not_there_when_opened_then_path_and_cure_are_told) {
  const char* address = "vfio-user:/nowhere/socket";
  const Error error = refusal(address);
  EXPECT_EQ(error.code, ErrorCode::not_available);
  EXPECT_NE(error.message.find("/nowhere/socket"), std::string::npos) << error.message;
  EXPECT_NE(diagnose_board(address).find("datum-board"), std::string::npos);
}

TEST_F(BackendTableTest,
       given_a_card_that_is_not_there_when_opened_then_the_kernel_is_asked_and_the_card_is_named) {
  const char* address = "vfio:ffff:ff:1f.7";
  const Error error = refusal(address);
  EXPECT_EQ(error.code, ErrorCode::not_available);
  EXPECT_NE(error.message.find("no PCI device ffff:ff:1f.7"), std::string::npos) << error.message;
  EXPECT_NE(diagnose_board(address).find("ffff:ff:1f.7"), std::string::npos);
}

TEST_F(BackendTableTest,
       given_a_plugin_that_is_not_there_when_a_simulated_board_is_opened_then_path_and_cure_are_told) {
  ::setenv("DATUM_SIM_PLUGIN", "/nowhere/libdatum_sim.so", 1);
  const Error error = refusal("rtl");
  EXPECT_EQ(error.code, ErrorCode::dependency_unavailable);
  EXPECT_NE(error.message.find("/nowhere/libdatum_sim.so"), std::string::npos) << error.message;
  EXPECT_NE(error.hint.find("libdatum_sim.so"), std::string::npos) << error.hint;
}

TEST_F(BackendTableTest,
       given_a_file_that_is_no_library_when_a_simulated_board_is_opened_then_it_is_refused) {
  ::setenv("DATUM_SIM_PLUGIN", "/etc/passwd", 1);
  EXPECT_EQ(refusal("model:").code, ErrorCode::dependency_unavailable);
}

TEST_F(BackendTableTest,
       given_a_library_that_is_no_plugin_when_a_simulated_board_is_opened_then_it_is_refused) {
  ::setenv("DATUM_SIM_PLUGIN", DATUM_TEST_NO_PLUGIN, 1);
  const Error error = refusal("model:");
  EXPECT_EQ(error.code, ErrorCode::dependency_unavailable);
  EXPECT_NE(error.message.find("not a board plugin"), std::string::npos) << error.message;
}

TEST_F(BackendTableTest,
       given_a_plugin_of_another_build_when_a_simulated_board_is_opened_then_both_versions_are_told) {
  ::setenv("DATUM_SIM_PLUGIN", DATUM_TEST_OTHER_BUILD, 1);
  const Error error = refusal("model:");
  EXPECT_EQ(error.code, ErrorCode::dependency_unavailable);
  EXPECT_NE(error.message.find("of another build"), std::string::npos) << error.message;
}

TEST_F(BackendTableTest, given_a_plugin_without_the_scheme_when_opened_then_the_scheme_is_told) {
  ::setenv("DATUM_SIM_PLUGIN", DATUM_TEST_EMPTY_PLUGIN, 1);
  const Error error = refusal("rtl:");
  EXPECT_EQ(error.code, ErrorCode::dependency_unavailable);
  EXPECT_NE(error.message.find("'rtl:'"), std::string::npos) << error.message;
}

TEST_F(BackendTableTest, given_no_cards_then_no_board_is_used_without_being_asked_for) {
  EXPECT_TRUE(default_boards().empty());
}

}  // namespace
}  // namespace datum::test
