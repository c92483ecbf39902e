// datum_reset: a reset by software resets nothing that is still to be answered.
//
//   - The blocks are reset only while their managers are halted and everything of theirs was answered at the beginning of the pulse.
//   - Managers stay halted from the request to the end of the pulse, so that nothing begins in between.
//   - The pulse is five cycles long, and the reset ends with it.
// fault rtl/control/datum_reset.sv: "if (halted_i) state_q" becomes "state_q"
// fault rtl/control/datum_reset.sv: "assign halt_o      = state_q != StateRun" becomes "assign halt_o      = state_q == StateHalt"
`include "proofs.svh"

module board_reset_proof (
  input logic clk_i,
  input logic rst_ni,
  input logic start_i,
  input logic halted_i
);
  logic busy, halt, core_rst_n;

  datum_reset dut (.clk_i, .rst_ni, .start_i, .busy_o(busy), .halt_o(halt), .halted_i, .core_rst_no(core_rst_n));

  `RESET_FIRST

  logic       asked_q, answered_q;
  logic [2:0] pulse_q;      // cycles of the pulse that have passed
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      asked_q    <= 1'b0;
      answered_q <= 1'b0;
      pulse_q    <= '0;
    end else begin
      answered_q <= halted_i && halt;
      pulse_q    <= core_rst_n ? '0 : pulse_q + 1'b1;
      if (!busy && start_i) asked_q <= 1'b1;
      else if (pulse_q == 3'd4) asked_q <= 1'b0;
    end
  end

  `PROVE(busy_from_request_to_end, !started_q || !rst_ni || busy == asked_q)
  `PROVE(halted_all_the_while, !started_q || !rst_ni || halt == asked_q)
  `PROVE(reset_when_all_is_answered, !started_q || !rst_ni || core_rst_n || pulse_q != '0 || answered_q)
  `PROVE(halted_in_reset, !started_q || !rst_ni || core_rst_n || halt)
  `PROVE(never_longer, !started_q || !rst_ni || pulse_q <= 3'd5 && (core_rst_n || pulse_q <= 3'd4))
  `PROVE(never_shorter, !started_q || !rst_ni || !core_rst_n || pulse_q == '0 || pulse_q == 3'd5)
  `PROVE(the_pulse_counts, !started_q || !rst_ni || core_rst_n || dut.wait_q == 3'd4 - pulse_q)
endmodule
