// datum_dma_writer: how runs of bytes become bursts, and that the data of a burst is there before its address.
//
//   - The first burst begins at the word with the first byte, each further one where the one before it ended, the last one ends with the word that has the
//     last byte: no word is written twice, none is left out, none beyond.
//   - A burst stays inside 1 KiB, so inside a page and inside AXI's 4 KiB.
//   - Its data is in the buffer and no other burst's, unless it is a pattern. One that ends before the boundary and before its run takes all that is there,
//     at least four words.
//   - Bytes before the run are left alone in its first burst, bytes behind it in its last one, and in no other one.
//   - The next run begins when this one has ended, and not before.
// arrays of more than 1024 bits are memories
// faults are looked for with Bits=14
// fault rtl/dma/datum_dma_writer.sv: "5'd16 - {1'b0, address_q[9:6]}" becomes "5'd16 - {1'b0, address_q[10:7]}"
`include "proofs.svh"

module write_splitter_proof
  import datum_pkg::*;
  import datum_dma_pkg::*;
#(
  parameter int unsigned Bits = VaWidth    // of addresses and lengths that are not zero
) (
  input logic           clk_i,
  input logic           rst_ni,
  input logic           flush_i,
  input logic           forget_i,
  input logic           drain_i,
  input logic           stop_all_i,
  input logic           stop_valid_i,
  input slot_t          stop_from_i,
  input slot_t          oldest_i,
  input logic           job_valid_i,
  input logic           job_fill_i,
  input logic           job_sync_i,
  input slot_t          job_slot_i,
  input va_t            dst_i,
  input word_count_t    words_i,
  input offset_t        tail_i,
  input logic           word_valid_i,
  input logic           tr_req_ready_i,
  input logic           tr_rsp_valid_i,
  input translate_rsp_t tr_rsp_i,
  input logic           awready_i,
  input logic           wready_i,
  input logic           bvalid_i
);
  localparam int unsigned BufferWords = 64;
  localparam int unsigned EagerWords  = 4;
  typedef logic [VaWidth-1:WordShift] word_t;
  typedef logic [6:0] count_t;

  write_job_t     job;
  axi_ax_t        aw;
  axi_w_t         w;
  landed_t        landed;
  failure_t       refused, failed;
  translate_req_t tr_req;
  logic           idle, empty, job_ready, word_popped, done, refused_valid, failed_valid, tr_req_valid, awvalid, wvalid, bready;
  always_comb begin
    job       = '0;
    job.slot  = job_slot_i;
    job.fill  = job_fill_i;
    job.sync  = job_sync_i;
    job.dst   = dst_i & va_t'((64'd1 << Bits) - 64'd1);
    job.words = words_i & word_count_t'((64'd1 << Bits) - 64'd1);
    job.tail  = tail_i;
  end

  datum_dma_writer #(.BufferWords(BufferWords), .Jobs(2), .Outstanding(4), .EagerWords(EagerWords)) dut (
    .clk_i, .rst_ni, .flush_i, .forget_i, .drain_i, .idle_o(idle), .empty_o(empty), .stop_all_i, .stop_valid_i, .stop_from_i, .oldest_i, .job_valid_i, .job_i(job),
    .job_ready_o(job_ready), .word_valid_i, .word_i('0), .word_popped_o(word_popped), .done_o(done), .landed_o(landed),
    .refused_valid_o(refused_valid), .refused_o(refused), .failed_valid_o(failed_valid), .failed_o(failed), .tr_req_valid_o(tr_req_valid),
    .tr_req_o(tr_req), .tr_req_ready_i, .tr_rsp_valid_i, .tr_rsp_i, .awvalid_o(awvalid), .aw_o(aw), .awready_i, .wvalid_o(wvalid), .w_o(w),
    .wready_i, .bvalid_i, .b_i('0), .bready_o(bready)
  );

  `RESET_FIRST

  function automatic word_t last_of(input write_job_t run);
    last_of = run.dst[VaWidth-1:WordShift] + word_t'(run.words - 1'b1);
  endfunction

  function automatic logic is_run(input write_job_t run);
    is_run = run.words != '0 && run.words <= {1'b1, {(VaWidth-WordShift){1'b0}}} && last_of(run) >= run.dst[VaWidth-1:WordShift];
  endfunction

  // The runs that wait in the writer's queue.
  logic [1:0] waiting;
  write_job_t oldest, newest;
  assign waiting = dut.u_jobs.write_q - dut.u_jobs.read_q;
  assign oldest  = dut.u_jobs.memory[dut.u_jobs.read_q[0]];
  assign newest  = dut.u_jobs.memory[!dut.u_jobs.read_q[0]];

  // The run whose bursts are counted, a cycle late: a burst is looked at when its address shows.
  logic    open_q, taken_q, issued_q, flushed_q, begun_q, fill_q, ends;
  word_t   first_q, end_q;           // of a run that was taken in the last cycle
  offset_t head_q, tail_q;
  logic    taken_fill_q;
  offset_t taken_head_q, taken_tail_q;
  word_t   next_q, last_q;           // of the run whose bursts go out
  word_t   burst_last, next_now;
  logic [3:0] claimed_len_q;
  logic       head_valid_q, tail_valid_q;
  offset_t    burst_head_q, burst_tail_q;
  assign burst_last = next_q + word_t'(aw.len);
  assign ends       = issued_q && burst_last == last_q;
  assign next_now   = issued_q ? burst_last + 1'b1 : next_q;

  always_ff @(posedge clk_i) begin
    taken_q      <= rst_ni && !flush_i && dut.queued_pop;
    issued_q     <= rst_ni && dut.issue;
    flushed_q    <= !rst_ni || flush_i;
    first_q      <= dut.queued.dst[VaWidth-1:WordShift];
    end_q        <= last_of(dut.queued);
    taken_fill_q <= dut.queued.fill;
    taken_head_q <= dut.queued.dst[WordShift-1:0];
    taken_tail_q <= dut.queued.tail;
    next_q       <= taken_q ? first_q : next_now;
    begun_q      <= !taken_q && (begun_q || issued_q);
    if (taken_q) begin
      last_q <= end_q;
      fill_q <= taken_fill_q;
      head_q <= taken_head_q;
      tail_q <= taken_tail_q;
    end
    open_q        <= rst_ni && !flushed_q && (taken_q || (open_q && !ends));
    claimed_len_q <= dut.burst_in.len;
    head_valid_q  <= dut.burst_in.head_valid;
    burst_head_q  <= dut.burst_in.head;
    tail_valid_q  <= dut.burst_in.tail_valid;
    burst_tail_q  <= dut.burst_in.tail;
  end

  logic active;
  assign active = !flushed_q && (taken_q || (open_q && !ends));

  // Words that came and that no burst has, as late.
  logic   word_q;
  count_t there_q, there_now, claimed;
  assign claimed   = issued_q && !fill_q ? count_t'(aw.len) + 1'b1 : '0;
  assign there_now = flushed_q ? '0 : there_q + count_t'(word_q) - claimed;
  always_ff @(posedge clk_i) begin
    word_q  <= word_valid_i;
    there_q <= there_now;
  end

  logic at_boundary;
  assign at_boundary = {1'b0, aw.addr.address[9:6]} + {1'b0, aw.len} == 5'd15;

  logic unused_bits;
  assign unused_bits = ^{empty, w, landed, refused, failed, tr_req, word_popped, done, refused_valid, failed_valid, tr_req_valid, wvalid, bready, aw};

  `ASSUME(a_run_is_offered_when_there_is_room, !job_valid_i || job_ready)
  `ASSUME(a_run_stays_in_the_space, !job_valid_i || is_run(job))
  `ASSUME(a_word_has_room, !started_q || !word_valid_i || there_now < count_t'(BufferWords))
  `ASSUME(flush_when_idle, !started_q || !flush_i || (idle && !awvalid))
  `PROVE(at_most_two_wait, !started_q || waiting <= 2'd2)
  `PROVE(what_waits_is_a_run, !started_q || ((waiting == '0 || is_run(oldest)) && (waiting < 2'd2 || is_run(newest))))
  `PROVE(the_run_is_followed, !started_q || dut.active_q == active)
  `PROVE(a_run_begins_at_its_first_word, !started_q || !(taken_q && active)
         || (dut.address_q[VaWidth-1:WordShift] == first_q && dut.left_q == word_count_t'(end_q - first_q) + 1'b1))
  `PROVE(what_is_left_is_known, !started_q || !active || taken_q
         || (dut.address_q[VaWidth-1:WordShift] == next_now && dut.left_q == word_count_t'(last_q - next_now) + 1'b1))
  `PROVE(what_is_left_lies_ahead, !started_q || (!active || (taken_q ? first_q <= end_q : next_now <= last_q)))
  `PROVE(the_run_in_use_is_known, !started_q || !active || (taken_q
         ? dut.job_q.fill == taken_fill_q && dut.job_q.dst[WordShift-1:0] == taken_head_q && dut.job_q.tail == taken_tail_q && dut.first_q
         : dut.job_q.fill == fill_q && dut.job_q.dst[WordShift-1:0] == head_q && dut.job_q.tail == tail_q && dut.first_q == !(begun_q || issued_q)))
  `PROVE(what_is_there_is_counted, !started_q || dut.available_q == there_now)
  `PROVE(a_burst_is_of_a_run, !started_q || !issued_q || (open_q && awvalid))
  `PROVE(bursts_follow_each_other, !started_q || !issued_q || aw.addr.address[PageShift-1:0] == {next_q[PageShift-1:WordShift], {WordShift{1'b0}}})
  `PROVE(no_burst_goes_beyond, !started_q || !issued_q || (next_q <= last_q && burst_last <= last_q && burst_last >= next_q))
  `PROVE(a_burst_stays_inside, !started_q || !awvalid || {1'b0, aw.addr.address[9:6]} + {1'b0, aw.len} < 5'd16)
  `PROVE(its_data_is_there, !started_q || claimed <= there_q)
  `PROVE(only_what_is_there_ends_early, !started_q || !issued_q || ends || at_boundary
         || (!fill_q && claimed == there_q && claimed >= count_t'(EagerWords)))
  `PROVE(data_has_as_many_beats, !started_q || !issued_q || claimed_len_q == aw.len)
  `PROVE(the_first_one_spares_what_lies_before, !started_q || !issued_q || (head_valid_q == !begun_q && burst_head_q == head_q))
  `PROVE(the_last_one_spares_what_lies_behind, !started_q || !issued_q || (tail_valid_q == ends && burst_tail_q == tail_q))
  `PROVE(one_run_after_another, !started_q || !taken_q || !open_q || ends)
endmodule
