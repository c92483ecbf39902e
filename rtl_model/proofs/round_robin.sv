// datum_round_robin: one choice a cycle, and nobody waits for ever.
//
//   - One request is granted if there is any, none that was not made, and the index is that of the grant.
//   - While a request stays, no other one is served twice: it is served after at most Count - 1 others.
// fault rtl/stream/datum_round_robin.sv: "behind_q <= ~(grant_o | (grant_o - 1'b1))" becomes "behind_q <= ~(grant_o - 1'b1)"
// fault rtl/stream/datum_round_robin.sv: "else if (take_i && any_o)" becomes "else if (any_o && !take_i)"
`include "proofs.svh"

module round_robin_proof (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [15:0] request_i,
  input logic        take_i,
  input logic [3:0]  any_i
);
  logic        any;
  logic [3:0]  index;
  logic [15:0] grant;

  datum_round_robin #(.Count(16)) dut (.clk_i, .rst_ni, .request_i, .take_i, .any_o(any), .index_o(index), .grant_o(grant));

  `RESET_FIRST
  `ANY(who_q, any_i)

  // Those that were served since `who` waits.
  logic [15:0] who, passed_q, ahead;
  logic        waits, waited_q, served;
  assign who    = 16'd1 << who_q;
  assign waits  = (request_i & who) != '0;
  assign served = take_i && (grant & who) != '0;
  // Those that may still be served ahead of it: between the last one that was served and itself.
  assign ahead = (dut.behind_q & who) != '0 ? dut.behind_q & (who - 1'b1) : dut.behind_q | (who - 1'b1);

  always_ff @(posedge clk_i) begin
    waited_q <= rst_ni && waits && !served;
    if (!rst_ni || !waits || served) passed_q <= '0;
    else if (take_i) passed_q <= passed_q | grant;
  end

  `ASSUME(a_request_stays, !(started_q && rst_ni && waited_q) || waits)
  `PROVE(one_is_granted, $onehot0(grant) && (grant != '0) == (request_i != '0) && any == (request_i != '0))
  `PROVE(only_who_asks, (grant & ~request_i) == '0)
  `PROVE(the_index_is_that_of_the_grant, !any || grant == 16'd1 << index)
  `PROVE(order_is_kept, !started_q || (~dut.behind_q & (~dut.behind_q + 1'b1)) == '0)
  `PROVE(who_passed_is_behind, !started_q || (passed_q & (ahead | who)) == '0)
  `PROVE(nobody_passes_twice, !(started_q && rst_ni && waits && take_i) || (grant & passed_q) == '0)
endmodule
