// datum_dma_scheduler: which ring gets which channel.
//
//   - A channel is given away only while it is free and enabled, one a cycle; channel 0 is enabled whatever software wrote.
//   - It gets a ring that has work.
//   - While a ring has work, no other one is served twice ahead it: 63 bindings at most stand ahead it.
// fault rtl/dma/datum_dma_scheduler.sv: "behind_q <= ~(chosen | (chosen - 1'b1))" becomes "behind_q <= ~(chosen - 1'b1)"
// fault rtl/dma/datum_dma_scheduler.sv: "enabled_o[c] = c == 0 || " becomes "enabled_o[c] = "
`include "proofs.svh"

module ring_scheduler_proof (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [3:0]  channel_enable_i,
  input logic [63:0] eligible_i,
  input logic [3:0]  free_i,
  input logic [5:0]  any_i
);
  logic [3:0] enabled, bind_channel;
  logic       bind_any;
  logic [5:0] ring;

  datum_dma_scheduler #(.ChannelCount(4)) dut (
    .clk_i, .rst_ni, .channel_enable_i, .eligible_i, .free_i, .enabled_o(enabled), .bind_o(bind_channel), .bind_any_o(bind_any), .ring_o(ring)
  );

  `RESET_FIRST
  `ANY(who_q, any_i)

  logic [63:0] who, passed_q, ahead;
  logic        waits, waited_q, served;
  assign who    = 64'd1 << who_q;
  assign waits  = (eligible_i & who) != '0;
  assign served = bind_any && (dut.chosen & who) != '0;
  assign ahead = (dut.behind_q & who) != '0 ? dut.behind_q & (who - 1'b1) : dut.behind_q | (who - 1'b1);

  always_ff @(posedge clk_i) begin
    waited_q <= rst_ni && waits && !served;
    if (!rst_ni || !waits || served) passed_q <= '0;
    else if (bind_any) passed_q <= passed_q | dut.chosen;
  end

  `ASSUME(work_stays, !(started_q && rst_ni && waited_q) || waits)
  `PROVE(one_channel, $onehot0(bind_channel) && bind_any == (bind_channel != '0))
  `PROVE(a_free_one, (bind_channel & ~free_i) == '0 && (bind_channel & ~enabled) == '0)
  `PROVE(the_first_is_always_enabled, enabled[0])
  `PROVE(a_ring_with_work, !bind_any || (dut.chosen == 64'd1 << ring && (dut.chosen & eligible_i) != '0))
  `PROVE(order_is_kept, !started_q || (~dut.behind_q & (~dut.behind_q + 1'b1)) == '0)
  `PROVE(who_passed_is_behind, !started_q || (passed_q & (ahead | who)) == '0)
  `PROVE(nobody_passes_twice, !(started_q && rst_ni && waits && bind_any) || (dut.chosen & passed_q) == '0)
endmodule
