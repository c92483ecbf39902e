// First-in first-out buffer of 2^DepthLog2 words: one write and one read a cycle, read data in the cycle after the write.
// Neither valid_o nor ready_o depends on the other side's signals of the same cycle, so chains of buffers have no long paths.
module datum_fifo #(
  parameter int unsigned Width = 8,
  parameter int unsigned DepthLog2 = 1
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 valid_i,
  output logic                 ready_o,
  input  logic [Width-1:0]     data_i,
  output logic                 valid_o,
  input  logic                 ready_i,
  output logic [Width-1:0]     data_o,
  output logic [DepthLog2:0]   count_o
);
  logic [Width-1:0]   words_q[2**DepthLog2];
  logic [DepthLog2:0] write_q;
  logic [DepthLog2:0] read_q;

  assign count_o = write_q - read_q;
  assign ready_o = !count_o[DepthLog2];
  assign valid_o = write_q != read_q;
  assign data_o  = words_q[read_q[DepthLog2-1:0]];

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q <= '0;
      read_q  <= '0;
    end else begin
      if (valid_i && ready_o) write_q <= write_q + 1'b1;
      if (valid_o && ready_i) read_q <= read_q + 1'b1;
    end
  end

  always_ff @(posedge clk_i) begin
    if (valid_i && ready_o) words_q[write_q[DepthLog2-1:0]] <= data_i;
  end

  count_fits: assert property (@(posedge clk_i) disable iff (!rst_ni) count_o <= (DepthLog2 + 1)'(2 ** DepthLog2));
endmodule
