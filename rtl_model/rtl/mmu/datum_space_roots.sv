// Root of each space: a memory, with flags that say which halves were written since reset (others read as zero).
module datum_space_roots
  import datum_pkg::*;
#(
  parameter int unsigned Spaces = 256
) (
  input  logic                       clk_i,
  input  logic                       rst_ni,

  // Register access, in 32-bit halves.
  input  logic                       write_i,
  input  logic                       high_i,
  input  logic [SpaceWidth-1:0]      space_i,
  input  logic [31:0]                data_i,
  output logic [31:0]                data_o,

  // The walker's look.
  input  logic [SpaceWidth-1:0]      root_space_i,
  output logic                       root_valid_o,
  output logic [PaWidth-1:PageShift] root_frame_o
);
  localparam logic [31:0] LowMask = 32'hffff_f001;    // bits that the register has
  localparam logic [31:0] HighMask = 32'h000f_ffff;

  logic [31:0]           low_q[Spaces];
  logic [31:0]           high_q[Spaces];
  logic [Spaces-1:0] low_written_q, high_written_q;
  logic [31:0]           root_low, root_high;
  logic                  unused_bits;

  assign data_o       = high_i ? (high_written_q[space_i] ? high_q[space_i] : '0) : (low_written_q[space_i] ? low_q[space_i] : '0);
  assign root_low     = low_written_q[root_space_i] ? low_q[root_space_i] : '0;
  assign root_high    = high_written_q[root_space_i] ? high_q[root_space_i] : '0;
  assign root_valid_o = root_low[0];
  assign root_frame_o = {root_high[19:0], root_low[31:12]};
  assign unused_bits  = ^{root_low[11:1], root_high[31:20]};

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      low_written_q  <= '0;
      high_written_q <= '0;
    end else if (write_i) begin
      if (high_i) high_written_q[space_i] <= 1'b1;
      else low_written_q[space_i] <= 1'b1;
    end
    if (write_i && high_i) high_q[space_i] <= data_i & HighMask;
    if (write_i && !high_i) low_q[space_i] <= data_i & LowMask;
  end
endmodule
