// Programs that use a card, for tests that look at them from outside. Each says "ready" on standard output
// when it is where its test wants it, and goes on at a line on standard input, or when that ends.
#pragma once

namespace datum::test {

/// Has the card, does nothing with it.
int scenario_hold();
/// 4 MiB of host memory, held.
int scenario_hold_host_memory();
/// One copy there and back.
int scenario_copy();
/// Copies until that fails; says with which code and sentence. Then lives on, and frees its objects at the
/// end.
int scenario_copy_until_lost();
/// Large copies into its memory without end.
int scenario_copy_for_ever();
/// Copies until the board is lost, says why, and ends.
int scenario_copy_until_gone();
/// Like scenario_copy, with memory beside it that nobody but itself may change.
int scenario_copy_after_another();

/// Host memory until the limit of locked memory, 8 MiB, says no.
int scenario_locked_memory_used_up();
/// 6 MiB of host memory: "given", or the sentence.
int scenario_six_mib_of_host_memory();
/// Small blocks share mappings; large ones take one each until the limit, 32, says no.
int scenario_mappings_used_up();
/// Memory that is mapped for the card is seen by it after a fork, whoever writes first.
int scenario_fork_with_imported_memory();

}  // namespace datum::test
