#pragma once

#include <jansson.h>

#include <partition/declared.h>

/*
 * What verdicts go by beside who is a member of what: objects of a value for each name, so that two maps can be compared.
 * NULL: no memory.
 */

/* "quota_gbps of red", "encryption of red", "leaf of blue and red" (not to be shared), "ipoib of 0x7fff", "subnet_prefix". */
json_t *ft_diff_settings_of(const struct ft_declared *declared);

/* Addresses and leaf of each port, by host and the address that it is known by first: GUID, GID, IP, MAC or LID. */
json_t *ft_diff_ports_of(const struct ft_declared *declared);

/* "setting ipoib of 0x7fff: none -> true", a line for each of the differences; "port    gpu1 0x..: lid 5 -> 7". */
void ft_diff_settings_write(const json_t *differences, FILE *out);
void ft_diff_ports_write(const json_t *differences, FILE *out);
