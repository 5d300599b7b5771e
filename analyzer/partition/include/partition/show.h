#pragma once

#include <stdio.h>

#include <partition/declared.h>

/*
 * `map show`: the map as it was understood, also one that was refused (the *rejected of
 * ft_map_load()). JSON is pmap-normalised/1 (docs/formats.md): partitions[] with rules[] in file
 * order and keywords unexpanded, diagnostics[], and for OpenSM files effective[], the P_Key tables
 * that OpenSM gives the ports of the topology. A file that OpenSM drops shows no partitions;
 * intended[] is what was read before the error.
 * 0, -ENOMEM, or why `out` took less than all. Names in text stand as the map has them: for a terminal see report/plain.h.
 */
int ft_map_show(const struct ft_declared *declared, bool json, FILE *out);

/*
 * `map check`: one line per diagnostic, "map.conf:7: error: bad-port-guid: a sentence", then one
 * line with the verdict. JSON: {"schema": "fabtap.map-check/1", "file", "format", "verdict",
 * "diagnostics": [...]}. 0, -ENOMEM, or why it could not be written. Names as above.
 */
int ft_map_check_write(const struct ft_declared *declared, bool json, FILE *out);

/* "ok", "warn", "fail_open", "reject", as documents write it. Static. */
const char *ft_map_verdict_word(enum ft_map_verdict verdict);

/* "info" (FT_NOTE), "warning", "error". Static. */
const char *ft_diagnostic_severity_word(enum ft_diagnostic_severity severity);
