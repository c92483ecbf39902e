// datum_dma_reader: how runs of bytes become bursts.
//
//   - The first burst begins at the word with the first byte, each further one where the one before it ended, the last one ends with the word that has the
//     last byte: no word is read twice, none is left out, none beyond.
//   - A burst stays inside 1 KiB, so inside a page and inside AXI's 4 KiB; only the last one of a run ends elsewhere than at such a boundary.
//   - The next run begins when this one has ended, and not before.
// arrays of more than 1024 bits are memories
// faults are looked for with Bits=14
// fault rtl/dma/datum_dma_reader.sv: "5'd16 - {1'b0, address_q[9:6]}" becomes "5'd16 - {1'b0, address_q[10:7]}"
// fault rtl/dma/datum_dma_reader.sv: "final_burst  = left_q <= word" becomes "final_burst  = left_q < word"
// fault rtl/dma/datum_dma_reader.sv: "word_count_t'(src_span[VaWidth-1:WordShift]) + 1'b1" becomes "word_count_t'(last_byte[VaWidth-1:WordShift]) + 1'b1"
// fault rtl/dma/datum_dma_reader.sv: "(!active_q || finishing))" becomes "(!active_q || issue))"
`include "proofs.svh"

module burst_splitter_proof
  import datum_pkg::*;
  import datum_dma_pkg::*;
#(
  parameter int unsigned Bits = VaWidth    // of addresses and lengths that are not zero
) (
  input logic           clk_i,
  input logic           rst_ni,
  input logic           flush_i,
  input logic           forget_i,
  input logic           stop_i,
  input logic           drain_i,
  input logic           job_valid_i,
  input logic           job_fill_i,
  input logic           job_bad_i,
  input va_t            src_i,
  input va_t            bytes_i,
  input logic           write_job_ready_i,
  input logic           word_popped_i,
  input logic           tr_req_ready_i,
  input logic           tr_rsp_valid_i,
  input translate_rsp_t tr_rsp_i,
  input logic           arready_i,
  input logic           rvalid_i,
  input logic           rlast_i
);
  typedef logic [VaWidth-1:WordShift] word_t;

  va_t                  job_src, job_bytes;
  job_t                 job;
  axi_r_t               r;
  axi_ax_t              ar;
  logic                 idle, job_ready, arvalid, rready;
  logic                 write_job_valid, word_valid, look_issued, look_done, refused_valid, failed_valid, tr_req_valid;
  write_job_t           write_job;
  logic [DataWidth-1:0] word;
  watch_t               look_place;
  logic [63:0]          look_word;
  failure_t             refused, failed;
  translate_req_t       tr_req;
  assign job_src   = src_i & va_t'((64'd1 << Bits) - 64'd1);
  assign job_bytes = bytes_i & va_t'((64'd1 << Bits) - 64'd1);
  always_comb begin
    job       = '0;
    job.fill  = job_fill_i;
    job.bad   = job_bad_i;
    job.src   = job_src;
    job.bytes = job_bytes;
    r         = '0;
    r.last    = rlast_i;
  end

  datum_dma_reader #(.BufferWords(64), .Outstanding(4)) dut (
    .clk_i, .rst_ni, .flush_i, .forget_i, .stop_i, .drain_i, .idle_o(idle), .job_valid_i, .job_i(job), .job_ready_o(job_ready),
    .write_job_valid_o(write_job_valid), .write_job_o(write_job), .write_job_ready_i, .word_valid_o(word_valid), .word_o(word), .word_popped_i,
    .look_issued_o(look_issued), .look_place_o(look_place), .look_done_o(look_done), .look_word_o(look_word), .refused_valid_o(refused_valid),
    .refused_o(refused), .failed_valid_o(failed_valid), .failed_o(failed), .tr_req_valid_o(tr_req_valid), .tr_req_o(tr_req), .tr_req_ready_i,
    .tr_rsp_valid_i, .tr_rsp_i, .arvalid_o(arvalid), .ar_o(ar), .arready_i, .rvalid_i, .r_i(r), .rready_o(rready)
  );

  `RESET_FIRST

  // The run whose bursts are counted, a cycle late: a burst is looked at when its address shows.
  logic  open_q, taken_q, issued_q, flushed_q, ends;
  word_t first_q, end_q;           // of a run that was taken in the last cycle
  word_t next_q, last_q;           // of the run whose bursts go out
  va_t   last_byte;
  word_t burst_last, next_now;
  assign last_byte  = job_src + job_bytes - 1'b1;
  assign burst_last = next_q + word_t'(ar.len);
  assign ends       = issued_q && burst_last == last_q;
  assign next_now   = issued_q ? burst_last + 1'b1 : next_q;

  always_ff @(posedge clk_i) begin
    taken_q   <= rst_ni && !flush_i && job_valid_i && job_ready && !job_fill_i;
    issued_q  <= rst_ni && dut.issue;
    flushed_q <= !rst_ni || flush_i;
    first_q   <= job_src[VaWidth-1:WordShift];
    end_q     <= last_byte[VaWidth-1:WordShift];
    next_q    <= taken_q ? first_q : next_now;
    if (taken_q) last_q <= end_q;
    open_q <= rst_ni && !flushed_q && (taken_q || (open_q && !ends));
  end

  logic active;
  assign active = !flushed_q && (taken_q || (open_q && !ends));

  logic unused_bits;
  assign unused_bits = ^{ar, dut.left_q};

  `ASSUME(a_run_has_a_byte, !job_valid_i || job_bytes != '0)
  `ASSUME(a_run_stays_in_the_space, !job_valid_i || last_byte >= job_src)
  `ASSUME(flush_when_idle, !started_q || !flush_i || (idle && !arvalid))
  `PROVE(the_run_is_followed, !started_q || dut.active_q == active)
  `PROVE(a_run_begins_at_its_first_word, !started_q || !(taken_q && active)
         || (dut.address_q[VaWidth-1:WordShift] == first_q && dut.left_q == word_count_t'(end_q - first_q) + 1'b1))
  `PROVE(what_is_left_is_known, !started_q || !active || taken_q
         || (dut.address_q[VaWidth-1:WordShift] == next_now && dut.left_q == word_count_t'(last_q - next_now) + 1'b1))
  `PROVE(what_is_left_lies_ahead, !started_q || (!active || (taken_q ? first_q <= end_q : next_now <= last_q)))
  `PROVE(a_burst_is_of_a_run, !started_q || !issued_q || (open_q && arvalid))
  `PROVE(bursts_follow_each_other, !started_q || !issued_q || ar.addr.address[PageShift-1:0] == {next_q[PageShift-1:WordShift], {WordShift{1'b0}}})
  `PROVE(no_burst_goes_beyond, !started_q || !issued_q || (next_q <= last_q && burst_last <= last_q && burst_last >= next_q))
  `PROVE(a_burst_stays_inside, !started_q || !arvalid || {1'b0, ar.addr.address[9:6]} + {1'b0, ar.len} < 5'd16)
  `PROVE(only_the_last_ends_early, !started_q || !issued_q || ends || {1'b0, ar.addr.address[9:6]} + {1'b0, ar.len} == 5'd15)
  `PROVE(one_run_after_another, !started_q || !taken_q || !open_q || ends)
endmodule
