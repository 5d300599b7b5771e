#include "drivers.h"

#include <capture/filter.h>

#include "complain.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#ifdef FT_WITH_PCAP
#define PCAP &ft_driver_pcap
#else
#define PCAP NULL
#endif

#ifdef FT_WITH_DPDK
#define DPDK &ft_driver_dpdk
#else
#define DPDK NULL
#endif

#ifdef FT_WITH_VERBS
#define VERBS &ft_driver_verbs
#else
#define VERBS NULL
#endif

static const struct kind {
	const char *prefix, *library;
	const struct ft_driver *driver;
} kinds[] = {
	{ "pcap:", "libpcap", PCAP },
	{ "dpdk:", "DPDK", DPDK },
	{ "verbs:", "libibverbs", VERBS },
};
#define KINDS (sizeof kinds / sizeof kinds[0])

bool ft_live_address_read(struct ft_live_address *address, const char *name)
{
	for (size_t i = 0; i < KINDS; i++) {
		size_t size = strlen(kinds[i].prefix);

		if (strncmp(name, kinds[i].prefix, size) != 0)
			continue;
		*address = (struct ft_live_address){
			.name = name,
			.device = name + size,
			.driver = kinds[i].driver,
			.library = kinds[i].library,
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

static int tell_absent(const struct kind *kind,
		       int (*tell)(void *context, const struct ft_device_listing *listing),
		       void *context)
{
	char about[64];
	const struct ft_device_listing listing = { .address = kind->prefix, .about = about };

	snprintf(about, sizeof about, "this build has no %s", kind->library);
	return tell(context, &listing);
}

int ft_live_list(int (*tell)(void *context, const struct ft_device_listing *listing), void *context)
{
	int error = 0;

	for (size_t i = 0; i < KINDS && error == 0; i++)
		error = kinds[i].driver != NULL ? kinds[i].driver->list(tell, context)
						: tell_absent(&kinds[i], tell, context);
	return error;
}

int ft_live_filter_check(const char *name, const char *filter,
			 struct ft_source_complaint *complaint)
{
	struct ft_live_address address;
	const char *why = NULL;

	if (!ft_live_address_read(&address, name)) {
		ft_complain(complaint->text, sizeof complaint->text, name, "not a live source");
		return -ENODEV;
	}
	if (address.driver == NULL)
		why = "this build cannot open it";
	else if (address.driver->check_filter == NULL)
		why = "takes no kernel filter";
	if (why == NULL)
		return address.driver->check_filter(name, filter, complaint);
	ft_complain(complaint->text, sizeof complaint->text, name, "%s", why);
	return -EOPNOTSUPP;
}
