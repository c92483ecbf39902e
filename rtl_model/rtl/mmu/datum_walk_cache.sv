// Lines of page tables that the walker read, eight entries each, so that neighbours of a page need no read of their own. Two ways, of which a fill
// takes the one that was not used last.
module datum_walk_cache
  import datum_pkg::*;
(
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 flush_i,

  input  logic [PaWidth-1:6]   line_i,
  input  logic                 use_i,        // the line asked for is used
  output logic                 hit_o,
  output logic [DataWidth-1:0] data_o,
  input  logic                 drop_i,       // the line asked for is not to be used again
  input  logic                 fill_i,       // with the line asked for
  input  logic [DataWidth-1:0] fill_data_i
);
  localparam int unsigned SetWidth = 6;      // as many sets as a table has lines
  localparam int unsigned Sets = 2 ** SetWidth;
  localparam int unsigned Ways = 2;

  logic [Sets-1:0]      valid_q[Ways];
  logic [Sets-1:0]      recent_q;            // the way that was used last
  logic [PaWidth-1:6]   tags_q[Sets * Ways];
  logic [DataWidth-1:0] data_q[Sets * Ways];
  logic [SetWidth-1:0]  set, mirrored;
  logic [Ways-1:0]      match;
  logic                 way, fill_way;

  // Lines of a table go to different sets; tables that follow one another start far apart.
  always_comb begin
    for (int unsigned i = 0; i < SetWidth; i++) mirrored[i] = line_i[PageShift+SetWidth-1-i];
    set = line_i[PageShift-1:6] ^ mirrored ^ line_i[PageShift+2*SetWidth-1:PageShift+SetWidth]
          ^ line_i[PageShift+3*SetWidth-1:PageShift+2*SetWidth];
  end

  assign match    = {valid_q[1][set] && tags_q[{1'b1, set}] == line_i, valid_q[0][set] && tags_q[{1'b0, set}] == line_i};
  assign way      = match[1];
  assign hit_o    = match != '0;
  assign data_o   = data_q[{way, set}];
  assign fill_way = hit_o ? way : !recent_q[set];

  always_ff @(posedge clk_i) begin
    if (!rst_ni || flush_i) begin
      valid_q[0] <= '0;
      valid_q[1] <= '0;
      recent_q   <= '0;
    end else begin
      if (fill_i) valid_q[fill_way][set] <= 1'b1;
      else if (drop_i && hit_o) valid_q[way][set] <= 1'b0;
      if (fill_i) recent_q[set] <= fill_way;
      else if (use_i && hit_o) recent_q[set] <= way;
    end
    if (fill_i) begin
      tags_q[{fill_way, set}] <= line_i;
      data_q[{fill_way, set}] <= fill_data_i;
    end
  end

  one_way_matches: assert property (@(posedge clk_i) disable iff (!rst_ni) match != '1);
endmodule
