// The descriptors of a channel that have begun: retires them in order, once all their writes were answered, and remembers the first failure.
module datum_dma_tracker
  import datum_pkg::*;
  import datum_dma_pkg::*;
(
  input  logic            clk_i,
  input  logic            rst_ni,
  input  logic            clear_i,
  input  logic            hold_i,           // retire nothing

  // A descriptor begins. With note_i its entry is written and it does not count yet.
  input  logic            push_i,
  input  logic            note_i,
  input  logic            writes_i,         // it retires when done_i says so; else as soon as it is the oldest
  input  logic            bad_i,            // it fails for cause_i when it is the oldest
  input  cause_t          cause_i,
  input  logic            complete_i,
  input  logic            interrupt_i,
  input  logic [31:0]     sequence_number_i,
  input  logic [31:0]     head_i,           // after it
  output logic            ready_o,
  output logic            empty_o,
  output logic            single_o,         // one descriptor has begun and not retired
  output slot_t           next_slot_o,      // of the descriptor that begins
  output slot_t           oldest_o,

  input  logic            done_i,           // one more descriptor's writes were all answered

  // Failures, from the oldest descriptor that can be concerned to the youngest.
  input  logic [4:0]      failure_valid_i,
  input  failure_t [4:0]  failure_i,
  output logic            failing_o,        // a begun descriptor has failed; writes from failing_slot_o on must not begin
  output slot_t           failing_slot_o,
  output logic            failed_o,         // the oldest descriptor is the one that failed
  output cause_t          failed_cause_o,

  output logic            retire_o,
  output logic            complete_o,
  output logic            interrupt_o,
  output logic [31:0]     sequence_number_o, // of the oldest descriptor
  output logic [31:0]     head_o
);
  localparam int unsigned Slots = 2 ** SlotWidth;

  typedef struct packed {
    logic         writes;
    logic         bad;
    logic         complete;
    logic         raise;
    logic [31:0]  sequence_number;
    logic [31:0]  head;
  } entry_t;

  entry_t               entries [Slots];
  entry_t               oldest;
  slot_t                next_q, oldest_q;
  logic [SlotWidth:0]   count_q, done_q;
  logic                 failing_q;
  failure_t             failing_info_q;
  cause_t               bad_cause_q;

  assign oldest         = entries[oldest_q];
  assign empty_o        = count_q == '0;
  assign single_o       = count_q == (SlotWidth + 1)'(1);
  assign ready_o        = count_q < (SlotWidth + 1)'(Slots - 1);
  assign next_slot_o    = next_q;
  assign oldest_o       = oldest_q;
  assign failing_o      = failing_q;
  assign failing_slot_o = failing_info_q.slot;
  assign sequence_number_o = oldest.sequence_number;
  assign head_o         = oldest.head;
  assign complete_o     = oldest.complete;
  assign interrupt_o    = oldest.raise;

  logic own_failure;
  assign own_failure    = failing_q && failing_info_q.slot == oldest_q;
  assign failed_o       = own_failure || (!empty_o && oldest.bad);
  always_comb begin
    failed_cause_o = '0;
    if (failed_o) failed_cause_o = own_failure ? failing_info_q.cause : bad_cause_q;
  end
  assign retire_o       = !empty_o && !failed_o && !hold_i && (!oldest.writes || done_q != '0);

  // The oldest of the failures that are reported now.
  logic     reported;
  failure_t report;
  always_comb begin
    reported = failure_valid_i != '0;
    report   = '0;
    if (reported) begin
      report = failure_i[4];
      for (int i = 3; i >= 0; i--) if (failure_valid_i[i]) report = failure_i[i];
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i || note_i) begin
      entries[next_q] <= '{writes: writes_i, bad: bad_i, complete: complete_i, raise: interrupt_i,
                           sequence_number: sequence_number_i, head: head_i};
      if (bad_i) bad_cause_q <= cause_i;
    end
    if (push_i) next_q <= next_q + 1'b1;
    if (retire_o) oldest_q <= oldest_q + 1'b1;
    count_q <= count_q + (SlotWidth + 1)'(push_i) - (SlotWidth + 1)'(retire_o);
    done_q  <= done_q + (SlotWidth + 1)'(done_i) - (SlotWidth + 1)'(retire_o && oldest.writes);
    if (reported && (!failing_q || slot_t'(report.slot - oldest_q) < slot_t'(failing_info_q.slot - oldest_q))) begin
      failing_q      <= 1'b1;
      failing_info_q <= report;
    end
    if (clear_i || !rst_ni) begin
      next_q    <= '0;
      oldest_q  <= '0;
      count_q   <= '0;
      done_q    <= '0;
      failing_q <= 1'b0;
    end
  end

  push_when_ready:   assert property (@(posedge clk_i) disable iff (!rst_ni) push_i |-> ready_o);
  done_has_a_reason: assert property (@(posedge clk_i) disable iff (!rst_ni) done_q <= count_q);
endmodule
