// Interrupt status and fault log of the global register block.
module datum_interrupts
  import datum_pkg::*;
  import datum_reg_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        irq_i,                // a vector was raised
  input  logic [6:0]  irq_vector_i,
  input  logic        fault_valid_i,
  input  fault_t      fault_i,

  input  logic        rings_low_clear_i,    // write-1-to-clear by halves
  input  logic        rings_high_clear_i,
  input  logic        global_clear_i,
  input  logic        fault_clear_i,
  input  logic [31:0] data_i,

  output logic [63:0] rings_o,
  output logic [31:0] global_o,
  output logic [31:0] fault_count_o,
  output logic [31:0] fault_info_o,         // of the first fault, as the rest
  output logic [31:0] fault_ring_o,
  output logic [63:0] fault_address_o,
  output logic [31:0] fault_sequence_o
);
  logic [63:0] rings_q, rings_raised, rings_cleared;
  logic [1:0]  global_q, global_raised;
  logic [31:0] count_q;
  fault_t      fault_q;

  assign rings_raised  = irq_i && irq_vector_i < 7'(RingCount) ? 64'd1 << irq_vector_i[5:0] : '0;
  assign global_raised = {irq_i && irq_vector_i == 7'(RingCount + 1), irq_i && irq_vector_i == 7'(RingCount)};
  assign rings_cleared = {rings_high_clear_i ? data_i : '0, rings_low_clear_i ? data_i : '0};

  assign rings_o          = rings_q;
  assign global_o         = 32'(global_q);
  assign fault_count_o    = count_q;
  assign fault_ring_o     = 32'(fault_q.ring);
  assign fault_address_o  = fault_q.address;
  assign fault_sequence_o = fault_q.sequence_number;

  always_comb begin
    fault_info_o = '0;
    fault_info_o[RING_FAULT_INFO_STATUS_LSB+:RING_FAULT_INFO_STATUS_WIDTH] = fault_q.status;
    fault_info_o[RING_FAULT_INFO_REASON_LSB+:RING_FAULT_INFO_REASON_WIDTH] = fault_q.reason;
    fault_info_o[RING_FAULT_INFO_WRITE_LSB] = fault_q.write;
    fault_info_o[RING_FAULT_INFO_SPACE_LSB+:RING_FAULT_INFO_SPACE_WIDTH] = fault_q.space;
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      rings_q  <= '0;
      global_q <= '0;
      count_q  <= '0;
      fault_q  <= '0;
    end else begin
      rings_q  <= (rings_q & ~rings_cleared) | rings_raised;
      global_q <= (global_q & ~(global_clear_i ? data_i[1:0] : '0)) | global_raised;
      if (fault_clear_i) begin
        count_q <= 32'(fault_valid_i);
        fault_q <= fault_valid_i ? fault_i : '0;
      end else if (fault_valid_i) begin
        count_q <= count_q + 1'b1;
        if (count_q == '0) fault_q <= fault_i;
      end
    end
  end
endmodule
