#include "drivers.h"

#include <capture/filter.h>

#include "complain.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* Linked in by tests; the program loads them. */
#pragma weak ft_driver_pcap
#pragma weak ft_driver_dpdk
#pragma weak ft_driver_verbs

#ifdef FT_WITH_PCAP
#define PCAP true
#else
#define PCAP false
#endif

#ifdef FT_WITH_DPDK
#define DPDK true
#else
#define DPDK false
#endif

#ifdef FT_WITH_VERBS
#define VERBS true
#else
#define VERBS false
#endif

struct ft_driver_kind {
	const char *name, *library;
	bool built;
	const struct ft_driver *linked;
};

static const struct ft_driver_kind kinds[] = {
	{ "pcap", "libpcap", PCAP, &ft_driver_pcap },
	{ "dpdk", "DPDK", DPDK, &ft_driver_dpdk },
	{ "verbs", "libibverbs", VERBS, &ft_driver_verbs },
};
#define KINDS (sizeof kinds / sizeof kinds[0])

bool ft_live_address_read(struct ft_live_address *address, const char *name)
{
	for (size_t i = 0; i < KINDS; i++) {
		size_t size = strlen(kinds[i].name);

		if (strncmp(name, kinds[i].name, size) != 0 || name[size] != ':')
			continue;
		*address = (struct ft_live_address){
			.name = name,
			.device = name + size + 1,
			.kind = &kinds[i],
		};
		return true;
	}
	return false;
}

bool ft_live_is_address(const char *name)
{
	struct ft_live_address address;

	return ft_live_address_read(&address, name);
}

/* --- modules --- */

/*
 * With rights of its own (file capabilities) the program could have been linked into anybody's folder: what lies
 * by it must then be of its owner or of root, and nobody else's to write.
 */
static bool may_be_loaded(const char *path)
{
	struct stat module, program;

	if (stat(path, &module) != 0)
		return false;
	if (getauxval(AT_SECURE) == 0)
		return true;
	return stat("/proc/self/exe", &program) == 0 &&
	       (module.st_uid == 0 || module.st_uid == program.st_uid) &&
	       (module.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* In a folder named from that of the program, as long as it fits; without one, the working directory is not searched. */
static bool find_in(const char *folder, const char *name, char path[PATH_MAX])
{
	ssize_t size = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash = size > 0 && size < PATH_MAX ? memrchr(path, '/', (size_t)size) : NULL;
	size_t room;

	if (slash == NULL)
		return false;
	room = (size_t)(path + PATH_MAX - slash);
	return (size_t)snprintf(slash, room, "/%s/%s.so", folder, name) < room &&
	       may_be_loaded(path);
}

/* Beside the program, as a build leaves it; else where it is installed. */
static bool find_module(const char *name, char path[PATH_MAX])
{
	return find_in("drivers", name, path) || find_in(FT_INSTALLED_DRIVERS, name, path);
}

/* It stays loaded: what it is made of has threads and handlers of its own. */
static const struct ft_driver *load(const char *name, char *why, size_t room)
{
	char path[PATH_MAX], symbol[32];
	const struct ft_driver *driver = NULL;
	void *module;

	if (!find_module(name, path)) {
		snprintf(why, room,
			 "its driver cannot be loaded: there is neither drivers/%s.so nor %s/%s.so "
			 "by the program",
			 name, FT_INSTALLED_DRIVERS, name);
		return NULL;
	}
	snprintf(symbol, sizeof symbol, "ft_driver_%s", name);
	module = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (module != NULL)
		driver = dlsym(module, symbol);
	if (driver == NULL)
		snprintf(why, room, "its driver cannot be loaded: %s", dlerror());
	return driver;
}

static const struct ft_driver *driver_of(const struct ft_driver_kind *kind, char *why, size_t room)
{
	if (kind->linked != NULL)
		return kind->linked;
	if (kind->built)
		return load(kind->name, why, room);
	snprintf(why, room, "this build has no %s", kind->library);
	return NULL;
}

const struct ft_driver *ft_live_driver(const struct ft_live_address *address,
				       struct ft_source_complaint *complaint)
{
	char why[300];
	const struct ft_driver *driver = address->driver;

	if (driver == NULL)
		driver = driver_of(address->kind, why, sizeof why);
	if (driver == NULL)
		ft_complain(complaint->text, sizeof complaint->text, address->name, "%s", why);
	return driver;
}

/* --- */

static int list_kind(const struct ft_driver_kind *kind,
		     int (*tell)(void *context, const struct ft_device_listing *listing),
		     void *context)
{
	char why[300], address[16];
	const struct ft_driver *driver = driver_of(kind, why, sizeof why);
	const struct ft_device_listing absent = { .address = address, .about = why };

	if (driver != NULL)
		return driver->list(tell, context);
	snprintf(address, sizeof address, "%s:", kind->name);
	return tell(context, &absent);
}

int ft_live_list(int (*tell)(void *context, const struct ft_device_listing *listing), void *context)
{
	int error = 0;

	for (size_t i = 0; i < KINDS && error == 0; i++)
		error = list_kind(&kinds[i], tell, context);
	return error;
}

int ft_live_filter_check(const char *name, const char *filter,
			 struct ft_source_complaint *complaint)
{
	struct ft_live_address address;
	const struct ft_driver *driver;

	if (!ft_live_address_read(&address, name)) {
		ft_complain(complaint->text, sizeof complaint->text, name, "not a live source");
		return -ENODEV;
	}
	driver = ft_live_driver(&address, complaint);
	if (driver == NULL)
		return -EOPNOTSUPP;
	if (driver->check_filter != NULL)
		return driver->check_filter(name, filter, complaint);
	ft_complain(complaint->text, sizeof complaint->text, name, "takes no kernel filter");
	return -EOPNOTSUPP;
}
