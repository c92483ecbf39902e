// datum_fabric_refuser: what leads nowhere is answered like everything else, by the rules of AXI.
//
//   - A read of n beats is answered with n beats, the last one marked, each with DECERR.
//   - A write is answered once, after its last beat, with DECERR; its address is taken with the answer.
//   - Answers stay until they are taken.
// fault rtl/fabric/datum_fabric_refuser.sv: "beat_q <= r_o.last ? '0 : beat_q + 1'b1" becomes "beat_q <= beat_q + 1'b1"
// fault rtl/fabric/datum_fabric_refuser.sv: "wvalid_i && wready_o && w_i.last" becomes "wvalid_i && wready_o"
`include "proofs.svh"

module fabric_refuser_proof
  import datum_pkg::*;
(
  input logic       clk_i,
  input logic       rst_ni,
  input logic       awvalid_i,
  input fabric_ax_t aw_i,
  input logic       wvalid_i,
  input axi_w_t     w_i,
  input logic       bready_i,
  input logic       arvalid_i,
  input fabric_ax_t ar_i,
  input logic       rready_i
);
  logic      awready, wready, bvalid, arready, rvalid;
  fabric_b_t b;
  fabric_r_t r;

  datum_fabric_refuser dut (
    .clk_i, .rst_ni, .awvalid_i, .awready_o(awready), .aw_i, .wvalid_i, .wready_o(wready), .w_i, .bvalid_o(bvalid), .bready_i, .b_o(b),
    .arvalid_i, .arready_o(arready), .ar_i, .rvalid_o(rvalid), .rready_i, .r_o(r)
  );

  `RESET_FIRST

  logic       ar_waited_q, aw_waited_q, w_ended_q, r_waited_q, b_waited_q;
  logic [3:0] len_q, beats_q, w_beats_q;
  always_ff @(posedge clk_i) begin
    ar_waited_q <= rst_ni && arvalid_i && !arready;
    aw_waited_q <= rst_ni && awvalid_i && !awready;
    r_waited_q  <= rst_ni && rvalid && !rready_i;
    b_waited_q  <= rst_ni && bvalid && !bready_i;
    len_q       <= ar_i.len;
    if (!rst_ni) begin
      beats_q   <= '0;
      w_ended_q <= 1'b0;
      w_beats_q <= '0;
    end else begin
      if (arvalid_i && arready) beats_q <= '0;
      else if (rvalid && rready_i) beats_q <= beats_q + 1'b1;
      if (awvalid_i && awready) w_ended_q <= 1'b0;
      else if (wvalid_i && wready && w_i.last) w_ended_q <= 1'b1;
      if (wvalid_i && wready) w_beats_q <= w_i.last ? '0 : w_beats_q + 1'b1;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{b.id, r.id, r.data, w_beats_q};

  `ASSUME(addresses_stay, !started_q || ((!ar_waited_q || (arvalid_i && ar_i.len == len_q)) && (!aw_waited_q || awvalid_i)))
  `PROVE(the_address_waits_for_the_answer, !started_q || !w_ended_q || aw_waited_q)
  `PROVE(beats_are_counted, !started_q || dut.beat_q == beats_q)
  `PROVE(none_between_reads, !started_q || (ar_waited_q ? beats_q <= len_q : beats_q == '0))
  `PROVE(as_many_beats, !started_q || !rvalid || (beats_q <= ar_i.len && r.last == (beats_q == ar_i.len)))
  `PROVE(the_read_ends_with_its_last_beat, !started_q || arready == (rvalid && rready_i && beats_q == ar_i.len))
  `PROVE(answered_after_the_last_beat, !started_q || (bvalid == w_ended_q && (!wready || !w_ended_q)))
  `PROVE(the_address_goes_with_the_answer, !started_q || awready == (bvalid && bready_i))
  `PROVE(always_refused, b.resp == AxiDecErr && r.resp == AxiDecErr)
  `PROVE(answers_stay, !started_q || !rst_ni || ((!r_waited_q || rvalid) && (!b_waited_q || bvalid)))
endmodule
