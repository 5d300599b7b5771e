#pragma once

#include "device.h"

#include <infiniband/verbs.h>

#include <net/if.h>

/* One port of an RDMA device, opened. */
struct ft_verbs_port {
	char source[96]; /* "verbs:mlx5_0/1" */
	uint8_t number;
	struct ibv_context *context;
	struct ibv_device_attr_ex limits;
	struct ibv_port_attr attr;
	char interface[IF_NAMESIZE]; /* kernel interface beside it; empty: none, or not known */
	char driver[64];             /* "libibverbs, mlx5_core" */
};

/*
 * Open the port at `address`, "DEVICE/PORT" or, where the device has one port, "DEVICE". 0, or as
 * ft_driver.open() with nothing open.
 */
int ft_verbs_port_open(struct ft_verbs_port *port, const char *address,
		       struct ft_source_complaint *complaint);

/* -ENODEV: the device is gone; it is closed all the same. */
int ft_verbs_port_close(struct ft_verbs_port *port);

/* Refuse the source: complaint, and `error` (negative) back. */
int ft_verbs_refuse(const struct ft_verbs_port *port, struct ft_source_complaint *complaint,
		    int error, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "where the frames may be had instead", for a complaint; in a buffer of the caller. */
const char *ft_verbs_instead(const struct ft_verbs_port *port, char *text, size_t size);

/* As ft_driver.list(). */
int ft_verbs_list(int (*tell)(void *context, const struct ft_device_listing *listing),
		  void *context);

static inline bool ft_verbs_is_ethernet(const struct ft_verbs_port *port)
{
	return port->attr.link_layer != IBV_LINK_LAYER_INFINIBAND;
}

/* A value of the kernel's, without its line end; false if there is none. `path` is below the device's folder. */
bool ft_verbs_sysfs_read(const struct ibv_device *device, const char *path, char *text,
			 size_t size);
