#include <memory>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "driver/memory/address_window.hpp"
#include "driver/memory/reserved_addresses.hpp"

namespace datum {
namespace {

TEST(AddressWindow, given_a_limit_of_address_space_then_a_smaller_window_is_reserved) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{2ULL << 30U, 2ULL << 30U};
    ::setrlimit(RLIMIT_AS, &limit);
    Result<std::unique_ptr<AddressWindow>> window = AddressWindow::reserve();
    ::_exit(window.ok() && (*window)->take(4096, 1).ok() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ReservedAddresses,
     given_a_limit_of_address_space_then_what_fits_is_had_and_more_is_refused_with_the_cure) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{2ULL << 30U, 2ULL << 30U};
    ::setrlimit(RLIMIT_AS, &limit);
    std::unique_ptr<AddressWindow> window = std::move(*AddressWindow::reserve());
    const bool small = ReservedAddresses::reserve(*window, 0, 64ULL << 20U).ok();
    const auto large = ReservedAddresses::reserve(*window, 0, 1ULL << 40U);
    const bool refused = !large.ok() && large.error().code == ErrorCode::out_of_host_memory &&
                         large.error().hint.find("ulimit -v") != std::string::npos;
    ::_exit(small && refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace datum
