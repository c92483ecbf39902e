// datum_tlb: answers what it was last told, and nothing that was dropped.
//
//   - A hit gives the leaf that was filled last for that space and page.
//   - A page that was never filled, or was dropped by its range, its space or everything since, is no hit.
//   - A page stands in one way at most.
//
// Of one page, any, in a store of two sets and two ways.
// fault rtl/mmu/datum_tlb.sv: "valid_q[filled_set][w] && tags_q[{filled_set, WayWidth'(w)}] == filled" becomes "1'b0 && tags_q[{filled_set, WayWidth'(w)}] == filled"
// fault rtl/mmu/datum_tlb.sv: "page <= scan_what_i.last" becomes "page < scan_what_i.last"
`include "proofs.svh"

module tlb_proof
  import datum_pkg::*;
  import datum_mmu_pkg::*;
(
  input logic                  clk_i,
  input logic                  rst_ni,
  input logic [SpaceWidth-1:0] space_i,
  input logic [VpnWidth-1:0]   page_i,
  input logic                  fill_i,
  input logic [SpaceWidth-1:0] fill_space_i,
  input logic [VpnWidth-1:0]   fill_page_i,
  input leaf_t                 fill_leaf_i,
  input logic                  scan_i,
  input logic                  scan_set_i,
  input invalidation_t         scan_what_i,
  input logic [SpaceWidth-1:0] any_space_i,
  input logic [VpnWidth-1:0]   any_page_i
);
  logic  hit;
  leaf_t leaf;

  datum_tlb #(.Size(2'd0), .SetsLog2(1), .Ways(2)) dut (
    .clk_i, .rst_ni, .space_i, .page_i, .hit_o(hit), .leaf_o(leaf), .fill_i, .fill_space_i, .fill_page_i, .fill_leaf_i, .scan_i, .scan_set_i,
    .scan_what_i
  );

  `RESET_FIRST
  `ANY(space_q, any_space_i)
  `ANY(page_q, any_page_i)

  logic  set, dropped, asked;
  logic  known_q;
  leaf_t leaf_q;
  assign set     = page_q[0] ^ page_q[1] ^ space_q[0];
  assign asked   = space_i == space_q && page_i == page_q;
  assign dropped = scan_i && scan_set_i == set
                   && (scan_what_i.everything || (scan_what_i.space == space_q
                       && (scan_what_i.whole_space || (page_q >= scan_what_i.first && page_q <= scan_what_i.last))));

  always_ff @(posedge clk_i) begin
    if (!rst_ni || dropped) begin
      known_q <= 1'b0;
    end else if (fill_i && fill_space_i == space_q && fill_page_i == page_q) begin
      known_q <= 1'b1;
      leaf_q  <= fill_leaf_i;
    end
  end

  // The ways of its set that hold it.
  logic [1:0] holds;
  logic [1:0] right;
  for (genvar w = 0; w < 2; w++) begin : gen_way
    assign holds[w] = dut.valid_q[set][w] && dut.tags_q[{set, 1'(w)}] == {space_q, page_q};
    assign right[w] = dut.entries_q[{set, 1'(w)}] == {leaf_q.target, leaf_q.frame, leaf_q.writable};
  end

  `ASSUME(no_fill_while_scanned, !(fill_i && scan_i))
  `PROVE(in_one_way_at_most, !started_q || holds != 2'b11)
  `PROVE(only_what_is_known, !started_q || holds == '0 || known_q)
  `PROVE(as_it_was_filled, !started_q || (holds & ~right) == '0)
  `PROVE(a_hit_is_known, !started_q || !(asked && hit) || known_q)
  `PROVE(a_hit_is_right, !started_q || !(asked && hit) || (leaf.target == leaf_q.target && leaf.frame == leaf_q.frame && leaf.writable == leaf_q.writable
                                                          && leaf.size == '0 && leaf.reason == '0))
endmodule
