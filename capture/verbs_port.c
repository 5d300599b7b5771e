#include "verbs_port.h"

#include "complain.h"
#include "verbs_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ft_verbs_refuse(const struct ft_verbs_port *port, struct ft_source_complaint *complaint,
		    int error, const char *format, ...)
{
	char reason[sizeof complaint->text];
	va_list values;

	va_start(values, format);
	vsnprintf(reason, sizeof reason, format, values);
	va_end(values);
	ft_complain(complaint->text, sizeof complaint->text, port->source, "%s", reason);
	return error;
}

const char *ft_verbs_instead(const struct ft_verbs_port *port, char *text, size_t size)
{
	if (!ft_verbs_is_ethernet(port))
		return "record with ibdump and read its file";
	snprintf(text, size, "use pcap:%s or dpdk: on the mirror port",
		 port->interface[0] != '\0' ? port->interface : "INTERFACE");
	return text;
}

bool ft_verbs_sysfs_read(const struct ibv_device *device, const char *path, char *text, size_t size)
{
	char whole[IBV_SYSFS_PATH_MAX + 64];
	ssize_t got;
	int fd;

	snprintf(whole, sizeof whole, "%s/%s", device->ibdev_path, path);
	fd = open(whole, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	got = read(fd, text, size - 1);
	close(fd);
	if (got <= 0)
		return false;
	text[got] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text[0] != '\0';
}

/* An interface that the device lends its GID table to, as the kernel tells for its first entries. */
static void find_interface(struct ft_verbs_port *port)
{
	char path[64], name[64];

	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "ports/%u/gid_attrs/ndevs/%d", port->number, i);
		if (ft_verbs_sysfs_read(port->context->device, path, name, sizeof name) &&
		    strlen(name) < sizeof port->interface) {
			memcpy(port->interface, name, strlen(name) + 1);
			return;
		}
	}
}

static void find_driver(struct ft_verbs_port *port)
{
	char path[IBV_SYSFS_PATH_MAX + 64], target[256];
	ssize_t size;

	snprintf(path, sizeof path, "%s/device/driver", port->context->device->ibdev_path);
	size = readlink(path, target, sizeof target - 1);
	target[size > 0 ? size : 0] = '\0';
	snprintf(port->driver, sizeof port->driver, "libibverbs%s%.48s", size > 0 ? ", " : "",
		 size > 0 ? basename(target) : "");
}

/* The devices that there are, or -errno: -ENOSYS when the kernel knows no RDMA. */
static int devices_get(struct ibv_device ***devices, int *count)
{
	errno = 0;
	*devices = ibv_get_device_list(count);
	if (*devices != NULL)
		return 0;
	return errno != 0 ? -errno : -ENODEV;
}

static int refuse_unknown(const struct ft_verbs_port *port, struct ibv_device **devices, int count,
			  struct ft_source_complaint *complaint)
{
	char names[256] = "";
	size_t used = 0;

	if (count == 0)
		return ft_verbs_refuse(port, complaint, -ENODEV, "there are no RDMA devices");
	for (int i = 0; i < count && used < sizeof names; i++)
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
					 i > 0 ? ", " : "", ibv_get_device_name(devices[i]));
	return ft_verbs_refuse(port, complaint, -ENODEV, "no such RDMA device; there are: %s",
			       names);
}

static int open_named(struct ft_verbs_port *port, const char *device,
		      struct ft_source_complaint *complaint)
{
	struct ibv_device **devices, *found = NULL;
	int count = 0, error = devices_get(&devices, &count);

	if (error == -ENOSYS)
		return ft_verbs_refuse(port, complaint, -ENODEV,
				       "no RDMA devices: the kernel has no RDMA support");
	if (error != 0)
		return ft_verbs_refuse(port, complaint, error, "no RDMA devices: %s",
				       strerror(-error));
	for (int i = 0; i < count && found == NULL; i++) {
		if (strcmp(ibv_get_device_name(devices[i]), device) == 0)
			found = devices[i];
	}
	if (found == NULL) {
		error = refuse_unknown(port, devices, count, complaint);
	} else {
		errno = 0;
		port->context = ibv_open_device(found);
		if (port->context == NULL) {
			error = errno != 0 ? -errno : -EIO;
			ft_verbs_refuse(port, complaint, error,
					"cannot open /dev/infiniband/%s: %s", found->dev_name,
					strerror(-error));
		}
	}
	ibv_free_device_list(devices);
	return error;
}

/* Which port is meant: the number in the address, or the only one there is. */
static int choose_port(struct ft_verbs_port *port, const char *number,
		       struct ft_source_complaint *complaint)
{
	unsigned ports = port->limits.orig_attr.phys_port_cnt;
	char *end;
	unsigned long value = 1;

	if (number == NULL && ports != 1)
		return ft_verbs_refuse(port, complaint, -EINVAL,
				       "the device has %u ports: append /1 to /%u", ports, ports);
	if (number != NULL) {
		value = strtoul(number, &end, 10);
		if (number[0] < '0' || number[0] > '9' || *end != '\0')
			return ft_verbs_refuse(port, complaint, -EINVAL,
					       "the port is a number, as in mlx5_0/1");
	}
	if (value < 1 || value > ports)
		return ft_verbs_refuse(port, complaint, -ENODEV, "no such port; the device has %u",
				       ports);
	port->number = (uint8_t)value;
	return 0;
}

static int query(struct ft_verbs_port *port, const char *number,
		 struct ft_source_complaint *complaint)
{
	int error = ibv_query_device_ex(port->context, NULL, &port->limits);

	if (error != 0)
		return ft_verbs_refuse(port, complaint, -error, "the device does not answer: %s",
				       strerror(error));
	error = choose_port(port, number, complaint);
	if (error != 0)
		return error;
	error = ibv_query_port(port->context, port->number, &port->attr);
	if (error != 0)
		return ft_verbs_refuse(port, complaint, -error, "the port does not answer: %s",
				       strerror(error));
	find_interface(port);
	find_driver(port);
	return 0;
}

int ft_verbs_port_open(struct ft_verbs_port *port, const char *address,
		       struct ft_source_complaint *complaint)
{
	char device[IBV_SYSFS_NAME_MAX];
	const char *slash = strchr(address, '/');
	size_t length = slash != NULL ? (size_t)(slash - address) : strlen(address);
	int error;

	*port = (struct ft_verbs_port){ 0 };
	snprintf(port->source, sizeof port->source, "verbs:%s", address);
	if (length == 0 || length >= sizeof device)
		return ft_verbs_refuse(port, complaint, -EINVAL,
				       "name a device and its port, as in verbs:mlx5_0/1");
	memcpy(device, address, length);
	device[length] = '\0';
	error = open_named(port, device, complaint);
	if (error != 0)
		return error;
	error = query(port, slash != NULL ? slash + 1 : NULL, complaint);
	if (error != 0)
		ft_verbs_port_close(port);
	return error;
}

int ft_verbs_port_close(struct ft_verbs_port *port)
{
	int error = port->context != NULL ? ibv_close_device(port->context) : 0;

	port->context = NULL;
	return error != 0 ? -ENODEV : 0;
}

/* What a port is, for a listing. */
static void list_port(struct ibv_context *context, uint8_t number,
		      struct ft_device_listing *listing, char *about, size_t size)
{
	struct ibv_port_attr attr;
	int error = ibv_query_port(context, number, &attr);

	listing->usable = error == 0;
	if (error != 0)
		snprintf(about, size, "the port does not answer: %s", strerror(error));
	else
		ft_verbs_about(&attr, about, size);
}

static int list_ports(struct ibv_device *device, struct ibv_context *context,
		      int (*tell)(void *context, const struct ft_device_listing *listing),
		      void *teller)
{
	struct ibv_device_attr attr = { .phys_port_cnt = 1 };
	int error = ibv_query_device(context, &attr);

	for (unsigned number = 1; number <= attr.phys_port_cnt; number++) {
		char address[96], about[128];
		struct ft_device_listing listing = { .address = address, .about = about };

		snprintf(address, sizeof address, "verbs:%s/%u", ibv_get_device_name(device),
			 number);
		list_port(context, (uint8_t)number, &listing, about, sizeof about);
		error = tell(teller, &listing);
		if (error != 0)
			return error;
	}
	return error > 0 ? -error : error;
}

static int list_unopened(struct ibv_device *device, int error,
			 int (*tell)(void *context, const struct ft_device_listing *listing),
			 void *teller)
{
	char address[96], about[128];
	struct ft_device_listing listing = { .address = address, .about = about };

	snprintf(address, sizeof address, "verbs:%s", ibv_get_device_name(device));
	snprintf(about, sizeof about, "cannot open /dev/infiniband/%.40s: %s", device->dev_name,
		 strerror(error));
	return tell(teller, &listing);
}

int ft_verbs_list(int (*tell)(void *context, const struct ft_device_listing *listing),
		  void *context)
{
	struct ibv_device **devices;
	int count = 0, error = devices_get(&devices, &count);

	if (error == -ENOSYS || error == -ENODEV)
		return 0; /* a kernel without RDMA has no such devices */
	if (error != 0)
		return error;
	for (int i = 0; i < count && error == 0; i++) {
		struct ibv_context *opened = ibv_open_device(devices[i]);

		if (opened == NULL) {
			error = list_unopened(devices[i], errno, tell, context);
			continue;
		}
		error = list_ports(devices[i], opened, tell, context);
		ibv_close_device(opened);
	}
	ibv_free_device_list(devices);
	return error;
}
