// The last lines of page tables that the walker read: eight entries each, so that neighbours of a page need no read of their own.
// One half is for last-level tables, so that a stream of pages does not push out the tables above.
module datum_walk_cache
  import datum_pkg::*;
#(
  parameter int unsigned LinesLog2 = 4
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  flush_i,

  input  logic [PaWidth-1:6]    line_i,
  output logic                  hit_o,
  output logic [DataWidth-1:0]  data_o,
  input  logic                  drop_i,       // the line asked for is not to be used again

  input  logic                  fill_i,       // with the line asked for, which is not held
  input  logic                  fill_last_i,  // it is of a last-level table
  input  logic [DataWidth-1:0]  fill_data_i
);
  localparam int unsigned Lines = 2 ** LinesLog2;

  logic [Lines-1:0]     valid_q;
  logic [PaWidth-1:6]   tags_q[Lines];
  logic [DataWidth-1:0] data_q[Lines];
  logic [LinesLog2-2:0] victim_q[2];          // of each half
  logic [LinesLog2-1:0] victim;
  logic [Lines-1:0]     match;
  logic [LinesLog2-1:0] way;

  always_comb begin
    match = '0;
    way   = '0;
    for (int unsigned i = 0; i < Lines; i++) begin
      if (valid_q[i] && tags_q[i] == line_i) begin
        match[i] = 1'b1;
        way      = LinesLog2'(i);
      end
    end
  end

  assign victim = {fill_last_i, victim_q[fill_last_i]};
  assign hit_o  = match != '0;
  assign data_o = data_q[way];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q     <= '0;
      victim_q[0] <= '0;
      victim_q[1] <= '0;
    end else begin
      if (fill_i) begin
        valid_q[victim]       <= 1'b1;
        victim_q[fill_last_i] <= victim_q[fill_last_i] + 1'b1;
      end
      if (drop_i) valid_q <= valid_q & ~match;
      if (flush_i) valid_q <= '0;
    end
    if (fill_i) begin
      tags_q[victim] <= line_i;
      data_q[victim] <= fill_data_i;
    end
  end

  one_line_matches: assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot0(match));
endmodule
