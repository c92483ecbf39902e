// datum_dma_tracker: the pointer that completion records carry, and what stands behind it.
//
//   - Descriptors retire in the order in which they began, each once; the head that shows is that of the oldest one.
//   - No more descriptors with writes retire than have had all of theirs answered.
//   - A descriptor that failed does not retire, nor one behind it; of two failures the older one is kept.
// arrays of more than 1024 bits are memories
// fault rtl/dma/datum_dma_tracker.sv: "(!oldest.writes || done_q != '0)" becomes "1'b1"
// fault rtl/dma/datum_dma_tracker.sv: "!empty_o && !failed_o && !hold_i" becomes "!empty_o && !hold_i"
// fault rtl/dma/datum_dma_tracker.sv: "entries[next_q] <=" becomes "entries[oldest_q] <="
// fault rtl/dma/datum_dma_tracker.sv: "(!failing_q || slot_t'" becomes "(1'b1 || slot_t'"
// fault rtl/dma/datum_dma_tracker.sv: "i >= 0" becomes "i >= 1"
`include "proofs.svh"

module completion_pointer_proof
  import datum_dma_pkg::*;
(
  input logic           clk_i,
  input logic           rst_ni,
  input logic           clear_i,
  input logic           hold_i,
  input logic           push_i,
  input logic           writes_i,
  input logic           bad_i,
  input logic [3:0]     head_i,
  input logic           done_i,
  input logic [1:0]     failure_valid_i,
  input slot_t [1:0]    failure_slot_i,
  input logic           follow_i,
  input logic           watch_i
);
  logic           ready, empty, single, failing, failed, retire, complete, raise;
  slot_t          next_slot, oldest_slot, failing_slot;
  cause_t         failed_cause;
  logic [31:0]    sequence_number, head;
  failure_t [4:0] failure;
  for (genvar i = 0; i < 5; i++) begin : gen_failure
    assign failure[i] = '{slot: i < 2 ? failure_slot_i[i % 2] : '0, cause: '0};
  end

  datum_dma_tracker dut (
    .clk_i, .rst_ni, .clear_i, .hold_i, .push_i, .note_i(1'b0), .writes_i, .bad_i, .cause_i('0), .complete_i(head_i[0]), .interrupt_i(1'b0), .sequence_number_i('0), .head_i(32'(head_i)),
    .ready_o(ready), .empty_o(empty), .single_o(single), .next_slot_o(next_slot), .oldest_o(oldest_slot), .done_i, .failure_valid_i({3'b000, failure_valid_i}), .failure_i(failure),
    .failing_o(failing), .failing_slot_o(failing_slot), .failed_o(failed), .failed_cause_o(failed_cause), .retire_o(retire), .complete_o(complete),
    .interrupt_o(raise), .sequence_number_o(sequence_number), .head_o(head)
  );

  `RESET_FIRST

  typedef logic [SlotWidth:0] count_t;
  count_t held_q, writing_q, answered_q;   // descriptors; those whose writes are awaited; those that were answered and have not retired
  count_t before_q;                        // the followed one
  slot_t  followed_slot_q;
  logic   following_q;
  logic [3:0] followed_q;                  // its head: four bits stand for the others
  logic   reported_q, was_failing_q;       // in the cycle before: one of the failures that were reported, and the one that was kept
  slot_t  reported_slot_q, was_slot_q;

  function automatic slot_t distance(input slot_t slot);
    distance = slot - oldest_slot;
  endfunction

  logic in_order;                          // what the surroundings owe: failures of what is held and has not ended, the oldest first
  always_comb begin
    in_order = 1'b1;
    for (int i = 0; i < 2; i++)
      if (failure_valid_i[i] && (count_t'(distance(failure_slot_i[i])) >= held_q || (retire && failure_slot_i[i] == oldest_slot))) in_order = 1'b0;
    if (failure_valid_i == '1 && distance(failure_slot_i[0]) > distance(failure_slot_i[1])) in_order = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      held_q      <= '0;
      writing_q   <= '0;
      answered_q  <= '0;
      following_q <= 1'b0;
      reported_q    <= 1'b0;
      was_failing_q <= 1'b0;
    end else begin
      held_q     <= held_q + count_t'(push_i) - count_t'(retire);
      writing_q  <= writing_q + count_t'(push_i && writes_i) - count_t'(done_i);
      answered_q <= answered_q + count_t'(done_i) - count_t'(retire && dut.oldest.writes);
      if (!following_q && push_i && follow_i) begin
        following_q     <= 1'b1;
        before_q        <= held_q - count_t'(retire);
        followed_slot_q <= next_slot;
        followed_q      <= head_i;
      end else if (following_q && retire) begin
        before_q <= before_q - 1'b1;
        if (before_q == '0) following_q <= 1'b0;
      end
      reported_q    <= failure_valid_i[watch_i];
      was_failing_q <= failing;
    end
    was_slot_q      <= failing_slot;
    reported_slot_q <= failure_slot_i[watch_i];
  end

  logic [3:0] kept;
  assign kept = dut.entries[followed_slot_q].head[3:0];

  logic unused_outputs;
  assign unused_outputs = ^{single, failed_cause, complete, raise, sequence_number, head};

  `ASSUME(push_when_ready, !started_q || !push_i || ready)
  `ASSUME(answers_have_a_reason, !started_q || !done_i || writing_q != '0)
  `ASSUME(failures_are_in_order, !started_q || in_order)
  `PROVE(each_is_counted, !started_q || (dut.count_q == held_q && empty == (held_q == '0) && slot_t'(next_slot - oldest_slot) == slot_t'(held_q)
                                         && held_q < count_t'(2 ** SlotWidth)))
  `PROVE(no_more_than_were_answered, !started_q || dut.done_q == answered_q)
  `PROVE(a_writer_waits, !started_q || !retire || !dut.oldest.writes || answered_q != '0)
  `PROVE(the_followed_one_is_kept, !started_q || !following_q || (before_q < held_q && distance(followed_slot_q) == slot_t'(before_q) && kept == followed_q))
  `PROVE(it_shows_in_its_turn, !started_q || !following_q || before_q != '0
         || head[3:0] == followed_q)
  `PROVE(failures_are_of_what_is_held, !started_q || !failing || count_t'(distance(failing_slot)) < held_q)
  `PROVE(what_failed_does_not_retire, !started_q || !failed || !retire)
  `PROVE(what_is_reported_is_kept, !started_q || !reported_q || (failing && distance(failing_slot) <= distance(reported_slot_q)))
  `PROVE(what_failed_stays, !started_q || !was_failing_q || (failing && distance(failing_slot) <= distance(was_slot_q)))
  `PROVE(the_oldest_failed_one_is_told, !started_q || !(failing && failing_slot == oldest_slot) || failed)
endmodule
