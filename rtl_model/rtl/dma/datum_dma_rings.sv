// The rings: their registers, which of them are ready for a channel, and which are parked.
//
// `ready` says that a ring may have something to do. It is set more often than needed (a doorbell to a ring that a channel serves sets it
// too) and never less: a channel that finds nothing gives the ring back at once.
module datum_dma_rings
  import datum_pkg::*;
  import datum_reg_pkg::*;
  import datum_dma_pkg::*;
#(
  parameter int unsigned RingCount    = 64,
  parameter int unsigned ChannelCount = 4,
  parameter int unsigned ManagerCount = 5
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic [63:0]                     timer_i,
  input  logic [31:0]                     park_recheck_ns_i,
  input  logic                            kick_all_i,
  input  logic                            drain_i,

  input  logic                            reg_valid_i,
  input  logic                            reg_write_i,
  input  logic                            reg_page_i,
  input  logic [5:0]                      reg_ring_i,
  input  logic [5:0]                      reg_offset_i,
  input  logic [31:0]                     reg_wdata_i,
  output logic                            reg_ready_o,
  output logic                            reg_rvalid_o,
  output logic [31:0]                     reg_rdata_o,

  // Scheduler.
  output logic [63:0]                     eligible_o,
  input  logic                            bind_i,
  input  logic [RingWidth-1:0]            bind_ring_i,
  output binding_t                        binding_o,      // of bind_ring_i
  output logic                            midway_o,       // a descriptor of bind_ring_i is suspended, the one before its head:
  output suspended_t                      resumed_o,

  // Channels.
  output doorbell_t                       doorbell_o,
  output logic [63:0]                     faulted_o,
  output logic [63:0]                     stopping_o,     // bound rings that were disabled
  input  logic [ChannelCount-1:0]         bound_i,
  input  logic [ChannelCount-1:0][RingWidth-1:0] bound_ring_i,
  input  logic [ChannelCount-1:0][31:0]   bound_head_i,
  input  logic [ChannelCount-1:0]         resumed_i,      // the wait at the head of the channel's ring is over
  input  logic                            release_valid_i,
  input  release_t                        release_i,

  // Records and failures.
  output logic [63:0]                     stopped_o,
  input  logic [63:0]                     record_busy_i,
  input  logic                            fail_valid_i,
  input  fault_t                          fail_i,

  input  landed_t [ManagerCount-1:0]      landed_i,

  output logic                            parked_o,
  output logic                            idle_o
);
  function automatic logic [63:0] bit_of(input logic set, input logic [RingWidth-1:0] ring);
    bit_of = 64'(set) << ring;
  endfunction

  // ---- register port: taken in one cycle, done in the next, answered in the third ---------------------------------------

  logic         pending_q, write_q, page_q;
  logic [5:0]   ring_q;
  logic [3:0]   index_q;
  logic [31:0]  wdata_q;
  logic         exists, write_config, write_page, write_tail, write_kick, write_control, start, stop;

  assign reg_ready_o   = !pending_q;
  assign exists        = pending_q && 32'(ring_q) < RingCount;
  assign write_config  = exists && write_q && !page_q;
  assign write_page    = exists && write_q && page_q;
  assign write_tail    = write_page && index_q == RING_TAIL_OFFSET[5:2];
  assign write_kick    = write_page && index_q == RING_KICK_OFFSET[5:2];
  assign write_control = write_config && index_q == RING_CONTROL_OFFSET[5:2];

  logic [63:0] enabled_q, ready_q, bound_q, parked_q, midway_q, faulted_q, failed_q, stopping_q, head_zero_q;

  assign start = write_control && wdata_q[0] && !enabled_q[ring_q];
  assign stop  = write_control && !wdata_q[0] && enabled_q[ring_q];

  logic tail_taken;
  assign tail_taken = write_tail && enabled_q[ring_q] && !faulted_q[ring_q];

  logic unused_offset;
  assign unused_offset = ^reg_offset_i[1:0];

  always_ff @(posedge clk_i) begin
    pending_q <= reg_valid_i && reg_ready_o;
    if (reg_valid_i && reg_ready_o) begin
      write_q <= reg_write_i;
      page_q  <= reg_page_i;
      ring_q  <= reg_ring_i;
      index_q <= reg_offset_i[5:2];
      wdata_q <= reg_wdata_i;
    end
    if (!rst_ni) pending_q <= 1'b0;
  end

  // ---- what the registers hold --------------------------------------------------------------------------------------------

  localparam int unsigned ConfigWords = 7;
  logic [ConfigWords-1:0][31:0] config_data, binding_data;
  logic [31:0]                  config_mask;

  always_comb begin
    config_mask = '1;
    if (index_q == RING_BASE_OFFSET[5:2])       config_mask = 32'hfffff000;
    if (index_q == RING_COMPLETION_OFFSET[5:2]) config_mask = 32'hffffffc0;
  end

  for (genvar w = 0; w < ConfigWords; w++) begin : g_config
    datum_dma_table u_word (
      .clk_i, .rst_ni, .write_i(write_config && index_q == 4'(w)), .write_ring_i(ring_q), .write_data_i(wdata_q & config_mask),
      .a_ring_i(ring_q), .a_data_o(config_data[w]), .b_ring_i(bind_ring_i), .b_data_o(binding_data[w])
    );
  end

  logic [31:0] tail, head, bind_tail, bind_head, fault_info, fault_sequence;
  logic [63:0] fault_address;
  logic [31:0] unused_fault_info, unused_fault_sequence;
  logic [63:0] unused_fault_address;

  datum_dma_table u_tail (
    .clk_i, .rst_ni, .write_i(tail_taken || start), .write_ring_i(ring_q), .write_data_i(start ? '0 : wdata_q),
    .a_ring_i(ring_q), .a_data_o(tail), .b_ring_i(bind_ring_i), .b_data_o(bind_tail)
  );
  datum_dma_table u_head (
    .clk_i, .rst_ni, .write_i(release_valid_i), .write_ring_i(release_i.ring), .write_data_i(release_i.head),
    .a_ring_i(ring_q), .a_data_o(head), .b_ring_i(bind_ring_i), .b_data_o(bind_head)
  );
  datum_dma_table u_fault_info (
    .clk_i, .rst_ni, .write_i(fail_valid_i), .write_ring_i(fail_i.ring),
    .write_data_i({fail_i.space, fail_i.write, fail_i.reason, fail_i.status}),
    .a_ring_i(ring_q), .a_data_o(fault_info), .b_ring_i('0), .b_data_o(unused_fault_info)
  );
  datum_dma_table u_fault_sequence (
    .clk_i, .rst_ni, .write_i(fail_valid_i), .write_ring_i(fail_i.ring), .write_data_i(fail_i.sequence_number),
    .a_ring_i(ring_q), .a_data_o(fault_sequence), .b_ring_i('0), .b_data_o(unused_fault_sequence)
  );
  datum_dma_table #(.Width(64)) u_fault_address (
    .clk_i, .rst_ni, .write_i(fail_valid_i), .write_ring_i(fail_i.ring), .write_data_i(fail_i.address),
    .a_ring_i(ring_q), .a_data_o(fault_address), .b_ring_i('0), .b_data_o(unused_fault_address)
  );

  logic [3:0] weight, bind_weight;
  datum_dma_table #(.Width(4)) u_weight (
    .clk_i, .rst_ni, .write_i(write_config && index_q == RING_WEIGHT_OFFSET[5:2]), .write_ring_i(ring_q), .write_data_i(wdata_q[3:0]),
    .a_ring_i(ring_q), .a_data_o(weight), .b_ring_i(bind_ring_i), .b_data_o(bind_weight)
  );

  // Descriptors that made way in the middle.
  suspended_t suspended [64];
  always_ff @(posedge clk_i) if (release_valid_i && release_i.midway) suspended[release_i.ring] <= release_i.suspended;
  assign midway_o = midway_q[bind_ring_i];
  always_comb begin
    resumed_o = '0;
    if (bind_i && midway_o) resumed_o = suspended[bind_ring_i];
  end

  assign binding_o = '{
    ring: bind_ring_i, base: {binding_data[1], binding_data[0]}, completion: {binding_data[3], binding_data[2]},
    spaces: {binding_data[5], binding_data[4]}, size_log2: binding_data[6],
    head: head_zero_q[bind_ring_i] ? '0 : bind_head, tail: bind_tail, parked: parked_q[bind_ring_i],
    weight: bind_weight
  };

  logic [31:0] live_head;
  always_comb begin
    live_head = head_zero_q[ring_q] ? '0 : head;
    for (int unsigned c = 0; c < ChannelCount; c++)
      if (bound_i[c] && bound_ring_i[c] == ring_q && !stopping_q[ring_q]) live_head = bound_head_i[c];
  end

  logic [2:0] state;
  logic       busy;
  assign busy = bound_q[ring_q] || record_busy_i[ring_q];
  always_comb begin
    if (stopping_q[ring_q] || (!enabled_q[ring_q] && busy)) state = RING_STATE_STOPPING;
    else if (!enabled_q[ring_q])                           state = RING_STATE_DISABLED;
    else if (faulted_q[ring_q])                            state = busy ? RING_STATE_ACTIVE : RING_STATE_FAULTED;
    else if (parked_q[ring_q])                             state = RING_STATE_PARKED;
    else if (busy || ready_q[ring_q])                      state = RING_STATE_ACTIVE;
    else                                                   state = RING_STATE_IDLE;
  end

  // A fault record shows until the ring starts again.
  logic fault_valid;
  assign fault_valid = failed_q[ring_q];

  always_ff @(posedge clk_i) begin
    reg_rvalid_o <= pending_q;
    reg_rdata_o  <= '0;
    if (exists && !page_q) begin
      if (index_q < 4'(ConfigWords))                         reg_rdata_o <= config_data[index_q[2:0]];
      else if (index_q == RING_CONTROL_OFFSET[5:2])          reg_rdata_o <= 32'(enabled_q[ring_q]);
      else if (index_q == RING_WEIGHT_OFFSET[5:2])           reg_rdata_o <= 32'(weight);
    end else if (exists) begin
      unique case (index_q)
        RING_TAIL_OFFSET[5:2]:                 reg_rdata_o <= tail;
        RING_HEAD_OFFSET[5:2]:                 reg_rdata_o <= live_head;
        RING_STATE_OFFSET[5:2]:                reg_rdata_o <= 32'(state);
        RING_FAULT_INFO_OFFSET[5:2]:           reg_rdata_o <= fault_valid ? fault_info : '0;
        RING_FAULT_SEQUENCE_OFFSET[5:2]:       reg_rdata_o <= fault_valid ? fault_sequence : '0;
        RING_FAULT_ADDRESS_OFFSET[5:2]:        reg_rdata_o <= fault_valid ? fault_address[31:0] : '0;
        RING_FAULT_ADDRESS_OFFSET[5:2] + 4'd1: reg_rdata_o <= fault_valid ? fault_address[63:32] : '0;
        default:                               reg_rdata_o <= '0;
      endcase
    end
    if (!rst_ni) reg_rvalid_o <= 1'b0;
  end

  // ---- parked rings ---------------------------------------------------------------------------------------------------------

  watch_t       watch_q [64];
  logic [63:0]  woken_q;
  logic         landed_any, drained_q;
  logic [63:0]  recheck_at_q;
  logic         recheck;

  always_comb begin
    landed_any = 1'b0;
    for (int unsigned m = 0; m < ManagerCount; m++) landed_any |= landed_i[m].valid;
  end

  always_ff @(posedge clk_i) begin
    if (release_valid_i && release_i.park) watch_q[release_i.ring] <= release_i.watch;
    woken_q <= '0;
    if (landed_any && parked_q != '0) begin
      for (int unsigned r = 0; r < 64; r++)
        for (int unsigned m = 0; m < ManagerCount; m++)
          if (watch_hit(landed_i[m], watch_q[r])) woken_q[r] <= parked_q[r];
    end
    // What a parked ring watches rests on a translation that may be about to change.
    drained_q <= drain_i;
  end

  assign recheck = parked_q != '0 && park_recheck_ns_i != '0 && timer_i >= recheck_at_q;
  always_ff @(posedge clk_i) begin
    if (parked_q == '0 || recheck || !rst_ni) recheck_at_q <= timer_i + 64'(park_recheck_ns_i);
  end

  // ---- who is ready -----------------------------------------------------------------------------------------------------------

  logic [63:0] start_bit, stop_bit, bind_bit, release_bit, fail_bit, resumed_bits, ring_bit;
  logic [63:0] ready_set;
  assign ring_bit    = bit_of(1'b1, ring_q);
  assign start_bit   = start ? ring_bit : '0;
  assign stop_bit    = stop ? ring_bit : '0;
  assign bind_bit    = bit_of(bind_i, bind_ring_i);
  assign release_bit = bit_of(release_valid_i, release_i.ring);
  assign fail_bit    = bit_of(fail_valid_i, fail_i.ring);
  always_comb begin
    resumed_bits = '0;
    for (int unsigned c = 0; c < ChannelCount; c++) resumed_bits |= bit_of(resumed_i[c], bound_ring_i[c]);
  end

  assign ready_set = (tail_taken && !(parked_q[ring_q] && !bound_q[ring_q]) ? ring_bit : '0) |
                     (write_kick ? ring_bit : '0) |
                     (kick_all_i ? parked_q | bound_q : '0) |
                     (recheck || (drained_q && !drain_i) ? parked_q : '0) | woken_q |
                     (release_i.again ? release_bit & ~stopping_q : '0);

  always_ff @(posedge clk_i) begin
    enabled_q   <= (enabled_q | start_bit) & ~stop_bit;
    bound_q     <= (bound_q | bind_bit) & ~release_bit;
    stopping_q  <= (stopping_q | stop_bit) & ((bound_q | bind_bit) & ~release_bit);
    ready_q     <= ((ready_q & ~bind_bit) | ready_set) & enabled_q & ~stop_bit & ~faulted_q & ~fail_bit;
    parked_q    <= ((parked_q & ~resumed_bits) | (release_i.park ? release_bit & ~stopping_q : '0)) & ~stop_bit & ~fail_bit & ~start_bit;
    midway_q    <= ((midway_q & ~bind_bit) | (release_i.midway ? release_bit & ~stopping_q : '0)) & ~stop_bit & ~start_bit;
    faulted_q   <= (faulted_q | (fail_bit & ~stopping_q)) & ~stop_bit & ~start_bit;
    failed_q    <= (failed_q | (fail_bit & ~stopping_q)) & ~start_bit;
    head_zero_q <= (head_zero_q | start_bit) & ~(release_bit & ~stopping_q);
    if (!rst_ni) begin
      enabled_q   <= '0;
      bound_q     <= '0;
      stopping_q  <= '0;
      ready_q     <= '0;
      parked_q    <= '0;
      midway_q    <= '0;
      faulted_q   <= '0;
      failed_q    <= '0;
      head_zero_q <= '1;
    end
  end

  assign eligible_o = ready_q & enabled_q & ~bound_q & ~faulted_q & ~stopping_q;
  assign faulted_o  = faulted_q;
  assign stopping_o = stopping_q;
  assign stopped_o  = stop_bit;
  assign doorbell_o = '{valid: tail_taken, ring: ring_q, tail: wdata_q};
  assign parked_o   = parked_q != '0;
  assign idle_o     = ready_q == '0 && bound_q == '0 && woken_q == '0 && !pending_q && !reg_rvalid_o && !landed_any && record_busy_i == '0;

  // ---- rules --------------------------------------------------------------------------------------------------------------------

  bind_free_ring:    assert property (@(posedge clk_i) disable iff (!rst_ni) bind_i |-> eligible_o[bind_ring_i]);
  release_bound:     assert property (@(posedge clk_i) disable iff (!rst_ni) release_valid_i |-> bound_q[release_i.ring]);
  parked_is_enabled: assert property (@(posedge clk_i) disable iff (!rst_ni) (parked_q & ~enabled_q) == '0);
  faulted_not_ready: assert property (@(posedge clk_i) disable iff (!rst_ni) (faulted_q & ready_q) == '0);
endmodule
