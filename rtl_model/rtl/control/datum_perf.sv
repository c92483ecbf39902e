// Free-running 64-bit counters of the perf block, in the order of its registers.
module datum_perf (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        host_read_i,
  input  logic        host_write_i,
  input  logic        dram_read_i,
  input  logic        dram_write_i,
  input  logic        dram_activate_i,
  input  logic        dram_refresh_i,
  input  logic [4:0]  tlb_hits_i,
  input  logic        walk_i,
  input  logic [3:0]  descriptors_i,
  input  logic [3:0]  index_i,
  output logic [63:0] value_o
);
  localparam int unsigned Counters = 9;

  logic [63:0] counters_q[Counters];

  assign value_o = index_i < 4'(Counters) ? counters_q[index_i] : '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < Counters; i++) counters_q[i] <= '0;
    end else begin
      if (host_read_i) counters_q[0] <= counters_q[0] + 64'd1;
      if (host_write_i) counters_q[1] <= counters_q[1] + 64'd1;
      if (dram_read_i) counters_q[2] <= counters_q[2] + 64'd1;
      if (dram_write_i) counters_q[3] <= counters_q[3] + 64'd1;
      if (dram_activate_i) counters_q[4] <= counters_q[4] + 64'd1;
      if (dram_refresh_i) counters_q[5] <= counters_q[5] + 64'd1;
      if (tlb_hits_i != '0) counters_q[6] <= counters_q[6] + 64'(tlb_hits_i);
      if (walk_i) counters_q[7] <= counters_q[7] + 64'd1;
      if (descriptors_i != '0) counters_q[8] <= counters_q[8] + 64'(descriptors_i);
    end
  end
endmodule
