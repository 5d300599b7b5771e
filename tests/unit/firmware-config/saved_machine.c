#include "saved_machine.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void saved_machine_make(struct saved_machine *saved)
{
	snprintf(saved->root, sizeof saved->root, "/tmp/fabtap-saved-XXXXXX");
	assert_non_null(mkdtemp(saved->root));
	saved->machine.root = saved->root;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status, (void)kind, (void)place;
	return remove(path);
}

void saved_machine_remove(struct saved_machine *saved)
{
	nftw(saved->root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
}

void saved_machine_put(const struct saved_machine *saved, const char *path, const char *text)
{
	char whole[512];
	FILE *file;

	snprintf(whole, sizeof whole, "%s/%s", saved->root, path);
	if (text == NULL) {
		assert_int_equal(unlink(whole), 0);
		return;
	}
	make_folders(whole);
	file = fopen(whole, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

void saved_machine_link(const struct saved_machine *saved, const char *path, const char *target)
{
	char whole[512];

	snprintf(whole, sizeof whole, "%s/%s", saved->root, path);
	make_folders(whole);
	assert_int_equal(symlink(target, whole), 0);
}

void saved_machine_fill(const struct saved_machine *saved)
{
	static const char *const files[][2] = {
		{ "proc/net/dev",
		  "Inter-|   Receive                                                |  Transmit\n"
		  " face |bytes    packets errs drop fifo frame compressed multicast|bytes    "
		  "packets "
		  "errs drop fifo colls carrier compressed\n"
		  "    lo:   10000     100    0    0    0     0          0         0    10000     "
		  "100 "
		  "   0    0    0     0       0          0\n"
		  "  tap0: 9000000    9000    0    0    0     0          0         0      420      "
		  " 7 "
		  "   0    0    0     0       0          0\n" },
		{ "sys/class/net/tap0/ifindex", "4\n" },
		{ "sys/class/net/tap0/flags", "0x183\n" }, /* up, broadcast, no ARP, promiscuous */
		{ "sys/class/net/tap0/address", "b8:3f:d2:00:00:01\n" },
		{ "sys/class/net/tap0/operstate", "up\n" },
		{ "sys/class/net/tap0/speed", "400000\n" },
		{ "proc/sys/net/ipv6/conf/all/disable_ipv6", "0\n" },
		{ "proc/sys/net/ipv6/conf/tap0/disable_ipv6", "1\n" },
		{ "proc/sys/net/ipv6/conf/tap0/addr_gen_mode", "1\n" },
		{ "ip/tap0/addresses", "" },
		{ "ethtool/tap0/statistics", "NIC statistics:\n"
					     "     rx_packets: 9000\n"
					     "     tx_packets: 7\n"
					     "     tx_packets_phy: 11\n"
					     "     tx_bytes_phy: 704\n"
					     "     tx_pause_ctrl_phy: 0\n"
					     "     tx_prio0_bytes: 704\n"
					     "     tx_prio0_pause: 0\n"
					     "     tx_prio0_pause_duration: 5\n"
					     "     tx_vport_unicast_packets: 7\n" },
		{ "ethtool/tap0/pause", "Pause parameters for tap0:\n"
					"Autonegotiate:\toff\n"
					"RX:\t\toff\n"
					"TX:\t\toff\n" },
		{ "ethtool/tap0/driver", "driver: mlx5_core\n"
					 "version: 6.1.0\n"
					 "firmware-version: 28.39.1002 (MT_0000000838)\n"
					 "expansion-rom-version: \n"
					 "bus-info: 0000:81:00.0\n"
					 "supports-statistics: yes\n" },
		{ "proc/1234/status", "Name:\tfabtap\n"
				      "CapInh:\t0000000000000000\n"
				      "CapPrm:\t0000000000000000\n"
				      "CapEff:\t0000000000000000\n"
				      "CapBnd:\t0000000000000000\n"
				      "CapAmb:\t0000000000000000\n"
				      "NoNewPrivs:\t1\n"
				      "Seccomp:\t2\n"
				      "Seccomp_filters:\t2\n" },
	};

	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
		saved_machine_put(saved, files[i][0], files[i][1]);
	saved_machine_link(saved, "sys/class/net/tap0/device", "../../../0000:81:00.0");
	saved_machine_link(saved, "proc/1234/fd/0", "/dev/null");
	saved_machine_link(saved, "proc/1234/fd/1", "pipe:[100]");
	saved_machine_link(saved, "proc/1234/fd/2", "pipe:[101]");
	saved_machine_link(saved, "proc/1234/fd/3", "socket:[102]");
	saved_machine_link(saved, "proc/1234/fd/4", "anon_inode:[eventpoll]");
}
