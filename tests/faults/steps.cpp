#include "tests/faults/steps.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/types.h>

#include "tests/support/allocations.hpp"

namespace datum::test {
namespace {

/// Of this thread: the calls of one kind until one fails.
struct Countdown {
  StepKind kind = StepKind::heap;
  unsigned left = 0;  ///< 0: none fails
  bool fired = false;
};

thread_local Countdown countdown;

bool fails(StepKind kind, int number) noexcept {
  if (countdown.left == 0 || countdown.kind != kind || --countdown.left != 0) {
    return false;
  }
  countdown.fired = true;
  errno = number;
  return true;
}

bool is_of_board(StepKind kind, FunctionCall& call) noexcept {
  switch (kind) {
  case StepKind::dma_map:
    call = FunctionCall::dma_map;
    return true;
  case StepKind::dma_map_fd:
    call = FunctionCall::dma_map_fd;
    return true;
  case StepKind::export_memory:
    call = FunctionCall::export_memory;
    return true;
  default:
    return false;
  }
}

}  // namespace

std::string_view name_of(StepKind kind) noexcept {
  constexpr std::array<std::string_view, step_kinds.size()> names{
      "heap",    "mmap",   "mprotect", "memfd_create", "ftruncate",     "fcntl",
      "eventfd", "socket", "dma_map",  "dma_map_fd",   "export_memory",
  };
  return names[static_cast<std::size_t>(kind)];
}

bool fail_step(FaultFunction& function, StepKind kind, unsigned number, void (*work)(void*), void* argument) {
  if (kind == StepKind::heap) {
    return fail_allocation(number, [&] { work(argument); });
  }
  if (FunctionCall call{}; is_of_board(kind, call)) {
    const unsigned before = function.calls(call);
    function.fail(call, number, make_error(ErrorCode::out_of_host_memory, "the test lets the call fail"));
    work(argument);
    function.heal();
    return function.calls(call) - before >= number;
  }
  countdown = {kind, number, false};
  work(argument);
  countdown.left = 0;
  return countdown.fired;
}

}  // namespace datum::test

// The linker leads the calls of the whole program here (--wrap).
// NOLINTBEGIN(bugprone-reserved-identifier,cppcoreguidelines-pro-type-vararg): the linker's names, and C's
// calls
extern "C" {

using datum::test::fails;
using datum::test::StepKind;

void* __real_mmap(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset);
int __real_mprotect(void* address, std::size_t bytes, int protection);
int __real_memfd_create(const char* name, unsigned flags);
int __real_ftruncate(int fd, off_t bytes);
int __real_fcntl(int fd, int command, ...);
int __real_eventfd(unsigned value, int flags);
int __real_socket(int domain, int type, int protocol);

void* __wrap_mmap(void* address, std::size_t bytes, int protection, int flags, int fd, off_t offset) {
  return fails(StepKind::mmap, ENOMEM) ? MAP_FAILED
                                       : __real_mmap(address, bytes, protection, flags, fd, offset);
}

int __wrap_mprotect(void* address, std::size_t bytes, int protection) {
  return fails(StepKind::mprotect, ENOMEM) ? -1 : __real_mprotect(address, bytes, protection);
}

int __wrap_memfd_create(const char* name, unsigned flags) {
  return fails(StepKind::memfd_create, EMFILE) ? -1 : __real_memfd_create(name, flags);
}

int __wrap_ftruncate(int fd, off_t bytes) {
  return fails(StepKind::ftruncate, ENOSPC) ? -1 : __real_ftruncate(fd, bytes);
}

int __wrap_fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);  // of none and of an int the same register
  va_end(arguments);
  const bool takes_one = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  return takes_one && fails(StepKind::fcntl, EMFILE) ? -1 : __real_fcntl(fd, command, argument);
}

int __wrap_eventfd(unsigned value, int flags) {
  return fails(StepKind::eventfd, EMFILE) ? -1 : __real_eventfd(value, flags);
}

int __wrap_socket(int domain, int type, int protocol) {
  return fails(StepKind::socket, EMFILE) ? -1 : __real_socket(domain, type, protocol);
}

}  // extern "C"

// NOLINTEND(bugprone-reserved-identifier,cppcoreguidelines-pro-type-vararg)
