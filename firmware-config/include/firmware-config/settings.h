#pragma once

#include <stdbool.h>

#include <firmware-config/machine.h>

/* How an interface is set, and what an interface that listens at a mirror port has to be. */

enum ft_known { FT_NO, FT_YES, FT_NOT_KNOWN };

enum { FT_SETTING_VALUE = 160, FT_SETTINGS_MAX = 16 };

struct ft_setting {
	const char *name;   /* "arp", "ipv4_addresses" */
	const char *want;   /* "off", "none" */
	const char *source; /* where it is read */
	const char *remedy; /* the command that sets it; IF stands for the interface */
	bool speaks;        /* the interface may send by itself while it is not as wanted */
	char current[FT_SETTING_VALUE]; /* "" where not known */
	enum ft_known ok;
};

/* All settings that are looked at, in a fixed order; as many as returned. */
size_t ft_settings_read(const struct ft_machine *machine, const char *interface,
			struct ft_setting settings[FT_SETTINGS_MAX]);

/*
 * What makes the interface speak by itself, in a line for its user: "has IPv4 addresses (10.0.0.1), ARP is on; it may
 * send by itself; silence it with", and the commands that do; cut at `size` - 1. False, and the line untouched, if
 * nothing does as far as is known.
 */
bool ft_settings_warn(const char *interface, const struct ft_setting *settings, size_t count,
		      char *line, size_t size);

/* What the port is; "" where not known. */
struct ft_port_facts {
	char interface[FT_INTERFACE_NAME];
	char driver[33], driver_version[33], firmware[33]; /* as ethtool -i says */
	char pci[33];
	char address[64]; /* MAC, or the GUID of an InfiniBand one in 20 bytes */
	char link[16];    /* "up", "down" */
	char speed[16];   /* Mbit/s */
};

/* `interface` is copied. Where /sys shows another network namespace's, only what the driver says of itself is known. */
void ft_port_facts_read(const struct ft_machine *machine, const char *interface,
			struct ft_port_facts *facts);
