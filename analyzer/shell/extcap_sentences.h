#pragma once

#include <stdio.h>

#include <capture/live.h>
#include <partition/declared.h>

/*
 * Sentences of Wireshark's extcap grammar. An interface is a live source's address with `fabtap-` before it, so that
 * it is none of Wireshark's own; FT_EXTCAP_DPDK is a device that cannot be listed: its address is an option.
 */
#define FT_EXTCAP_PREFIX "fabtap-"
#define FT_EXTCAP_DPDK   FT_EXTCAP_PREFIX "dpdk"

/* Options of an interface, by their names without dashes, as --extcap-reload-option gives one. */
#define FT_EXTCAP_TENANT "tenant"

/* Of every row that is a device, and one line for all that the template of a virtual one stands for. */
void ft_extcap_put_interfaces(FILE *out, const char *version, const struct ft_device_listing *rows,
			      size_t count);

/* `about`: what the listing says of the interface; NULL: it is not listed. */
void ft_extcap_put_dlt(FILE *out, const char *interface, const char *about);

void ft_extcap_put_config(FILE *out, const char *interface);

/* What can be chosen as the tenant; NULL: no map is chosen. */
void ft_extcap_put_tenants(FILE *out, const struct ft_declared *declared);
