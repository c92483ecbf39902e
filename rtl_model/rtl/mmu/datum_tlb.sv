// Set-associative store of leaves of one page size. Answers in the cycle of the question; a set is scanned in one cycle for what to drop.
module datum_tlb
  import datum_pkg::*;
  import datum_mmu_pkg::*;
#(
  parameter logic [1:0]  Size = 2'd0,        // page size that it holds
  parameter int unsigned SetsLog2 = 5,
  parameter int unsigned Ways = 4            // a power of two
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,

  input  logic [SpaceWidth-1:0] space_i,
  input  logic [VpnWidth-1:0]   page_i,
  output logic                  hit_o,
  output leaf_t                 leaf_o,

  input  logic                  fill_i,
  input  logic [SpaceWidth-1:0] fill_space_i,
  input  logic [VpnWidth-1:0]   fill_page_i,
  input  leaf_t                 fill_leaf_i,

  input  logic                  scan_i,
  input  logic [SetsLog2-1:0]   scan_set_i,
  input  invalidation_t         scan_what_i
);
  localparam int unsigned Shift = LevelBits * int'(Size);
  localparam int unsigned TagWidth = VpnWidth - Shift;
  localparam int unsigned Sets = 2 ** SetsLog2;
  localparam int unsigned WayWidth = $clog2(Ways);

  typedef struct packed {
    logic [SpaceWidth-1:0] space;
    logic [TagWidth-1:0]   page;
  } tag_t;

  typedef struct packed {
    target_e                    target;
    logic [PaWidth-1:PageShift] frame;
    logic                       writable;
  } entry_t;

  logic [Ways-1:0]     valid_q[Sets];
  tag_t                tags_q[Sets * Ways];
  entry_t              entries_q[Sets * Ways];
  logic [WayWidth-1:0] victim_q;

  function automatic logic [SetsLog2-1:0] set_of(input tag_t tag);
    return tag.page[SetsLog2-1:0] ^ tag.page[2*SetsLog2-1:SetsLog2] ^ tag.space[SetsLog2-1:0];
  endfunction

  tag_t                asked, filled;
  logic [SetsLog2-1:0] asked_set, filled_set;
  logic [WayWidth-1:0] asked_way, filled_way;
  logic [Ways-1:0]     dropped;
  entry_t              found;
  logic                unused_fields;

  assign unused_fields = ^{page_i, fill_page_i, fill_leaf_i.size, fill_leaf_i.reason};
  assign asked         = '{space: space_i, page: page_i[VpnWidth-1:Shift]};
  assign filled        = '{space: fill_space_i, page: fill_page_i[VpnWidth-1:Shift]};
  assign asked_set     = set_of(asked);
  assign filled_set    = set_of(filled);
  assign found         = entries_q[{asked_set, asked_way}];
  assign leaf_o        = '{target: found.target, frame: found.frame, size: Size, writable: found.writable, reason: '0};

  always_comb begin
    hit_o     = 1'b0;
    asked_way = '0;
    for (int unsigned w = 0; w < Ways; w++) begin
      if (valid_q[asked_set][w] && tags_q[{asked_set, WayWidth'(w)}] == asked) begin
        hit_o     = 1'b1;
        asked_way = WayWidth'(w);
      end
    end
  end

  // The way of the same page if there is one (its rights may have grown), else a free way, else the next victim.
  always_comb begin
    filled_way = victim_q;
    for (int unsigned w = 0; w < Ways; w++) if (!valid_q[filled_set][w]) filled_way = WayWidth'(w);
    for (int unsigned w = 0; w < Ways; w++) begin
      if (valid_q[filled_set][w] && tags_q[{filled_set, WayWidth'(w)}] == filled) filled_way = WayWidth'(w);
    end
  end

  always_comb begin
    dropped = '0;
    for (int unsigned w = 0; w < Ways; w++) begin
      if (scan_what_i.everything
          || (tags_q[{scan_set_i, WayWidth'(w)}].space == scan_what_i.space
              && (scan_what_i.whole_space
                  || (tags_q[{scan_set_i, WayWidth'(w)}].page >= scan_what_i.first[VpnWidth-1:Shift]
                      && tags_q[{scan_set_i, WayWidth'(w)}].page <= scan_what_i.last[VpnWidth-1:Shift])))) begin
        dropped[w] = 1'b1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned s = 0; s < Sets; s++) valid_q[s] <= '0;
      victim_q <= '0;
    end else begin
      if (scan_i) begin
        valid_q[scan_set_i] <= valid_q[scan_set_i] & ~dropped;
      end else if (fill_i) begin
        valid_q[filled_set][filled_way] <= 1'b1;
        victim_q                        <= victim_q + 1'b1;
      end
    end
    if (fill_i) begin
      tags_q[{filled_set, filled_way}]    <= filled;
      entries_q[{filled_set, filled_way}] <= '{target: fill_leaf_i.target, frame: fill_leaf_i.frame, writable: fill_leaf_i.writable};
    end
  end

  fill_is_no_scan: assert property (@(posedge clk_i) disable iff (!rst_ni) !(fill_i && scan_i));
endmodule
