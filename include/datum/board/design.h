/* What a library of somebody's own RTL exports, so that it can be the board of an `rtl:design=...` address.
   C, so that compiler and library of whoever builds it need not be ours. `datum_add_board()` of
   find_package(Datum) makes such a library; docs/bring-up.md shows how. */
#ifndef DATUM_BOARD_DESIGN_H
#define DATUM_BOARD_DESIGN_H

#include <stdint.h>

#include <datum/board/design_ports.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with each change of this file or of the ports. */
#define DATUM_DESIGN_INTERFACE 2
#define DATUM_DESIGN_ENTRY "datum_board_design"

/* 512 bits of a bus, the lowest word first. */
typedef struct datum_design_wide {
  uint32_t words[16];
} datum_design_wide;

/* Where a model keeps its ports; valid until it is closed. */
typedef struct datum_design_ports {
#define DATUM_DESIGN_P8(name) uint8_t* name;
#define DATUM_DESIGN_P16(name) uint16_t* name;
#define DATUM_DESIGN_P32(name) uint32_t* name;
#define DATUM_DESIGN_P64(name) uint64_t* name;
#define DATUM_DESIGN_P512(name) datum_design_wide* name;
  DATUM_DESIGN_PORTS(DATUM_DESIGN_P8, DATUM_DESIGN_P16, DATUM_DESIGN_P32, DATUM_DESIGN_P64, DATUM_DESIGN_P512)
#undef DATUM_DESIGN_P8
#undef DATUM_DESIGN_P16
#undef DATUM_DESIGN_P32
#undef DATUM_DESIGN_P64
#undef DATUM_DESIGN_P512
} datum_design_ports;

typedef struct datum_design_settings {
  uint64_t seed;             /* of the values that registers have before reset, in an instrumented model */
  const char* coverage_file; /* written when the model is closed, at the process's exit at the latest; empty:
                                none. Instrumented models only, as is the next */
  uint32_t waveforms;        /* 1: open_waveform may be called */
} datum_design_settings;

/* A model of the RTL, open. One thread at a time uses it. */
typedef struct datum_design_model datum_design_model;

typedef struct datum_design {
  uint32_t interface_version; /* DATUM_DESIGN_INTERFACE */
  uint32_t ports_bytes;       /* sizeof(datum_design_ports) */
  const char* name;
  const char*
      options; /* what addresses of this board start from, in the syntax of docs/simulation.md: its sizes */
  uint16_t vendor_id; /* PCI */
  uint16_t device_id;
  uint32_t instrumented; /* 1: there is an instrumented model, too */

  /* Null: no memory. Fills `ports`. `instrumented`: 0 or 1. */
  datum_design_model* (*open)(const datum_design_settings* settings, uint32_t instrumented,
                              datum_design_ports* ports);
  /* Lets the model see its inputs. Null, or why it cannot go on (a failed assertion): valid until it is
   * closed. */
  const char* (*evaluate)(datum_design_model* model);
  /* Begins a waveform (FST) in `file`, of the signals below these scopes ("TOP.board.unit"); of none of them:
   * of all. Whatever the file held is gone. */
  void (*open_waveform)(datum_design_model* model, const char* file, const char* const* scopes,
                        uint32_t scope_count);
  /* Puts the signals into the waveform, if one is open. */
  void (*dump)(datum_design_model* model, uint64_t time_ps);
  /* What was dumped goes to the file with the next dump. */
  void (*flush_waveform)(datum_design_model* model);
  /* The file is whole afterwards; at the process's exit it is closed, too. */
  void (*close_waveform)(datum_design_model* model);
  void (*close)(datum_design_model* model);
} datum_design;

/* The library's one symbol. What it gives stays as it is, for as long as the process lives. */
typedef const datum_design* (*datum_design_entry)(void);

#ifdef __cplusplus
}
#endif

#endif
