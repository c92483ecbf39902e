// Every call of opening, using and closing a card is made to fail in turn.
#include <fmt/format.h>

#include "tests/unit/vfio/card_test.hpp"

namespace datum::test {

class EveryCall : public EitherInterface {
 protected:
  /// Opens the card and uses all of it. What was refused; nothing: all went well.
  Status use() {
    auto opened = try_open(fmt::format(",{}", GetParam()));
    if (!opened) {
      return std::move(opened).error();
    }
    function_ = std::move(opened).value();
    Mapping host = host_pages(0x1000);
    if (Status status = function_->dma_map(Iova{0x10000}, host.span(), board::DmaAccess::read_write);
        !status) {
      return status;
    }
    registers().write32(RegisterCard::raise, 0);
    static_cast<void>(registers().read32(0));
    if (const auto outcome = function_->wait(0, -1, in_ms(20)); !outcome) {
      return outcome.error();
    }
    if (Status status = function_->reset(board::ResetKind::function); !status) {
      return status;
    }
    if (Status status = function_->health(); !status) {
      return status;
    }
    return function_->dma_unmap(Iova{0x10000}, 0x1000);
  }
};

DATUM_THROUGH_EITHER(EveryCall);

TEST_P(EveryCall, may_fail_and_leaves_nothing_behind_and_the_next_attempt_works) {
  unsigned failures = 0;
  for (const int error : {EIO, ENOMEM, EACCES, EBUSY, EINVAL, ENODEV}) {
    for (unsigned nth = 1;; ++nth) {
      ASSERT_LT(nth, 500U) << "the calls do not end";
      kernel_.fail_call(nth, error);
      const Status status = use();
      const bool given = kernel_.failure_given();
      if (!status) {
        ++failures;
        EXPECT_FALSE(status.error().message.empty());
      }
      function_.reset();
      kernel_.fail_call(~0U, 0);
      ASSERT_EQ(kernel_.open_descriptors(), 0U) << "call " << nth << " error " << error;
      ASSERT_EQ(kernel_.machine.live_mappings, 0U) << "call " << nth << " error " << error;
      ASSERT_EQ(kernel_.machine.locked_bytes, 0U) << "call " << nth << " error " << error;
      ASSERT_EQ(card_->mapping_count(), 0U);
      kernel_.machine.complaints.clear();  // a card that could not be told to stop is a complaint of its own
      if (!given) {
        EXPECT_TRUE(status) << "no call failed, yet: " << status.error().message;
        break;
      }
    }
    EXPECT_TRUE(use()) << "after all failures it works";
    function_.reset();
  }
  EXPECT_GT(failures, 100U);
}

}  // namespace datum::test
