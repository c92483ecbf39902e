// datum_dma_queue: the queues inside the DMA (descriptors, jobs, bursts, answers). Who pushes looks at ready, who pops at valid; that is assumed here
// and asserted where the queue stands.
//
//   - A word that was pushed shows unchanged, after exactly those that were pushed before it.
//   - valid and ready tell whether it has a word and room; without a word it shows zeros.
//   - Clearing leaves nothing.
// fault rtl/dma/datum_dma_queue.sv: "write_q != (read_q ^ {1'b1, {IndexWidth{1'b0}}})" becomes "1'b1"
// fault rtl/dma/datum_dma_queue.sv: "if (push_i) memory[write_q" becomes "if (push_i) memory[read_q"
`include "proofs.svh"

module dma_queue_proof (
  input logic       clk_i,
  input logic       rst_ni,
  input logic       clear_i,
  input logic       push_i,
  input logic [3:0] data_i,
  input logic       pop_i,
  input logic       follow_i
);
  logic       ready, valid;
  logic [3:0] data;

  datum_dma_queue #(.Width(4), .Depth(4)) dut (
    .clk_i, .rst_ni, .clear_i, .push_i, .data_i, .ready_o(ready), .valid_o(valid), .data_o(data), .pop_i
  );

  `RESET_FIRST

  logic [2:0] held_q, before_q;
  logic       following_q;
  logic [3:0] followed_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni || clear_i) begin
      held_q      <= '0;
      following_q <= 1'b0;
    end else begin
      held_q <= held_q + 3'(push_i) - 3'(pop_i);
      if (!following_q && push_i && follow_i) begin
        following_q <= 1'b1;
        followed_q  <= data_i;
        before_q    <= held_q - 3'(pop_i);
      end else if (following_q && pop_i) begin
        before_q <= before_q - 1'b1;
        if (before_q == '0) following_q <= 1'b0;
      end
    end
  end

  logic [1:0] place;
  assign place = dut.read_q[1:0] + before_q[1:0];

  `ASSUME(push_when_ready, !started_q || !push_i || ready)
  `ASSUME(pop_when_valid, !started_q || !pop_i || valid)
  `PROVE(never_too_many, !started_q || (held_q <= 3'd4 && dut.write_q - dut.read_q == held_q))
  `PROVE(valid_when_it_has_one, !started_q || valid == (held_q != '0))
  `PROVE(ready_when_it_has_room, !started_q || ready == (held_q != 3'd4))
  `PROVE(zero_without_a_word, !started_q || valid || data == '0)
  `PROVE(the_followed_word_is_kept, !started_q || !following_q || (before_q < held_q && dut.memory[place] == followed_q))
  `PROVE(it_shows_in_its_turn, !started_q || !(following_q && before_q == '0) || (valid && data == followed_q))
endmodule
