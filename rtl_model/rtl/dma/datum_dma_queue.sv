// First-in first-out queue; the oldest entry shows on data_o while valid_o, else zeros. Depth is a power of two.
module datum_dma_queue #(
  parameter int unsigned Width = 8,
  parameter int unsigned Depth = 4
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              clear_i,
  input  logic              push_i,
  input  logic [Width-1:0]  data_i,
  output logic              ready_o,    // has room
  output logic              valid_o,
  output logic [Width-1:0]  data_o,
  input  logic              pop_i
);
  localparam int unsigned IndexWidth = $clog2(Depth);

  logic [Width-1:0]      memory [Depth];
  logic [IndexWidth:0]   write_q;
  logic [IndexWidth:0]   read_q;

  assign valid_o = write_q != read_q;
  assign ready_o = write_q != (read_q ^ {1'b1, {IndexWidth{1'b0}}});
  always_comb begin
    data_o = '0;
    if (valid_o) data_o = memory[read_q[IndexWidth-1:0]];
  end

  always_ff @(posedge clk_i) begin
    if (push_i) memory[write_q[IndexWidth-1:0]] <= data_i;
    if (!rst_ni || clear_i) begin
      write_q <= '0;
      read_q  <= '0;
    end else begin
      if (push_i) write_q <= write_q + 1'b1;
      if (pop_i)  read_q  <= read_q + 1'b1;
    end
  end

  no_push_when_full:  assert property (@(posedge clk_i) disable iff (!rst_ni) push_i && !clear_i |-> ready_o);
  no_pop_when_empty:  assert property (@(posedge clk_i) disable iff (!rst_ni) pop_i && !clear_i |-> valid_o);
endmodule
