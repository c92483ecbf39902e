#include "driver/command/host_step.hpp"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

#include "driver/device/limits.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum {

namespace {

/// One copy between the application's memory and ours by the kernel, which refuses a bad pointer where memcpy
/// would end the process.
int copy_checked(std::byte* user, std::byte* ours, std::uint64_t bytes, HostStep::Kind kind) {
  while (bytes > 0) {
    const iovec local{ours, bytes};
    const iovec remote{user, bytes};
    const ssize_t moved = kind == HostStep::Kind::gather
                              ? ::process_vm_readv(::gettid(), &local, 1, &remote, 1, 0)
                              : ::process_vm_writev(::gettid(), &local, 1, &remote, 1, 0);
    if (moved > 0) {
      ours += moved;
      user += moved;
      bytes -= static_cast<std::uint64_t>(moved);
      continue;
    }
    if (moved < 0 && errno == EINTR) {
      continue;
    }
    if (moved < 0 && (errno == ENOSYS || errno == EPERM)) {
      // A sandbox forbids the call: then without the net.
      std::memcpy(kind == HostStep::Kind::gather ? ours : user, kind == HostStep::Kind::gather ? user : ours,
                  bytes);
      return 0;
    }
    return moved < 0 ? errno : EFAULT;
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<HostSteps>> HostSteps::create(Device& device, Context& context) {
  std::unique_ptr<HostSteps> steps(new HostSteps(device, context));
  if (Status made = steps->allocate(steps->words_, steps->words_mapped_, small_page_bytes); !made) {
    return std::move(made).error();
  }
  return steps;
}

Status HostSteps::need_staging() {
  return staging_mapped_ ? Status{} : allocate(staging_, staging_mapped_, limits::staging_bytes);
}

Status HostSteps::allocate(HostBlock& block, bool& mapped, std::uint64_t bytes) {
  if (block.host == nullptr) {
    Result<HostBlock> made = device_.arena().allocate(bytes);
    if (!made) {
      return std::move(made).error();
    }
    block = *made;
  }
  Status done = context_.map_block(device_, block, PageRights{});
  mapped = done.ok();
  return done;
}

HostSteps::~HostSteps() {
  if (words_mapped_) {
    static_cast<void>(context_.unmap_block(device_, words_));
  }
  if (staging_mapped_) {
    static_cast<void>(context_.unmap_block(device_, staging_));
  }
  for (const HostBlock* block : {&words_, &staging_}) {
    if (block->host != nullptr) {
      device_.arena().free(*block);
    }
  }
}

std::uint64_t* HostSteps::request_word() noexcept { return reinterpret_cast<std::uint64_t*>(words_.host); }

std::uint64_t* HostSteps::answer_word() noexcept { return reinterpret_cast<std::uint64_t*>(words_.host) + 8; }

void HostSteps::add(std::span<const HostStep> steps) {
  const ScopedLock lock(mutex_);
  std::size_t added = 0;
  unsigned calls = 0;
  try {
    for (; added < steps.size(); ++added) {
      steps_.push_back(steps[added]);
      calls += steps[added].kind == HostStep::Kind::call ? 1 : 0;
    }
  } catch (...) {
    for (; added != 0; --added) {
      steps_.pop_back();
    }
    throw;
  }
  calls_ += calls;
  next_number_ += steps.size();
}

bool HostSteps::next_is_call() {
  const ScopedLock lock(mutex_);
  return !steps_.empty() && steps_.front().kind == HostStep::Kind::call;
}

bool HostSteps::due() const noexcept {
  auto* request = reinterpret_cast<std::uint64_t*>(words_.host);
  return std::atomic_ref(*request).load(std::memory_order_acquire) > answered_;
}

bool HostSteps::perform(const std::function<std::uint64_t(Error)>& fail) {
  const std::uint64_t requested = std::atomic_ref(*request_word()).load(std::memory_order_acquire);
  HostStep step;
  {
    const ScopedLock lock(mutex_);
    // The word is memory that the board writes: a number that was never given out is not followed.
    if (requested != answered_ + 1 || steps_.empty()) {
      return false;
    }
    step = steps_.front();
    steps_.pop_front();
  }
  std::uint64_t answer = requested;
  if (step.kind == HostStep::Kind::call) {
    step.function(step.argument);
    --calls_;
  } else if (const int failed = move(step, staging_.host); failed != 0) {
    answer = fail(
        make_error(ErrorCode::unknown, fmt::format("{} bytes of host memory at {} could not be {}: {}",
                                                   step.row_bytes * step.rows, fmt::ptr(step.user),
                                                   step.kind == HostStep::Kind::gather ? "read" : "written",
                                                   std::strerror(failed))));
  }
  answered_ = requested;
  std::atomic_ref(*answer_word()).store(answer, std::memory_order_release);
  return true;
}

int HostSteps::move(const HostStep& step, std::byte* staging) {
  for (std::uint64_t row = 0; row < step.rows; ++row) {
    const int failed = copy_checked(step.user + row * step.row_pitch, staging + row * step.row_bytes,
                                    step.row_bytes, step.kind);
    if (failed != 0) {
      return failed;
    }
  }
  return 0;
}

}  // namespace datum
