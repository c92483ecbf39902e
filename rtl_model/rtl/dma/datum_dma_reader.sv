// Read half of a mover: splits jobs into bursts, and puts what comes back, shifted to the alignment of the destination, into the
// read buffer. Buffer space is reserved before a burst goes out, so read data is always taken.
module datum_dma_reader
  import datum_pkg::*;
  import datum_reg_pkg::*;
  import datum_dma_pkg::*;
#(
  parameter int unsigned BufferWords = 256,
  parameter int unsigned Outstanding = 64
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  flush_i,        // forget all jobs; only when idle_o
  input  logic                  forget_i,       // forget translations and refusals
  input  logic                  stop_i,         // begin no more reads
  input  logic                  drain_i,
  output logic                  idle_o,         // no access outstanding

  input  logic                  job_valid_i,
  input  job_t                  job_i,
  output logic                  job_ready_o,

  output logic                  write_job_valid_o,
  output write_job_t            write_job_o,
  input  logic                  write_job_ready_i,

  // Words for the writer, in order; popped words free their space.
  output logic                  word_valid_o,
  output logic [DataWidth-1:0]  word_o,
  input  logic                  word_popped_i,

  output logic                  look_issued_o,  // the read for a look goes out with look_place_o
  output watch_t                look_place_o,
  output logic                  look_done_o,
  output logic [63:0]           look_word_o,

  output logic                  refused_valid_o,   // an access that was not allowed, at the end of what was issued
  output failure_t              refused_o,
  output logic                  failed_valid_o,    // an access that was answered with an error
  output failure_t              failed_o,

  output logic                  tr_req_valid_o,
  output translate_req_t        tr_req_o,
  input  logic                  tr_req_ready_i,
  input  logic                  tr_rsp_valid_i,
  input  translate_rsp_t        tr_rsp_i,

  output logic                  arvalid_o,
  output axi_ax_t               ar_o,
  input  logic                  arready_i,
  input  logic                  rvalid_i,
  input  axi_r_t                r_i,
  output logic                  rready_o
);
  localparam int unsigned MaxBurst = 16;
  localparam int unsigned CountWidth = $clog2(Outstanding) + 1;
  localparam int unsigned BufferWidth = $clog2(BufferWords) + 1;

  // What is needed to place the words of one job.
  typedef struct packed {
    slot_t                  slot;
    logic                   look;
    logic [SpaceWidth-1:0]  space;
    va_t                    src;
    word_count_t            words;      // of the source
    logic                   straddle;   // a destination word needs the next source word: none can be made from the first one
    logic [WordShift:0]     shift;      // bytes
    logic                   spill;      // one more destination word follows the last source word
  } place_t;

  // ---- taking a job -------------------------------------------------------------------------------------------------

  offset_t      src_offset, dst_offset;
  va_t          last_byte;
  word_count_t  src_words, dst_words;
  va_t          src_span, dst_span;
  logic         straddle;
  logic         take, take_read;
  logic         place_ready, place_pop, place_valid;
  place_t       place_in, place;

  // What is wide is worked out only for a job that is there: the simulation's speed rests on it.
  always_comb begin
    src_offset  = '0;
    dst_offset  = '0;
    last_byte   = '0;
    src_span    = '0;
    dst_span    = '0;
    src_words   = '0;
    dst_words   = '0;
    straddle    = 1'b0;
    place_in    = '0;
    write_job_o = '0;
    if (job_valid_i) begin
      src_offset = job_i.src[WordShift-1:0];
      dst_offset = job_i.dst[WordShift-1:0];
      last_byte  = job_i.bytes - 1'b1;
      src_span   = va_t'(src_offset) + last_byte;
      dst_span   = va_t'(dst_offset) + last_byte;
      src_words  = word_count_t'(src_span[VaWidth-1:WordShift]) + 1'b1;
      dst_words  = word_count_t'(dst_span[VaWidth-1:WordShift]) + 1'b1;
      straddle   = src_offset > dst_offset;
      place_in = '{
        slot: job_i.slot, look: job_i.look, space: job_i.src_space, src: job_i.src, words: src_words, straddle: straddle,
        shift: {1'b0, src_offset} - {1'b0, dst_offset} + (straddle ? 7'd0 : 7'd64),
        spill: straddle ? dst_words == src_words && src_words != 1 : dst_words != src_words
      };
      write_job_o = '{
        slot: job_i.slot, last: job_i.last, fill: job_i.fill, sync: job_i.sync, space: job_i.dst_space, dst: job_i.dst,
        words: dst_words, tail: dst_span[WordShift-1:0], pattern: job_i.pattern
      };
    end
  end

  datum_dma_queue #(.Width($bits(place_t)), .Depth(Outstanding)) u_places (
    .clk_i, .rst_ni, .clear_i(flush_i), .push_i(take_read), .data_i(place_in), .ready_o(place_ready),
    .valid_o(place_valid), .data_o(place), .pop_i(place_pop)
  );

  // ---- issuing bursts -----------------------------------------------------------------------------------------------

  logic                   active_q;
  slot_t                  slot_q;
  logic                   look_q;
  logic [SpaceWidth-1:0]  space_q;
  va_t                    address_q;
  word_count_t            left_q;
  logic signed [1:0]      excess_q;   // destination words less source words
  logic [CountWidth-1:0]  outstanding_q;
  logic [BufferWidth-1:0] reserved_q;
  target_e                target_q;   // of everything outstanding

  logic                   hit, refused;
  logic [7:0]             reason;
  target_e                target;
  logic [PaWidth-1:PageShift] frame;
  logic [4:0]             to_boundary, burst;
  logic                   final_burst, issue, finishing, beat_last;
  logic [VaWidth-1:PageShift] last_page, page;
  logic [VaWidth-1:WordShift] last_word;
  va_t                    next_address;
  logic                   next_valid;

  assign page         = address_q[VaWidth-1:PageShift];
  assign to_boundary  = 5'd16 - {1'b0, address_q[9:6]};
  assign final_burst  = left_q <= word_count_t'(to_boundary);
  assign burst        = final_burst ? left_q[4:0] : to_boundary;
  assign next_address = {address_q[VaWidth-1:WordShift] + (VaWidth - WordShift)'(burst), {WordShift{1'b0}}};
  assign last_word    = address_q[VaWidth-1:WordShift] + (VaWidth - WordShift)'(left_q - 1'b1);
  assign last_page    = last_word[VaWidth-1:PageShift];
  assign next_valid   = (active_q && last_page != page) || (job_valid_i && !job_i.fill && !job_i.bad);

  assign issue = active_q && hit && !stop_i && (!arvalid_o || arready_i) &&
                 outstanding_q != CountWidth'(Outstanding) && (outstanding_q == '0 || target == target_q) &&
                 reserved_q <= BufferWidth'(BufferWords - MaxBurst - 1);
  assign finishing = issue && final_burst;

  assign refused_valid_o = !stop_i && (active_q ? refused : job_valid_i && job_i.bad);
  always_comb begin
    refused_o = '0;
    if (refused_valid_o) refused_o = active_q
      ? '{slot: slot_q, cause: '{status: STATUS_MMU, reason: reason, write: 1'b0, space: 15'(space_q), address: 64'(address_q)}}
      : '{slot: job_i.slot, cause: '{
          status: STATUS_MMU, reason: FAULT_REASON_NOT_CANONICAL, write: job_i.bad_write,
          space: job_i.bad_write ? 15'(job_i.dst_space) : 15'(job_i.src_space), address: job_i.bad_address}};
  end

  assign write_job_valid_o = take && !job_i.look;
  assign take      = job_valid_i && job_ready_o;
  assign take_read = take && !job_i.fill;
  assign job_ready_o = !job_i.bad && !stop_i && write_job_ready_i && (job_i.fill || (place_ready && (!active_q || finishing)));

  assign look_issued_o = issue && look_q;
  assign look_place_o  = '{page_hash: page_hash(target, frame), word: address_q[PageShift-1:3]};

  datum_dma_page #(.Write(1'b0)) u_page (
    .clk_i, .rst_ni, .flush_i(forget_i), .drain_i,
    .want_valid_i(active_q && !stop_i), .want_space_i(space_q), .want_page_i(page),
    .next_valid_i(next_valid && !stop_i),
    .next_space_i(active_q && last_page != page ? space_q : job_i.src_space),
    .next_page_i(active_q && last_page != page ? page + 1'b1 : job_i.src[VaWidth-1:PageShift]),
    .hit_o(hit), .refused_o(refused), .reason_o(reason), .target_o(target), .frame_o(frame),
    .tr_req_valid_o, .tr_req_o, .tr_req_ready_i, .tr_rsp_valid_i, .tr_rsp_i
  );

  logic unused_bits;
  assign unused_bits = ^{r_i.id, src_span[WordShift-1:0], last_word[PageShift-1:WordShift]};

  assign beat_last = rvalid_i && rready_o && r_i.last;
  assign idle_o = outstanding_q == '0;

  always_ff @(posedge clk_i) begin
    if (arready_i) arvalid_o <= 1'b0;
    if (issue) begin
      arvalid_o <= 1'b1;
      ar_o      <= '{id: '0, addr: '{target: target, address: {frame, address_q[PageShift-1:WordShift], {WordShift{1'b0}}}},
                     len: 4'(burst - 1'b1)};
      target_q  <= target;
      address_q <= next_address;
      left_q    <= left_q - word_count_t'(burst);
      if (final_burst) active_q <= 1'b0;
    end
    if (take_read) begin
      active_q  <= 1'b1;
      slot_q    <= job_i.slot;
      look_q    <= job_i.look;
      space_q   <= job_i.src_space;
      address_q <= job_i.src;
      left_q    <= src_words;
      excess_q  <= dst_words == src_words ? 2'sd0 : dst_words > src_words ? 2'sd1 : -2'sd1;
    end
    outstanding_q <= outstanding_q + CountWidth'(issue) - CountWidth'(beat_last && outstanding_q != '0);
    reserved_q    <= reserved_q - BufferWidth'(word_popped_i) + (issue && !look_q
                     ? BufferWidth'(burst) + (final_burst ? {{(BufferWidth-2){excess_q[1]}}, excess_q} : '0) : '0);
    if (flush_i) begin
      active_q   <= 1'b0;
      reserved_q <= '0;
    end
    if (!rst_ni) begin
      active_q      <= 1'b0;
      arvalid_o     <= 1'b0;
      outstanding_q <= '0;
      reserved_q    <= '0;
    end
  end

  // ---- placing what comes back ----------------------------------------------------------------------------------------

  logic [DataWidth-1:0]   carry_q;    // the source word before this one
  word_count_t            placed_q;   // source words of the job seen
  logic                   spill_q;    // the job's last destination word is still in carry_q
  logic [WordShift:0]     spill_shift_q;
  logic                   beat, first, final_word, lone;

  assign rready_o   = !spill_q;
  assign beat       = rvalid_i && rready_o && place_valid;
  assign first      = placed_q == '0;
  assign final_word = placed_q + 1'b1 == place.words;
  assign lone       = place.straddle && place.words == 1;
  assign place_pop  = beat && final_word;

  assign failed_valid_o = beat && r_i.resp[1];
  always_comb begin
    failed_o = '0;
    if (failed_valid_o) failed_o = '{slot: place.slot, cause: '{
      status: target_q == TargetHost ? STATUS_HOST_BUS : STATUS_MEMORY,
      reason: target_q != TargetHost && r_i.resp == AxiSlvErr ? FAULT_REASON_UNCORRECTABLE : FAULT_REASON_BUS_READ,
      write: 1'b0, space: 15'(place.space),
      address: first ? 64'(place.src) : 64'({place.src[VaWidth-1:WordShift] + (VaWidth - WordShift)'(placed_q), {WordShift{1'b0}}})}};
  end

  // Shifting is worth its while only when there is something to shift.
  always_comb begin
    word_valid_o = spill_q || (beat && !place.look && (!place.straddle || !first || lone));
    word_o = '0;
    if (spill_q) word_o = carry_q >> {spill_shift_q, 3'b000};
    else if (word_valid_o) word_o = DataWidth'({r_i.data, lone ? r_i.data : carry_q} >> {place.shift, 3'b000});
  end

  assign look_done_o = beat && place.look;
  always_comb begin
    look_word_o = '0;
    if (look_done_o) look_word_o = r_i.data[{place.src[WordShift-1:3], 6'd0} +: 64];
  end

  always_ff @(posedge clk_i) begin
    spill_q <= 1'b0;
    if (beat) begin
      carry_q  <= r_i.data;
      placed_q <= final_word ? '0 : placed_q + 1'b1;
      if (final_word && place.spill && !place.look) begin
        spill_q       <= 1'b1;
        spill_shift_q <= place.shift;
      end
    end
    if (flush_i || !rst_ni) begin
      placed_q <= '0;
      spill_q  <= 1'b0;
    end
  end

  // ---- rules ----------------------------------------------------------------------------------------------------------

  address_stays:      assert property (@(posedge clk_i) disable iff (!rst_ni) arvalid_o && !arready_i |=> arvalid_o && $stable(ar_o));
  inside_page:        assert property (@(posedge clk_i) disable iff (!rst_ni)
                        arvalid_o |-> {1'b0, ar_o.addr.address[11:6]} + {3'b0, ar_o.len} < 7'd64);
  one_beat_for_look:  assert property (@(posedge clk_i) disable iff (!rst_ni) issue && look_q |-> final_burst && burst == 1);
  space_for_words:    assert property (@(posedge clk_i) disable iff (!rst_ni) word_valid_o && !flush_i |-> reserved_q != '0);
  buffer_suffices:    assert property (@(posedge clk_i) disable iff (!rst_ni) reserved_q <= BufferWidth'(BufferWords));
  flush_when_idle:    assert property (@(posedge clk_i) disable iff (!rst_ni) flush_i |-> idle_o && !arvalid_o);
  beats_match_bursts: assert property (@(posedge clk_i) disable iff (!rst_ni) beat && final_word |-> r_i.last);
endmodule
