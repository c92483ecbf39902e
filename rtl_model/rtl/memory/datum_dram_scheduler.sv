// Chooses the commands of each cycle: at most one activate, one precharge and one column access. Rows stay open until another one is
// wanted in their bank; banks are served in turn. Reads and writes are served in batches, since turning the data bus round costs cycles.
module datum_dram_scheduler
  import datum_dram_pkg::*;
#(
  parameter dram_timing_t ResetTiming = Ddr4At300Mhz,
  parameter int unsigned BatchBeats = 64,       // of one direction while the other one waits
  parameter int unsigned HighWatermark = 64,    // waiting writes that end a batch of reads
  parameter int unsigned IdleCycles = 4,        // without a read before writes have their turn
  parameter int unsigned PatienceBeats = 256,   // reads served while any write waits, before writes have their turn
  parameter int unsigned WantedBeats = 16,      // reads served before writes that somebody waits for have their turn
  parameter int unsigned PrepareBeats = 12,     // before the end of a batch, in which rows are opened for the next one
  parameter int unsigned RefreshBatch = 2       // refreshes due before traffic is interrupted for them
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

  // A new timing comes into effect with a refresh.
  input  dram_timing_t           timing_i,
  input  logic                   timing_apply_i,
  output logic                   timing_taken_o,

  input  logic [BankCount-1:0]   read_has_i,
  input  logic [RowWidth-1:0]    read_row_i[BankCount],
  input  dram_entry_t            read_head_i[BankCount],
  input  logic [SlotWidth:0]     read_count_i,
  input  logic [BankCount-1:0]   write_has_i,
  input  logic [RowWidth-1:0]    write_row_i[BankCount],
  input  dram_entry_t            write_head_i[BankCount],
  input  logic [SlotWidth:0]     write_count_i,
  input  logic                   write_wanted_i,  // something waits for writes to be issued

  output logic                   column_o,        // a column access is chosen
  output logic                   column_write_o,
  output logic [BankWidth-1:0]   column_bank_o,
  output logic [ColumnWidth-1:0] column_address_o,
  output logic [TagWidth-1:0]    column_tag_o,

  output logic                   activate_o,
  output logic [BankWidth-1:0]   activate_bank_o,
  output logic [RowWidth-1:0]    activate_row_o,
  output logic                   precharge_o,
  output logic                   precharge_all_o,
  output logic [BankWidth-1:0]   precharge_bank_o,
  output logic                   refresh_o,

  output logic                   ready_o          // initialisation is done
);
  localparam int unsigned RefreshMaximum = 8;     // that may be postponed

  typedef enum logic [2:0] {
    StateRun,
    StateClose,      // no new accesses; rows are closed as soon as the rules allow
    StateClosed,     // waits until all banks may be refreshed
    StateRefresh,
    StateRecover
  } state_e;

  state_e               state_q;
  dram_timing_t         timing_q;       // in effect
  logic                 ready_q;
  logic [15:0]          interval_q;
  logic [3:0]           due_q;
  logic [11:0]          wait_q;
  logic                 write_mode_q;
  logic [7:0]           served_q;
  logic [8:0]           patience_q;
  logic [3:0]           idle_q;
  logic [BankCount-1:0] open_q;
  logic [RowWidth-1:0]  row_q[BankCount];

  logic [BankCount-1:0] activate_allowed, precharge_allowed, column_allowed;
  logic                 read_allowed, write_allowed;
  logic [BankCount-1:0] read_hit, write_hit;
  logic [BankCount-1:0] now_has, now_hit, next_has, next_hit;
  logic [BankCount-1:0] wanted, wanted_hit;
  logic [BankCount-1:0] column_request, activate_request, precharge_request;
  logic [BankCount-1:0] column_grant, activate_grant, precharge_grant;
  logic                 column_any, activate_any, precharge_any;
  logic [BankWidth-1:0] activate_bank, precharge_bank;
  logic                 running, prepare, idle, closing;
  logic [RowWidth-1:0]  column_row, column_wanted_row;
  dram_entry_t          column_entry;

  for (genvar b = 0; b < BankCount; b++) begin : gen_hit
    assign read_hit[b]  = open_q[b] && row_q[b] == read_row_i[b];
    assign write_hit[b] = open_q[b] && row_q[b] == write_row_i[b];
  end

  assign running  = state_q == StateRun;
  assign idle     = read_count_i == '0 && write_count_i == '0;
  assign now_has  = write_mode_q ? write_has_i : read_has_i;
  assign now_hit  = write_mode_q ? write_hit : read_hit;
  assign next_has = write_mode_q ? read_has_i : write_has_i;
  assign next_hit = write_mode_q ? read_hit : write_hit;

  // The other direction may open rows in banks that this one does not want, when its turn is near.
  assign prepare = now_has == '0
                   || (served_q >= 8'(BatchBeats - PrepareBeats) && (write_mode_q || write_count_i >= (SlotWidth + 1)'(HighWatermark)))
                   || patience_q >= 9'(PatienceBeats - PrepareBeats);
  assign wanted     = now_has | (prepare ? next_has : '0);
  assign wanted_hit = (now_has & now_hit) | (~now_has & next_hit);

  assign column_request    = now_has & now_hit & column_allowed & {BankCount{running && (write_mode_q ? write_allowed : read_allowed)}};
  assign activate_request  = wanted & ~open_q & activate_allowed & {BankCount{running}};
  assign precharge_request = wanted & open_q & ~wanted_hit & precharge_allowed & {BankCount{running}};

  datum_round_robin #(.Count(BankCount)) u_column (
    .clk_i, .rst_ni, .request_i(column_request), .take_i(1'b1), .any_o(column_any), .index_o(column_bank_o), .grant_o(column_grant)
  );
  datum_round_robin #(.Count(BankCount)) u_activate (
    .clk_i, .rst_ni, .request_i(activate_request), .take_i(1'b1), .any_o(activate_any), .index_o(activate_bank),
    .grant_o(activate_grant)
  );
  datum_round_robin #(.Count(BankCount)) u_precharge (
    .clk_i, .rst_ni, .request_i(precharge_request), .take_i(1'b1), .any_o(precharge_any), .index_o(precharge_bank),
    .grant_o(precharge_grant)
  );

  assign closing = state_q == StateClose && (open_q & ~precharge_allowed) == '0;

  datum_dram_timers u_timers (
    .clk_i,
    .rst_ni,
    .timing_i           (timing_q),
    .activate_i         (activate_grant),
    .precharge_i        (closing ? '1 : precharge_grant),
    .read_i             (write_mode_q ? '0 : column_grant),
    .write_i            (write_mode_q ? column_grant : '0),
    .activate_allowed_o (activate_allowed),
    .precharge_allowed_o(precharge_allowed),
    .column_allowed_o   (column_allowed),
    .read_allowed_o     (read_allowed),
    .write_allowed_o    (write_allowed)
  );

  assign column_o         = column_any;
  assign column_write_o   = write_mode_q;
  assign column_entry     = write_mode_q ? write_head_i[column_bank_o] : read_head_i[column_bank_o];
  assign column_address_o = column_entry.column;
  assign column_tag_o     = column_entry.tag;
  assign column_row        = row_q[column_bank_o];
  assign column_wanted_row = write_mode_q ? write_row_i[column_bank_o] : read_row_i[column_bank_o];
  assign activate_o       = activate_any;
  assign activate_bank_o  = activate_bank;
  assign activate_row_o   = now_has[activate_bank] == write_mode_q ? write_row_i[activate_bank] : read_row_i[activate_bank];
  assign precharge_o      = precharge_any || closing;
  assign precharge_all_o  = closing;
  assign precharge_bank_o = precharge_bank;
  assign refresh_o        = state_q == StateRefresh;
  assign ready_o          = ready_q;

  // Rows.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) open_q <= '0;
    else open_q <= (open_q | activate_grant) & ~precharge_grant & {BankCount{!closing}};
    if (activate_any) row_q[activate_bank] <= activate_row_o;
  end

  // Batches.
  logic turn;
  always_comb begin
    if (write_mode_q) begin
      turn = read_count_i != '0 && (write_count_i == '0 || served_q >= 8'(BatchBeats));
    end else begin
      turn = write_count_i != '0
             && ((read_count_i == '0 && idle_q >= 4'(IdleCycles)) || patience_q >= 9'(PatienceBeats)
                 || (write_wanted_i && (read_count_i == '0 || served_q >= 8'(WantedBeats)))
                 || (write_count_i >= (SlotWidth + 1)'(HighWatermark) && (served_q >= 8'(BatchBeats) || read_count_i == '0)));
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_mode_q <= 1'b0;
      served_q     <= '0;
      idle_q       <= '0;
      patience_q   <= '0;
    end else begin
      if (turn) begin
        write_mode_q <= !write_mode_q;
        served_q     <= '0;
      end else if (column_any && served_q < 8'(BatchBeats)) begin
        served_q <= served_q + 1'b1;
      end
      if (write_mode_q || write_count_i == '0) patience_q <= '0;
      else if (column_any && patience_q < 9'(PatienceBeats)) patience_q <= patience_q + 1'b1;
      if (write_mode_q || read_count_i != '0) idle_q <= '0;
      else if (idle_q < 4'(IdleCycles)) idle_q <= idle_q + 1'b1;
    end
  end

  // Refresh. The first one, right after reset, is the initialisation.
  logic refresh_start;
  dram_timing_t timing_now;
  assign timing_taken_o = refresh_o && timing_apply_i;
  assign timing_now     = timing_taken_o ? timing_i : timing_q;

  assign refresh_start = due_q >= 4'(RefreshBatch) || (due_q != '0 && idle);

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q    <= StateClose;
      ready_q    <= 1'b0;
      interval_q <= ResetTiming.t_refi - 1'b1;
      timing_q   <= ResetTiming;
      due_q      <= 4'd1;
      wait_q     <= '0;
    end else begin
      timing_q <= timing_now;
      if (interval_q == '0 || (timing_taken_o && interval_q >= timing_i.t_refi)) interval_q <= timing_now.t_refi - 1'b1;
      else interval_q <= interval_q - 1'b1;
      if (interval_q == '0 && !refresh_o && due_q < 4'(RefreshMaximum)) due_q <= due_q + 1'b1;
      else if (interval_q != '0 && refresh_o) due_q <= due_q - 1'b1;

      unique case (state_q)
        StateRun: if (refresh_start) state_q <= StateClose;
        StateClose: begin
          wait_q <= 12'(timing_q.t_rp) - 12'd2;
          if (closing) state_q <= StateClosed;
        end
        StateClosed: begin
          wait_q <= wait_q - 1'b1;
          if (wait_q == '0) state_q <= StateRefresh;
        end
        StateRefresh: begin
          wait_q  <= timing_now.t_rfc - 12'd2;
          state_q <= StateRecover;
        end
        StateRecover: begin
          wait_q <= wait_q - 1'b1;
          if (wait_q == '0) begin
            ready_q <= 1'b1;
            state_q <= due_q != '0 ? StateRefresh : StateRun;
          end
        end
        default: state_q <= StateClose;
      endcase
    end
  end

  refresh_with_rows_closed: assert property (@(posedge clk_i) disable iff (!rst_ni) refresh_o |-> open_q == '0);
  column_hits_open_row: assert property (@(posedge clk_i) disable iff (!rst_ni)
    column_o |-> open_q[column_bank_o] && column_row == column_wanted_row);
  nothing_is_blocked_by_an_old_timing: assert property (@(posedge clk_i) disable iff (!rst_ni)
    timing_taken_o |=> !(activate_o || precharge_o || column_o));
  refresh_not_overdue: assert property (@(posedge clk_i) disable iff (!rst_ni) due_q < 4'(RefreshMaximum));
endmodule
