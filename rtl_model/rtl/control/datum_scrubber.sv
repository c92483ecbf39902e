// Which column of the memory is read next for errors that nobody has met: one each interval, and without pause as many as software asks for.
module datum_scrubber
  import datum_dram_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] memory_bytes_i,

  input  logic        write_position_i,
  input  logic        write_remaining_i,
  input  logic        write_interval_i,
  input  logic        high_i,            // the upper half of the register
  input  logic [31:0] wdata_i,
  output logic [63:0] position_o,
  output logic [63:0] remaining_o,
  output logic [31:0] interval_o,

  output logic        valid_o,
  input  logic        ready_i,
  output column_t     column_o,
  input  logic        scrubbing_i,       // columns that were taken are still looked at
  output logic        idle_o
);
  column_t     position_q, remaining_q, position, remaining;
  logic        pass_q;                   // asked for, not finished
  logic [31:0] interval_q, wait_q;
  logic        due_q;
  logic        take;

  assign column_o    = 64'({position_q, 6'd0}) < memory_bytes_i ? position_q : '0;
  assign valid_o     = remaining_q != '0 || due_q;
  assign take        = valid_o && ready_i;
  assign position_o  = 64'({position_q, 6'd0});
  assign remaining_o = remaining_q != '0 ? 64'({remaining_q, 6'd0}) : pass_q ? 64'd64 : 64'd0;
  assign interval_o  = interval_q;
  assign idle_o      = !valid_o && !pass_q;

  // What a write of one half finds in the other.
  assign position    = take ? column_o + 1'b1 : position_q;
  assign remaining   = remaining_q - column_t'(take && remaining_q != '0);

  function automatic column_t with_half(input column_t old, input logic upper, input logic [31:0] data);
    return upper ? {data[6:0], old[31:6]} : {old[38:32], data[31:6]};
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      position_q  <= '0;
      remaining_q <= '0;
      pass_q      <= 1'b0;
      interval_q  <= '0;
      wait_q      <= '0;
      due_q       <= 1'b0;
    end else begin
      position_q  <= write_position_i ? with_half(position, high_i, wdata_i) : position;
      remaining_q <= write_remaining_i ? with_half(remaining, high_i, wdata_i) : remaining;
      pass_q <= remaining_q != '0 || (pass_q && scrubbing_i);

      if (wait_q != '0) wait_q <= wait_q - 1'b1;
      else if (interval_q != '0) wait_q <= interval_q - 1'b1;
      if (interval_q != '0 && wait_q == '0) due_q <= 1'b1;
      else if (interval_q == '0 || (take && remaining_q == '0)) due_q <= 1'b0;

      if (write_interval_i) begin
        interval_q <= wdata_i;
        wait_q     <= wdata_i == '0 ? '0 : wdata_i - 1'b1;
      end
    end
  end
endmodule
