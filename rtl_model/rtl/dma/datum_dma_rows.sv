// Makes runs of bytes out of a descriptor: one, or one for each row of a region. One run a cycle.
module datum_dma_rows
  import datum_pkg::*;
  import datum_dma_pkg::*;
(
  input  logic          clk_i,
  input  logic          rst_ni,
  input  logic          flush_i,

  input  logic          start_i,        // only while ready_o
  output logic          ready_o,
  input  job_t          first_i,        // the first run; `last` is set here
  input  logic          region_i,
  input  logic [31:0]   rows_i,
  input  logic [31:0]   planes_i,
  input  logic [31:0]   src_row_pitch_i,
  input  logic [31:0]   dst_row_pitch_i,
  input  logic [31:0]   src_slice_pitch_i,
  input  logic [31:0]   dst_slice_pitch_i,

  output logic          job_valid_o,
  output job_t          job_o,
  input  logic          job_ready_i
);
  // Two bits more than an address: a step is less than 2^32, so the first row outside the space is seen as such.
  typedef logic [VaWidth+1:0] wide_t;

  logic         valid_q;
  job_t         first_q;
  logic         region_q;
  wide_t        src_q, dst_q, plane_src_q, plane_dst_q;
  logic [31:0]  rows_q, rows_left_q, planes_left_q;
  logic [31:0]  src_row_pitch_q, dst_row_pitch_q, src_slice_pitch_q, dst_slice_pitch_q;

  logic  last_row, last, src_bad, dst_bad;
  wide_t next_plane_src, next_plane_dst;

  function automatic logic outside(input wide_t address, input va_t count);
    outside = ((address + wide_t'(count) - 1'b1) >> VaWidth) != '0;
  endfunction

  assign last_row = rows_left_q == 32'd1;
  assign last     = !region_q || (last_row && planes_left_q == 32'd1);

  // Wide values are worked out only when somebody looks at them: that is what the simulation's speed rests on.
  assign job_valid_o = valid_q;
  always_comb begin
    src_bad = 1'b0;
    dst_bad = 1'b0;
    job_o   = '0;
    if (valid_q) begin
      src_bad           = region_q && outside(src_q, first_q.bytes);
      dst_bad           = region_q && outside(dst_q, first_q.bytes);
      job_o             = first_q;
      job_o.last        = last;
      job_o.src         = src_q[VaWidth-1:0];
      job_o.dst         = dst_q[VaWidth-1:0];
      job_o.bad         = src_bad || dst_bad;
      job_o.bad_write   = !src_bad;
      job_o.bad_address = src_bad ? 64'(src_q) : 64'(dst_q);
    end
  end

  assign ready_o = !valid_q || (job_ready_i && last);
  assign next_plane_src = plane_src_q + wide_t'(src_slice_pitch_q);
  assign next_plane_dst = plane_dst_q + wide_t'(dst_slice_pitch_q);

  always_ff @(posedge clk_i) begin
    if (job_ready_i && valid_q) begin
      valid_q <= !last;
      if (last_row) begin
        src_q         <= next_plane_src;
        dst_q         <= next_plane_dst;
        plane_src_q   <= next_plane_src;
        plane_dst_q   <= next_plane_dst;
        rows_left_q   <= rows_q;
        planes_left_q <= planes_left_q - 1'b1;
      end else begin
        src_q         <= src_q + wide_t'(src_row_pitch_q);
        dst_q         <= dst_q + wide_t'(dst_row_pitch_q);
        rows_left_q   <= rows_left_q - 1'b1;
      end
    end
    if (start_i) begin
      valid_q           <= 1'b1;
      first_q           <= first_i;
      region_q          <= region_i;
      src_q             <= wide_t'(first_i.src);
      dst_q             <= wide_t'(first_i.dst);
      plane_src_q       <= wide_t'(first_i.src);
      plane_dst_q       <= wide_t'(first_i.dst);
      rows_q            <= rows_i;
      rows_left_q       <= rows_i;
      planes_left_q     <= planes_i;
      src_row_pitch_q   <= src_row_pitch_i;
      dst_row_pitch_q   <= dst_row_pitch_i;
      src_slice_pitch_q <= src_slice_pitch_i;
      dst_slice_pitch_q <= dst_slice_pitch_i;
    end
    if (flush_i || !rst_ni) valid_q <= 1'b0;
  end

  start_when_ready: assert property (@(posedge clk_i) disable iff (!rst_ni) start_i |-> ready_o);
endmodule
