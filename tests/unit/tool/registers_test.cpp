// Registers by name: which are meant, what they hold, how they are written and watched.
#include "tests/unit/tool/model_board.hpp"
#include "tools/datum/register_values.hpp"
#include "tools/datum/register_watch.hpp"
#include "tools/datum/register_writes.hpp"

namespace datum::test {

using tool::find_registers;
using tool::RegisterPlace;
using tool::RegisterValue;

class ToolRegisters : public ModelBoard {
 protected:
  [[nodiscard]] RegisterValue read(const char* name) {
    const auto found = find_registers(name);
    return tool::read_registers(*board_, found->places, found->field).front();
  }

  [[nodiscard]] Status write(const std::string& text) {
    const auto write = tool::parse_write(text);
    if (!write) {
      return write.error();
    }
    tool::carry_out(*board_, *write);
    return {};
  }
};

TEST(ToolRegisterNames, given_a_name_in_any_case_when_looked_for_then_it_is_that_register) {
  for (const char* name : {"MAGIC", "magic", "Magic"}) {
    const auto found = find_registers(name);
    ASSERT_TRUE(found) << name;
    ASSERT_EQ(found->places.size(), 1U);
    EXPECT_EQ(found->places[0].name(), "MAGIC");
    EXPECT_EQ(found->places[0].offset(), hw::magic);
  }
}

TEST(ToolRegisterNames, given_a_repeated_register_when_named_then_brackets_choose_its_instances) {
  EXPECT_EQ(find_registers("RING_STATE")->places.size(), 64U);
  EXPECT_EQ(find_registers("RING_STATE[3]")->places.front().offset(), hw::ring_state(3));
  const auto some = find_registers("RING_STATE[2-4]");
  ASSERT_TRUE(some);
  ASSERT_EQ(some->places.size(), 3U);
  EXPECT_EQ(some->places.back().name(), "RING_STATE[4]");
}

TEST(ToolRegisterNames, given_a_pattern_when_looked_for_then_all_that_match_are_meant) {
  const auto found = find_registers("PERF_DRAM_*");
  ASSERT_TRUE(found);
  EXPECT_GE(found->places.size(), 4U);
  EXPECT_EQ(found->places.front().name(), "PERF_DRAM_READS");
}

TEST(ToolRegisterNames, given_a_field_when_named_then_it_alone_is_meant) {
  const auto found = find_registers("VERSION.major");
  ASSERT_TRUE(found);
  ASSERT_NE(found->field, nullptr);
  EXPECT_EQ(tool::field_of(*found->field, 0x00030002), 3U);
}

TEST(ToolRegisterNames, given_what_there_is_not_when_looked_for_then_the_sentence_helps) {
  const auto hint_of = [](const char* name) { return find_registers(name).error().hint; };
  EXPECT_NE(hint_of("COUNT").find("FAULT_COUNT"), std::string::npos);
  EXPECT_NE(hint_of("RING_STATE[64]").find("RING_STATE[63]"), std::string::npos);
  EXPECT_EQ(hint_of("MAGIC[0]"), "MAGIC does not repeat");
  EXPECT_NE(hint_of("VERSION.minr").find("major, minor"), std::string::npos);
  EXPECT_EQ(hint_of("MAGIC.x"), "it has no fields");
  for (const char* nonsense : {"", "[3]", "RING_STATE[", "RING_STATE[3", "RING_STATE[a]", "RING_STATE[4-2]",
                               "RING_STATE[3]x", "MAGIC\x1b"}) {
    const auto found = find_registers(nonsense);
    ASSERT_FALSE(found) << nonsense;
    EXPECT_EQ(found.error().message.find('\x1b'), std::string::npos);
  }
}

TEST(ToolRegisterNames, given_the_description_when_listed_then_every_register_says_what_it_is) {
  for (const hw::RegisterInfo& info : hw::register_table) {
    EXPECT_FALSE(tool::description_of(info).empty()) << info.name;
  }
  EXPECT_EQ(tool::code_name("ring_state", 3), "PARKED");
  EXPECT_EQ(tool::code_name("ring_state", 9), std::nullopt);
}

TEST_F(ToolRegisters, given_a_board_when_registers_are_read_then_values_fields_and_codes_are_told) {
  EXPECT_EQ(tool::hex_text(read("MAGIC")), "0x4d544144");
  EXPECT_EQ(read("MEMORY_BYTES").value, 32U << 20U);
  EXPECT_NE(tool::value_line(read("VERSION")).find("major=1"), std::string::npos);
  EXPECT_NE(tool::value_line(read("VERSION.major")).find("VERSION.major"), std::string::npos);
  EXPECT_NE(tool::value_line(read("RING_STATE[5]")).find("DISABLED"), std::string::npos);
  EXPECT_EQ(tool::to_json(read("RING_STATE[5]")).at("code"), "DISABLED");
  EXPECT_EQ(tool::to_json(read("VERSION")).at("fields").at("major"), 1);
}

TEST_F(ToolRegisters, given_a_register_when_written_by_name_then_it_holds_the_value) {
  ASSERT_TRUE(write("SCRATCH=0x123456789abcdef0"));
  EXPECT_EQ(read("SCRATCH").value, 0x123456789abcdef0U);
}

TEST_F(ToolRegisters, given_a_field_when_written_then_the_others_keep_their_values) {
  ASSERT_TRUE(write("WINDOW_BASE.address=5"));
  ASSERT_TRUE(write("WINDOW_BASE.ordinal=1"));
  const hw::WindowBaseRegister base{board_->registers->read64(hw::window_base)};
  EXPECT_EQ(base.address(), 5U);
  EXPECT_EQ(base.ordinal(), 1U);
}

TEST_F(ToolRegisters, given_a_write_that_cannot_be_when_parsed_then_the_sentence_says_why) {
  const auto message_of = [](const char* text) { return tool::parse_write(text).error().message; };
  EXPECT_EQ(message_of("MAGIC=1"), "MAGIC is only read");
  EXPECT_EQ(message_of("SCRATCH"), "'SCRATCH' names no value");
  EXPECT_EQ(message_of("RING_TAIL=1"), "'RING_TAIL' are 64 registers; one is written at a time");
  EXPECT_EQ(message_of("CHANNEL_ENABLE=0x100000000"), "0x100000000 does not fit 32 bits");
  EXPECT_EQ(message_of("WINDOW_BASE.ordinal=4"), "4 does not fit 2 bits");
  EXPECT_EQ(message_of("SCRATCH=twelve"), "'twelve' is not a number");
  EXPECT_EQ(message_of("SCRATCH="), "'' is not a number");
}

TEST_F(ToolRegisters, given_a_board_that_is_gone_when_read_then_all_ones_are_said_to_be_so) {
  EXPECT_EQ(tool::board_complaint(*board_), "");
  function_->lose("the test took it away");
  EXPECT_TRUE(read("MAGIC").all_ones());
  EXPECT_TRUE(read("MEMORY_BYTES").all_ones());
  EXPECT_NE(tool::value_line(read("RING_STATE[1]")).find("all ones"), std::string::npos);
  EXPECT_EQ(tool::to_json(read("SCRATCH")).at("all_ones"), true);
  EXPECT_NE(tool::board_complaint(*board_).find("the test took it away"), std::string::npos);
}

TEST_F(ToolRegisters, given_a_watch_when_a_register_changes_then_the_change_alone_is_told) {
  std::vector<std::string> told;
  unsigned pauses = 0;
  tool::watch_registers(
      *board_, {find_registers("SCRATCH")->places[0], find_registers("FAULT_COUNT")->places[0]},
      {.interval_ms = 7, .rounds = 4},
      [&](std::uint64_t, const RegisterValue& value) {
        told.push_back(value.place.name() + tool::hex_text(value));
      },
      [&](std::uint64_t ms) {
        EXPECT_EQ(ms, 7U);
        if (++pauses == 2) {
          board_->registers->write64(hw::scratch, 0xab);
        }
      });
  EXPECT_EQ(pauses, 3U);
  EXPECT_EQ(told, (std::vector<std::string>{"SCRATCH0x0000000000000000", "FAULT_COUNT0x00000000",
                                            "SCRATCH0x00000000000000ab"}));
}

}  // namespace datum::test
