// Makes runs of bytes out of a descriptor, one a cycle: one for each row. A long row becomes pieces that end where an aligned piece of the destination
// ends; between two runs the descriptor can be suspended.
module datum_dma_rows
  import datum_pkg::*;
  import datum_dma_pkg::*;
#(
  parameter int unsigned PieceBytes = 65536   // a power of two
) (
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

  input  logic          pause_i,        // hands out no more runs
  output logic          busy_o,         // runs are left
  output position_t     position_o,     // of the next run, while it pauses
  input  logic          resume_i,       // starts at resumed_i; only while ready_o
  input  position_t     resumed_i,      // with the descriptor's new slot

  output logic          job_valid_o,
  output job_t          job_o,
  input  logic          job_ready_i
);
  logic         valid_q;
  job_t         first_q;
  logic         region_q;
  va_t          done_q;         // bytes of the row that were handed out
  wide_t        src_q, dst_q, plane_src_q, plane_dst_q;
  logic [31:0]  rows_q, rows_left_q, planes_left_q;
  logic [31:0]  src_row_pitch_q, dst_row_pitch_q, src_slice_pitch_q, dst_slice_pitch_q;

  localparam int unsigned PieceWidth = $clog2(PieceBytes);

  logic  last_row, last, cut, handed, src_bad, dst_bad;
  va_t   src, dst, left, piece;
  wide_t next_plane_src, next_plane_dst;

  function automatic logic outside(input wide_t address, input va_t count);
    outside = ((address + wide_t'(count) - 1'b1) >> VaWidth) != '0;
  endfunction

  assign last_row = rows_left_q == 32'd1;
  assign last     = !region_q || (last_row && planes_left_q == 32'd1);

  // Wide values are worked out only when somebody looks at them: that is what the simulation's speed rests on.
  assign job_valid_o = valid_q && !pause_i;
  assign busy_o      = valid_q;
  assign handed      = job_valid_o && job_ready_i;
  always_comb begin
    src_bad = 1'b0;
    dst_bad = 1'b0;
    job_o   = '0;
    src     = '0;
    dst     = '0;
    left    = '0;
    cut     = 1'b0;
    piece   = '0;
    if (valid_q) begin
      src               = src_q[VaWidth-1:0] + done_q;
      dst               = dst_q[VaWidth-1:0] + done_q;
      left              = first_q.bytes - done_q;
      cut               = left > va_t'(PieceBytes);
      piece             = cut ? va_t'(PieceBytes) - va_t'(dst[PieceWidth-1:0]) : left;
      src_bad           = region_q && outside(src_q, first_q.bytes);
      dst_bad           = region_q && outside(dst_q, first_q.bytes);
      job_o             = first_q;
      job_o.last        = last && !cut;
      job_o.src         = src;
      job_o.dst         = dst;
      job_o.bytes       = piece;
      job_o.bad         = src_bad || dst_bad;
      job_o.bad_write   = !src_bad;
      job_o.bad_address = src_bad ? 64'(src_q) : 64'(dst_q);
    end
  end

  always_comb begin
    position_o = '0;
    if (valid_q && pause_i) position_o = '{
      first: first_q, region: region_q, src: src_q, dst: dst_q, plane_src: plane_src_q, plane_dst: plane_dst_q, done: done_q, rows: rows_q,
      rows_left: rows_left_q, planes_left: planes_left_q, src_row_pitch: src_row_pitch_q, dst_row_pitch: dst_row_pitch_q,
      src_slice_pitch: src_slice_pitch_q, dst_slice_pitch: dst_slice_pitch_q
    };
  end

  assign ready_o = !valid_q || (handed && last && !cut);
  assign next_plane_src = plane_src_q + wide_t'(src_slice_pitch_q);
  assign next_plane_dst = plane_dst_q + wide_t'(dst_slice_pitch_q);

  always_ff @(posedge clk_i) begin
    if (handed && cut) begin
      done_q <= done_q + piece;
    end else if (handed) begin
      done_q  <= '0;
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
      done_q            <= '0;
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
    if (resume_i) begin
      valid_q           <= 1'b1;
      first_q           <= resumed_i.first;
      region_q          <= resumed_i.region;
      done_q            <= resumed_i.done;
      src_q             <= resumed_i.src;
      dst_q             <= resumed_i.dst;
      plane_src_q       <= resumed_i.plane_src;
      plane_dst_q       <= resumed_i.plane_dst;
      rows_q            <= resumed_i.rows;
      rows_left_q       <= resumed_i.rows_left;
      planes_left_q     <= resumed_i.planes_left;
      src_row_pitch_q   <= resumed_i.src_row_pitch;
      dst_row_pitch_q   <= resumed_i.dst_row_pitch;
      src_slice_pitch_q <= resumed_i.src_slice_pitch;
      dst_slice_pitch_q <= resumed_i.dst_slice_pitch;
    end
    if (flush_i || !rst_ni) valid_q <= 1'b0;
  end

  start_when_ready: assert property (@(posedge clk_i) disable iff (!rst_ni) start_i || resume_i |-> ready_o && !(start_i && resume_i));
  pieces_end_aligned: assert property (@(posedge clk_i) disable iff (!rst_ni) handed && cut |-> piece != '0 && piece < left);
endmodule
