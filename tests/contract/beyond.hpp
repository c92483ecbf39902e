// What of the contract cannot be asked of a board that is reached in another way than in this process:
// patterns of test names, as GoogleTest's filters have them.
#pragma once

namespace datum::test {

/// A card behind the kernel, or behind QEMU and the kernel.
inline constexpr const char* beyond_a_card =
    // VFIO pins pages: memory that the application gave back stays the board's until it is unmapped for it.
    "*a_file_that_is_truncated_*:*memory_that_the_application_unmapped_*:"
    // VFIO tells no program of IOMMU faults.
    "*a_refused_access_is_reported_once*:"
    // QEMU makes a mapping for writing one for reading and writing.
    "*a_mapping_for_writing_refuses_reads*:"
    // Its place in the machine, its size and the limits of the process are none of its address's options.
    "*the_function_says_who_it_is*:*options_of_the_address_*:*the_locked_memory_limit_holds*:"
    // One process at a time, also for a second look by the same test.
    "*a_board_may_go_while_it_works*";

/// A served board: the protocol has no message for descriptors of a board's memory.
inline constexpr const char* beyond_protocol = "*.exported_memory_is_*:*.exports_outside_of_*";

/// A board of somebody's own RTL: who it is and how large is its own affair.
inline constexpr const char* beyond_a_design =
    "*the_function_says_who_it_is*:*an_address_without_options_*:*options_of_the_address_*:"
    // A memory controller of its own may have a timing that nobody changes.
    "*TimingContract*";

}  // namespace datum::test
