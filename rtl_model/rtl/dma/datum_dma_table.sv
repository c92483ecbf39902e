// A word for each ring; words that were not written since reset read as zero. One write port, two read ports.
module datum_dma_table #(
  parameter int unsigned Width = 32
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              write_i,
  input  logic [5:0]        write_ring_i,
  input  logic [Width-1:0]  write_data_i,
  input  logic [5:0]        a_ring_i,
  output logic [Width-1:0]  a_data_o,
  input  logic [5:0]        b_ring_i,
  output logic [Width-1:0]  b_data_o
);
  logic [Width-1:0] memory [64];
  logic [63:0]      written_q;

  assign a_data_o = written_q[a_ring_i] ? memory[a_ring_i] : '0;
  assign b_data_o = written_q[b_ring_i] ? memory[b_ring_i] : '0;

  always_ff @(posedge clk_i) begin
    if (write_i) begin
      memory[write_ring_i]    <= write_data_i;
      written_q[write_ring_i] <= 1'b1;
    end
    if (!rst_ni) written_q <= '0;
  end
endmodule
