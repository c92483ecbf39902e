// Writes completion records, raises interrupts after them, and says which rings failed.
// At most one record of a ring is outstanding, so the records of a ring are in order whichever channel they come from.
module datum_dma_record
  import datum_pkg::*;
  import datum_reg_pkg::*;
  import datum_dma_pkg::*;
#(
  parameter int unsigned ChannelCount = 4,
  parameter int unsigned RingCount    = 64
) (
  input  logic                          clk_i,
  input  logic                          rst_ni,
  input  logic                          drain_i,
  output logic                          idle_o,       // no write outstanding
  input  logic [63:0]                   timer_i,
  input  logic [63:0]                   cycles_i,

  input  logic [ChannelCount-1:0]       req_valid_i,
  input  record_t [ChannelCount-1:0]    req_i,
  output logic [ChannelCount-1:0]       req_ready_o,

  input  logic [63:0]                   stopped_i,    // rings being disabled: what is outstanding for them has no effect any more
  output logic [63:0]                   busy_o,       // rings with a record or an interrupt outstanding

  // Fault records of the rings: the ring fails now, and its registers get this.
  output logic                          fail_valid_o,
  output fault_t                        fail_o,

  // A failed ring whose record was answered.
  output logic                          fault_valid_o,
  output fault_t                        fault_o,

  output logic                          irq_valid_o,
  output logic [6:0]                    irq_vector_o,
  input  logic                          irq_ready_i,

  output logic                          awvalid_o,
  output axi_ax_t                       aw_o,
  input  logic                          awready_i,
  output logic                          wvalid_o,
  output axi_w_t                        w_o,
  input  logic                          wready_i,
  input  logic                          bvalid_i,
  input  axi_b_t                        b_i,
  output logic                          bready_o
);
  typedef struct packed {
    logic         unreachable;    // the address is wider than the bus: no write was made
    logic         raise;
    logic         failed;
    fault_t       fault;
    logic [63:0]  completion;
  } answer_t;

  function automatic logic [63:0] bit_of(input logic [RingWidth-1:0] ring);
    bit_of = 64'd1 << ring;
  endfunction

  logic [63:0]              busy_q, void_q, interrupt_q;
  logic                     fault_interrupt_q;
  logic [ChannelCount-1:0]  turn_q, candidates, chosen, open;
  logic                     accept, free, answer_ready, answer_valid, answer_pop, answer_bad, unreachable;
  answer_t                  answer_in, answer;
  record_t                  request;

  for (genvar c = 0; c < ChannelCount; c++) begin : g_open
    assign open[c] = req_valid_i[c] && !busy_q[req_i[c].ring];
  end
  assign free        = !awvalid_o && (!wvalid_o || wready_i) && answer_ready && !drain_i;
  assign candidates  = (open & turn_q) != '0 ? open & turn_q : open;
  assign chosen      = candidates & (~candidates + 1'b1);
  // The answer of a failed record writes the fault registers too; it goes first.
  assign accept      = open != '0 && free && !answer_pop;
  assign req_ready_o = accept ? chosen : '0;
  always_comb begin
    request = '0;
    if (accept) begin
      request = req_i[0];
      for (int unsigned c = 1; c < ChannelCount; c++) if (chosen[c]) request = req_i[c];
    end
  end

  // For waveforms: what CYCLES of the record finds.
  logic [31:0] record_sequence;
  assign record_sequence = request.sequence_number;

  assign unreachable = request.completion[63:PaWidth] != '0;
  always_comb begin
    answer_in = '0;
    if (accept) answer_in = '{
      unreachable: unreachable, raise: request.raise, failed: request.failed,
      fault: '{ring: request.ring, status: request.cause.status, reason: request.cause.reason, write: request.cause.write,
               space: request.cause.space, address: request.cause.address, sequence_number: request.sequence_number},
      completion: request.completion
    };
  end

  datum_dma_queue #(.Width($bits(answer_t)), .Depth(16)) u_answers (
    .clk_i, .rst_ni, .clear_i(1'b0), .push_i(accept), .data_i(answer_in), .ready_o(answer_ready),
    .valid_o(answer_valid), .data_o(answer), .pop_i(answer_pop)
  );

  logic unused_b;
  assign unused_b = ^{b_i.id, b_i.resp[0]};

  // A record that was not written has no answer; while it is the oldest one, an answer belongs to one behind it.
  assign bready_o   = !(answer_valid && answer.unreachable);
  assign answer_pop = answer_valid && (answer.unreachable || bvalid_i);
  assign answer_bad = answer.unreachable || b_i.resp[1];
  assign idle_o     = !answer_valid && !awvalid_o && !wvalid_o;

  // ---- failures -------------------------------------------------------------------------------------------------------

  logic   answer_void;
  fault_t record_fault;
  assign answer_void  = void_q[answer.fault.ring] || stopped_i[answer.fault.ring];

  assign fault_valid_o = answer_pop && !answer_void && (answer.failed || answer_bad);
  assign fail_valid_o  = answer_pop ? answer_bad && !answer_void : accept && request.failed;
  always_comb begin
    record_fault = '0;
    fault_o      = '0;
    fail_o       = answer_in.fault;
    if (answer_pop) begin
      record_fault = '{ring: answer.fault.ring, status: STATUS_HOST_BUS, reason: FAULT_REASON_COMPLETION_WRITE, write: 1'b1,
                       space: '0, address: answer.completion, sequence_number: answer.fault.sequence_number};
      fault_o      = answer_bad ? record_fault : answer.fault;
      fail_o       = record_fault;
    end
  end

  // ---- interrupts -------------------------------------------------------------------------------------------------------

  logic [63:0]  next_interrupt, raise;
  logic [5:0]   next_index;
  assign next_interrupt = interrupt_q & (~interrupt_q + 1'b1);
  assign raise = answer_pop && !answer_void && !answer_bad && (answer.raise || answer.failed) ? bit_of(answer.fault.ring) : '0;
  assign next_index = {|(next_interrupt & 64'hffffffff00000000), |(next_interrupt & 64'hffff0000ffff0000),
                       |(next_interrupt & 64'hff00ff00ff00ff00), |(next_interrupt & 64'hf0f0f0f0f0f0f0f0),
                       |(next_interrupt & 64'hcccccccccccccccc), |(next_interrupt & 64'haaaaaaaaaaaaaaaa)};
  logic take_interrupt, take_fault;
  assign take_fault     = (!irq_valid_o || irq_ready_i) && fault_interrupt_q;
  assign take_interrupt = (!irq_valid_o || irq_ready_i) && !fault_interrupt_q && interrupt_q != '0;

  assign busy_o = busy_q | interrupt_q | (irq_valid_o && !irq_vector_o[6] ? bit_of(irq_vector_o[5:0]) : '0);

  always_ff @(posedge clk_i) begin
    if (wready_i) wvalid_o <= 1'b0;
    // Data follows its address.
    if (awvalid_o && awready_i) begin
      awvalid_o <= 1'b0;
      wvalid_o  <= 1'b1;
    end
    if (accept) begin
      turn_q    <= ~(chosen | (chosen - 1'b1));
      awvalid_o <= !unreachable;
      aw_o      <= '{id: '0, addr: '{target: TargetHost, address: {request.completion[PaWidth-1:WordShift], {WordShift{1'b0}}}}, len: '0};
      w_o.data  <= {192'd0, cycles_i, request.cause.address, 32'd0, request.head, timer_i, 16'(request.ring), request.cause.reason,
                    request.cause.status, record_sequence};
      w_o.strb  <= '1;
      w_o.last  <= 1'b1;
    end
    busy_q      <= (busy_q & ~(answer_pop ? bit_of(answer.fault.ring) : '0)) | (accept ? bit_of(request.ring) : '0);
    void_q      <= (void_q | (stopped_i & (busy_q | (accept ? bit_of(request.ring) : '0)))) & ~(answer_pop ? bit_of(answer.fault.ring) : '0);
    interrupt_q <= (interrupt_q & ~(take_interrupt ? next_interrupt : '0)) | raise;
    if (take_fault) fault_interrupt_q <= 1'b0;
    if (fault_valid_o) fault_interrupt_q <= 1'b1;
    if (irq_ready_i) irq_valid_o <= 1'b0;
    if (take_fault || take_interrupt) begin
      irq_valid_o  <= 1'b1;
      irq_vector_o <= take_fault ? 7'(RingCount) : {1'b0, next_index};
    end
    if (!rst_ni) begin
      awvalid_o         <= 1'b0;
      wvalid_o          <= 1'b0;
      turn_q            <= '0;
      busy_q            <= '0;
      void_q            <= '0;
      interrupt_q       <= '0;
      fault_interrupt_q <= 1'b0;
      irq_valid_o       <= 1'b0;
    end
  end

  address_stays:   assert property (@(posedge clk_i) disable iff (!rst_ni) awvalid_o && !awready_i |=> awvalid_o && $stable(aw_o));
  data_stays:      assert property (@(posedge clk_i) disable iff (!rst_ni) wvalid_o && !wready_i |=> wvalid_o && $stable(w_o));
  interrupt_stays: assert property (@(posedge clk_i) disable iff (!rst_ni) irq_valid_o && !irq_ready_i |=> irq_valid_o && $stable(irq_vector_o));
  one_record:      assert property (@(posedge clk_i) disable iff (!rst_ni) accept |-> !busy_q[request.ring]);
endmodule
