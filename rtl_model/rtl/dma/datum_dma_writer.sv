// Write half of a mover: takes words from the read buffer, or a pattern, and writes them. A burst's address goes out only when its data is
// in the buffer. It waits for a full burst as long as there is other data to send, and takes a part when there is not.
module datum_dma_writer
  import datum_pkg::*;
  import datum_reg_pkg::*;
  import datum_dma_pkg::*;
#(
  parameter int unsigned BufferWords = 256,
  parameter int unsigned Jobs        = 128,
  parameter int unsigned Outstanding = 64,
  parameter int unsigned EagerWords  = 4      // the shortest part of a burst worth sending
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  flush_i,        // forget all jobs and data; only when idle_o
  input  logic                  forget_i,       // forget translations and refusals
  input  logic                  drain_i,
  output logic                  idle_o,         // no access outstanding
  output logic                  empty_o,        // and no job is left

  // Slots from stop_from_i on, counted from oldest_i, begin no more writes.
  input  logic                  stop_all_i,
  input  logic                  stop_valid_i,
  input  slot_t                 stop_from_i,
  input  slot_t                 oldest_i,

  input  logic                  job_valid_i,
  input  write_job_t            job_i,
  output logic                  job_ready_o,

  input  logic                  word_valid_i,
  input  logic [DataWidth-1:0]  word_i,
  output logic                  word_popped_o,

  output logic                  done_o,         // all writes of one more descriptor were answered
  output landed_t               landed_o,

  output logic                  refused_valid_o,
  output failure_t              refused_o,
  output logic                  failed_valid_o,
  output failure_t              failed_o,

  output logic                  tr_req_valid_o,
  output translate_req_t        tr_req_o,
  input  logic                  tr_req_ready_i,
  input  logic                  tr_rsp_valid_i,
  input  translate_rsp_t        tr_rsp_i,

  output logic                  awvalid_o,
  output axi_ax_t               aw_o,
  input  logic                  awready_i,
  output logic                  wvalid_o,
  output axi_w_t                w_o,
  input  logic                  wready_i,
  input  logic                  bvalid_i,
  input  axi_b_t                b_i,
  output logic                  bready_o
);
  localparam int unsigned CountWidth = $clog2(Outstanding) + 1;
  localparam int unsigned IndexWidth = $clog2(BufferWords);
  localparam int unsigned Bursts = 16;        // bursts whose data has not gone out

  // A burst on its way to W.
  typedef struct packed {
    logic [3:0]             len;
    logic                   fill;
    logic                   head_valid;       // the first word of its job: bytes before `head` are not written
    offset_t                head;
    logic                   tail_valid;       // the last word of its job: bytes after `tail` are not written
    offset_t                tail;
    logic [127:0]           pattern;
  } burst_t;

  // A burst on its way to B.
  typedef struct packed {
    slot_t                  slot;
    logic                   last;             // the last one of its descriptor
    logic                   exact;
    watch_t                 place;
    logic [SpaceWidth-1:0]  space;
    va_t                    address;
  } answer_t;

  // ---- jobs -----------------------------------------------------------------------------------------------------------

  logic        queued_valid, queued_pop;
  write_job_t  queued;

  datum_dma_queue #(.Width($bits(write_job_t)), .Depth(Jobs)) u_jobs (
    .clk_i, .rst_ni, .clear_i(flush_i), .push_i(job_valid_i), .data_i(job_i), .ready_o(job_ready_o),
    .valid_o(queued_valid), .data_o(queued), .pop_i(queued_pop)
  );

  logic                   active_q;
  write_job_t             job_q;
  va_t                    address_q;    // of the next byte to be written
  word_count_t            left_q;
  logic                   first_q;
  logic                   sync_q;       // a value is being written
  logic [CountWidth-1:0]  outstanding_q;
  target_e                target_q;

  logic                   hit, refused, blocked, permitted, issue, final_burst, finishing, next_own;
  logic [7:0]             reason;
  target_e                target;
  logic [PaWidth-1:PageShift] frame;
  logic [VaWidth-1:PageShift] page, last_page;
  logic [VaWidth-1:WordShift] last_word;
  logic [4:0]             to_boundary, full, count;
  logic                   burst_ready, burst_valid, burst_pop, answer_ready, answer_valid, answer_pop;
  burst_t                 burst_in, burst;
  answer_t                answer_in, answer;
  logic [IndexWidth:0]    available_q;  // words in the buffer that no burst has claimed
  logic [7:0]             backlog_q;    // beats claimed and not sent

  assign page        = address_q[VaWidth-1:PageShift];
  assign last_word   = address_q[VaWidth-1:WordShift] + (VaWidth - WordShift)'(left_q - 1'b1);
  assign last_page   = last_word[VaWidth-1:PageShift];
  assign next_own    = active_q && last_page != page;
  assign to_boundary = 5'd16 - {1'b0, address_q[9:6]};
  assign full        = left_q <= word_count_t'(to_boundary) ? left_q[4:0] : to_boundary;

  always_comb begin
    count = '0;
    if (job_q.fill || available_q >= (IndexWidth + 1)'(full)) count = full;
    else if (available_q >= (IndexWidth + 1)'(EagerWords) && backlog_q < 8'(EagerWords)) count = available_q[4:0];
  end

  assign final_burst = left_q == word_count_t'(count);
  assign blocked     = stop_all_i || (stop_valid_i && slot_t'(job_q.slot - oldest_i) >= slot_t'(stop_from_i - oldest_i));
  assign permitted   = !(job_q.sync || sync_q) || outstanding_q == '0;
  assign issue = active_q && hit && !blocked && permitted && count != '0 && (!awvalid_o || awready_i) &&
                 outstanding_q != CountWidth'(Outstanding) && (outstanding_q == '0 || target == target_q) &&
                 burst_ready && answer_ready;
  assign finishing   = issue && final_burst;
  assign queued_pop  = queued_valid && (!active_q || finishing);

  assign refused_valid_o = active_q && refused && !blocked && (job_q.fill || available_q != '0);
  always_comb begin
    refused_o = '0;
    if (refused_valid_o) refused_o = '{slot: job_q.slot, cause: '{
      status: STATUS_MMU, reason: reason, write: 1'b1, space: 15'(job_q.space), address: 64'(address_q)}};
  end

  datum_dma_page #(.Write(1'b1)) u_page (
    .clk_i, .rst_ni, .flush_i(forget_i), .drain_i,
    .want_valid_i(active_q && !blocked), .want_space_i(job_q.space), .want_page_i(page),
    .next_valid_i((next_own || queued_valid) && !blocked),
    .next_space_i(next_own ? job_q.space : queued.space),
    .next_page_i(next_own ? page + 1'b1 : queued.dst[VaWidth-1:PageShift]),
    .hit_o(hit), .refused_o(refused), .reason_o(reason), .target_o(target), .frame_o(frame),
    .tr_req_valid_o, .tr_req_o, .tr_req_ready_i, .tr_rsp_valid_i, .tr_rsp_i
  );

  always_comb begin
    burst_in  = '0;
    answer_in = '0;
    if (issue) begin
      burst_in = '{
        len: 4'(count - 1'b1), fill: job_q.fill, head_valid: first_q, head: job_q.dst[WordShift-1:0],
        tail_valid: final_burst, tail: job_q.tail, pattern: job_q.pattern
      };
      answer_in = '{
        slot: job_q.slot, last: job_q.last && final_burst, exact: job_q.sync,
        place: '{page_hash: page_hash(target, frame), word: address_q[PageShift-1:3]}, space: job_q.space, address: address_q
      };
    end
  end

  datum_dma_queue #(.Width($bits(burst_t)), .Depth(Bursts)) u_bursts (
    .clk_i, .rst_ni, .clear_i(1'b0), .push_i(issue), .data_i(burst_in), .ready_o(burst_ready),
    .valid_o(burst_valid), .data_o(burst), .pop_i(burst_pop)
  );
  datum_dma_queue #(.Width($bits(answer_t)), .Depth(Outstanding)) u_answers (
    .clk_i, .rst_ni, .clear_i(1'b0), .push_i(issue), .data_i(answer_in), .ready_o(answer_ready),
    .valid_o(answer_valid), .data_o(answer), .pop_i(answer_pop)
  );

  assign idle_o  = outstanding_q == '0;
  assign empty_o = idle_o && !active_q && !queued_valid;

  always_ff @(posedge clk_i) begin
    if (awready_i) awvalid_o <= 1'b0;
    if (outstanding_q == '0) sync_q <= 1'b0;
    if (issue) begin
      awvalid_o <= 1'b1;
      aw_o      <= '{id: '0, addr: '{target: target, address: {frame, address_q[PageShift-1:WordShift], {WordShift{1'b0}}}},
                     len: 4'(count - 1'b1)};
      target_q  <= target;
      address_q <= {address_q[VaWidth-1:WordShift] + (VaWidth - WordShift)'(count), {WordShift{1'b0}}};
      left_q    <= left_q - word_count_t'(count);
      first_q   <= 1'b0;
      sync_q    <= job_q.sync;
      if (final_burst) active_q <= 1'b0;
    end
    if (queued_pop) begin
      active_q  <= 1'b1;
      job_q     <= queued;
      address_q <= queued.dst;
      left_q    <= queued.words;
      first_q   <= 1'b1;
    end
    outstanding_q <= outstanding_q + CountWidth'(issue) - CountWidth'(answer_pop);
    if (flush_i) active_q <= 1'b0;
    if (!rst_ni) begin
      active_q      <= 1'b0;
      awvalid_o     <= 1'b0;
      sync_q        <= 1'b0;
      outstanding_q <= '0;
    end
  end

  // ---- data -----------------------------------------------------------------------------------------------------------

  logic [DataWidth-1:0]   buffer [BufferWords];
  logic [IndexWidth-1:0]  buffer_write_q, buffer_read_q;
  logic [3:0]             beat_q;
  logic [4:0]             started_q;    // addresses accepted whose data has not begun
  logic                   begin_allowed, send, beat_final;
  logic [DataBytes-1:0]   strobe;

  // Data follows its address.
  assign begin_allowed = beat_q != '0 || started_q != '0 || (awvalid_o && awready_i);
  assign send          = burst_valid && begin_allowed && (!wvalid_o || wready_i);
  assign beat_final    = beat_q == burst.len;
  assign burst_pop     = send && beat_final;
  assign word_popped_o = send && !burst.fill;

  always_comb begin
    strobe = '1;
    if (burst.head_valid && beat_q == '0) strobe = strobe << burst.head;
    if (burst.tail_valid && beat_final)   strobe = strobe & ({DataBytes{1'b1}} >> (6'd63 - burst.tail));
  end

  always_ff @(posedge clk_i) begin
    if (wready_i) wvalid_o <= 1'b0;
    if (word_valid_i) begin
      buffer[buffer_write_q] <= word_i;
      buffer_write_q         <= buffer_write_q + 1'b1;
    end
    if (send) begin
      wvalid_o <= 1'b1;
      w_o.data <= burst.fill ? {4{burst.pattern}} : buffer[buffer_read_q];
      w_o.strb <= strobe;
      w_o.last <= beat_final;
      beat_q   <= beat_final ? '0 : beat_q + 1'b1;
      if (!burst.fill) buffer_read_q <= buffer_read_q + 1'b1;
    end
    started_q   <= started_q + 5'(awvalid_o && awready_i) - 5'(send && beat_q == '0);
    backlog_q   <= backlog_q + (issue ? 8'(count) : '0) - 8'(send);
    available_q <= available_q + (IndexWidth + 1)'(word_valid_i) - (issue && !job_q.fill ? (IndexWidth + 1)'(count) : '0);
    if (flush_i) begin
      buffer_write_q <= '0;
      buffer_read_q  <= '0;
      available_q    <= '0;
    end
    if (!rst_ni) begin
      wvalid_o       <= 1'b0;
      beat_q         <= '0;
      started_q      <= '0;
      backlog_q      <= '0;
      buffer_write_q <= '0;
      buffer_read_q  <= '0;
      available_q    <= '0;
    end
  end

  // ---- answers ----------------------------------------------------------------------------------------------------------

  logic unused_bits;
  assign unused_bits = ^{b_i.id, b_i.resp[0], job_q.words, job_q.dst[VaWidth-1:WordShift], last_word[PageShift-1:WordShift]};

  assign bready_o       = 1'b1;
  assign answer_pop     = bvalid_i && answer_valid;
  assign done_o         = answer_pop && answer.last && !b_i.resp[1];
  assign landed_o       = '{valid: answer_pop, exact: answer.exact, place: answer.place};
  assign failed_valid_o = answer_pop && b_i.resp[1];
  always_comb begin
    failed_o = '0;
    if (failed_valid_o) failed_o = '{slot: answer.slot, cause: '{
      status: target_q == TargetHost ? STATUS_HOST_BUS : STATUS_MEMORY, reason: FAULT_REASON_BUS_WRITE, write: 1'b1,
      space: 15'(answer.space), address: 64'(answer.address)}};
  end

  // ---- rules ------------------------------------------------------------------------------------------------------------

  address_stays:   assert property (@(posedge clk_i) disable iff (!rst_ni) awvalid_o && !awready_i |=> awvalid_o && $stable(aw_o));
  data_stays:      assert property (@(posedge clk_i) disable iff (!rst_ni) wvalid_o && !wready_i |=> wvalid_o && $stable(w_o));
  inside_page:     assert property (@(posedge clk_i) disable iff (!rst_ni)
                     awvalid_o |-> {1'b0, aw_o.addr.address[11:6]} + {3'b0, aw_o.len} < 7'd64);
  data_is_there:   assert property (@(posedge clk_i) disable iff (!rst_ni)
                     issue && !job_q.fill |-> available_q >= (IndexWidth + 1)'(count));
  value_is_alone:  assert property (@(posedge clk_i) disable iff (!rst_ni) issue && job_q.sync |-> final_burst && first_q && idle_o);
  flush_when_idle: assert property (@(posedge clk_i) disable iff (!rst_ni) flush_i |-> idle_o && !awvalid_o && !wvalid_o);
endmodule
