// Asks the kernel whether the process may touch a byte, without touching it.
#pragma once

namespace datum::test {

/// A system call that reads the byte succeeds.
[[nodiscard]] bool host_can_read(const void* address);
/// A system call that writes the byte succeeds; the byte keeps its value if it can also be read, else it
/// becomes 0.
[[nodiscard]] bool host_can_write(void* address);
/// A load instruction on the byte ends in SIGSEGV or SIGBUS (tried in a forked child, so the process goes
/// on).
[[nodiscard]] bool host_load_faults(const void* address);

}  // namespace datum::test
