// Registers of error correction, scrubber and error injection, and the memory controller's interrupt.
module datum_memory_regs
  import datum_reg_pkg::*;
  import datum_dram_pkg::*;
(
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic [63:0] memory_bytes_i,

  input  logic        write_i,
  input  logic        inject_block_i,    // the access is to the inject block, else to the memory block
  input  logic [18:0] offset_i,
  input  logic [31:0] wdata_i,
  output logic [63:0] value_o,           // of the register; a 32-bit one stands in both halves
  output logic        wide_o,

  input  logic        ecc_valid_i,
  input  ecc_event_t  ecc_i,

  output logic        scrub_valid_o,
  input  logic        scrub_ready_i,
  output column_t     scrub_column_o,
  input  logic        scrubbing_i,
  output logic        inject_valid_o,
  input  logic        inject_ready_i,
  output column_t     inject_column_o,
  output injection_t  injection_o,
  input  logic        injecting_i,

  output logic        irq_valid_o,
  input  logic        irq_ready_i,
  output logic        idle_o
);
  logic [18:0] base_offset;              // of the 64-bit register
  logic        high, write_memory, write_inject, clear_counts, clear_logs;

  assign base_offset  = {offset_i[18:3], 3'd0};
  assign high         = offset_i[2];
  assign write_memory = write_i && !inject_block_i;
  assign write_inject = write_i && inject_block_i;
  assign clear_counts = write_memory && offset_i == ECC_CLEAR_OFFSET && wdata_i[ECC_CLEAR_COUNTS_LSB];
  assign clear_logs   = write_memory && offset_i == ECC_CLEAR_OFFSET && wdata_i[ECC_CLEAR_LOGS_LSB];

  // --- errors

  logic [63:0]          corrected_count_q, failed_count_q, corrected_address, failed_address;
  logic [31:0]          corrected_info, failed_info;
  logic [LaneCount-1:0] corrected, failed;
  logic                 corrected_taken, failed_taken, irq_q;

  assign corrected = ecc_valid_i ? ecc_i.corrected : '0;
  assign failed    = ecc_valid_i ? ecc_i.failed : '0;

  datum_ecc_log u_corrected (
    .clk_i, .rst_ni, .clear_i(clear_logs), .lanes_i(corrected), .event_i(ecc_i), .info_o(corrected_info), .address_o(corrected_address),
    .taken_o(corrected_taken)
  );
  datum_ecc_log u_failed (
    .clk_i, .rst_ni, .clear_i(clear_logs), .lanes_i(failed), .event_i(ecc_i), .info_o(failed_info), .address_o(failed_address),
    .taken_o(failed_taken)
  );

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      corrected_count_q <= '0;
      failed_count_q    <= '0;
      irq_q             <= 1'b0;
    end else begin
      if (ecc_valid_i || clear_counts) begin
        corrected_count_q <= (clear_counts ? '0 : corrected_count_q) + 64'($countones(corrected));
        failed_count_q    <= (clear_counts ? '0 : failed_count_q) + 64'($countones(failed));
      end
      irq_q <= corrected_taken || failed_taken || (irq_q && !irq_ready_i);
    end
  end

  assign irq_valid_o = irq_q;

  // --- scrubber

  logic [63:0] scrub_position, scrub_remaining;
  logic [31:0] scrub_interval;
  logic        scrub_idle;

  datum_scrubber u_scrubber (
    .clk_i, .rst_ni, .memory_bytes_i,
    .write_position_i (write_memory && base_offset == SCRUB_POSITION_OFFSET),
    .write_remaining_i(write_memory && base_offset == SCRUB_REMAINING_OFFSET),
    .write_interval_i (write_memory && offset_i == SCRUB_INTERVAL_OFFSET),
    .high_i           (high),
    .wdata_i,
    .position_o       (scrub_position),
    .remaining_o      (scrub_remaining),
    .interval_o       (scrub_interval),
    .valid_o          (scrub_valid_o),
    .ready_i          (scrub_ready_i),
    .column_o         (scrub_column_o),
    .scrubbing_i,
    .idle_o           (scrub_idle)
  );

  // --- injection

  logic [38:3] inject_word_q;
  logic [63:0] inject_data_q;
  logic [7:0]  inject_check_q;
  logic        inject_q, inject_start, inject_busy;

  assign inject_busy     = inject_q || injecting_i;
  assign inject_start    = write_inject && offset_i == INJECT_COMMAND_OFFSET && wdata_i[INJECT_COMMAND_BUSY_LSB]
                           && 64'({inject_word_q, 3'd0}) < memory_bytes_i;
  assign inject_valid_o  = inject_q;
  assign inject_column_o = inject_word_q[38:6];
  assign injection_o     = '{lane: inject_word_q[5:3], data: inject_data_q, check: inject_check_q};

  // While an injection is under way its registers stay.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      inject_word_q  <= '0;
      inject_data_q  <= '0;
      inject_check_q <= '0;
      inject_q       <= 1'b0;
    end else begin
      if (inject_q && inject_ready_i) inject_q <= 1'b0;
      if (!inject_busy) begin
        if (inject_start) inject_q <= 1'b1;
        if (write_inject && base_offset == INJECT_ADDRESS_OFFSET && !high) inject_word_q[31:3] <= wdata_i[31:3];
        if (write_inject && base_offset == INJECT_ADDRESS_OFFSET && high) inject_word_q[38:32] <= wdata_i[6:0];
        if (write_inject && base_offset == INJECT_DATA_OFFSET && !high) inject_data_q[31:0] <= wdata_i;
        if (write_inject && base_offset == INJECT_DATA_OFFSET && high) inject_data_q[63:32] <= wdata_i;
        if (write_inject && offset_i == INJECT_CHECK_OFFSET) inject_check_q <= wdata_i[7:0];
      end
    end
  end

  // --- reading

  function automatic logic [63:0] twice(input logic [31:0] word);
    return {word, word};
  endfunction

  always_comb begin
    value_o = '0;
    wide_o  = 1'b1;
    if (inject_block_i) begin
      unique case (base_offset)
        INJECT_ADDRESS_OFFSET: value_o = 64'({inject_word_q, 3'd0});
        INJECT_DATA_OFFSET:    value_o = inject_data_q;
        INJECT_CHECK_OFFSET: begin
          wide_o  = 1'b0;
          value_o = {32'(inject_busy), 32'(inject_check_q)};
        end
        default: wide_o = 1'b0;
      endcase
    end else begin
      unique case (base_offset)
        ECC_CORRECTED_COUNT_OFFSET:     value_o = corrected_count_q;
        ECC_UNCORRECTED_COUNT_OFFSET:   value_o = failed_count_q;
        ECC_CORRECTED_ADDRESS_OFFSET:   value_o = corrected_address;
        ECC_UNCORRECTED_ADDRESS_OFFSET: value_o = failed_address;
        SCRUB_POSITION_OFFSET:          value_o = scrub_position;
        SCRUB_REMAINING_OFFSET:         value_o = scrub_remaining;
        default: begin
          wide_o = 1'b0;
          unique case (offset_i)
            ECC_CORRECTED_INFO_OFFSET:   value_o = twice(corrected_info);
            ECC_UNCORRECTED_INFO_OFFSET: value_o = twice(failed_info);
            SCRUB_INTERVAL_OFFSET:       value_o = twice(scrub_interval);
            default:                     value_o = '0;
          endcase
        end
      endcase
    end
  end

  assign idle_o = !ecc_valid_i && !irq_q && scrub_idle && !inject_busy;

  if (INJECT_COMMAND_OFFSET != INJECT_CHECK_OFFSET + 19'd4) begin : gen_bad
    $error("INJECT_CHECK and INJECT_COMMAND are read as one pair");
  end
endmodule
