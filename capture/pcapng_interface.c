#include "pcapng_interface.h"

#include <capture/frame.h>

#include "byte_order.h"
#include "pcapng_blocks.h"

#include <string.h>

enum {
	OPTION_HEADER = 4,
	OPTION_END = 0,
	OPTION_COMMENT = 1,
	IF_TSRESOL = 9,
	IF_FCSLEN = 13,
	IF_TSOFFSET = 14,
	POWER_OF_TWO = 0x80,
	TWO_MAX = 63, /* finer units than these have no 64-bit second */
	TEN_MAX = 19,
};

static const uint64_t power_of_ten[TEN_MAX + 1] = {
	1,
	10,
	100,
	1000,
	10000,
	100000,
	1000000,
	10000000,
	100000000,
	1000000000,
	10000000000,
	100000000000,
	1000000000000,
	10000000000000,
	100000000000000,
	1000000000000000,
	10000000000000000,
	100000000000000000,
	1000000000000000000,
	10000000000000000000u,
};

bool ft_option_next(struct ft_pcapng_options *options, struct ft_option *option)
{
	size_t padded;

	if (options->left < OPTION_HEADER)
		return false;
	option->code = ft_u16(options->at, options->big);
	option->length = ft_u16(options->at + 2, options->big);
	option->value = options->at + OPTION_HEADER;
	if (option->code == OPTION_END)
		return false;
	padded = OPTION_HEADER + ((option->length + 3u) & ~3u);
	if (padded > options->left) {
		options->broken = true;
		return false;
	}
	options->at += padded;
	options->left -= padded;
	return true;
}

uint8_t ft_fcs_bytes(unsigned length)
{
	return length == 4 || length == 32 ? 4 : 0;
}

/* Ticks of 2^-n s. */
static void set_power_of_two(struct ft_interface *interface, unsigned n)
{
	interface->multiplier = power_of_ten[9];
	interface->divisor = 1;
	interface->shift = n;
	interface->odd |= n > TWO_MAX;
}

/* Ticks of 10^-n s. Beyond 10^-28 s not even the largest tick count makes a nanosecond. */
static void set_power_of_ten(struct ft_interface *interface, unsigned n)
{
	interface->multiplier = n <= 9 ? power_of_ten[9 - n] : n - 9 <= TEN_MAX;
	interface->divisor = n <= 9 || n - 9 > TEN_MAX ? 1 : power_of_ten[n - 9];
	interface->shift = 0;
	interface->odd |= n > TEN_MAX;
}

static void take_option(struct ft_interface *interface, const struct ft_option *option, bool big)
{
	const uint8_t *value = option->value;

	switch (option->code) {
	case IF_TSRESOL:
		if (option->length != 1)
			interface->odd = true;
		else if ((value[0] & POWER_OF_TWO) != 0)
			set_power_of_two(interface, value[0] & 0x7f);
		else
			set_power_of_ten(interface, value[0]);
		break;
	case IF_TSOFFSET:
		if (option->length != 8)
			interface->odd = true;
		else
			interface->offset_s = (int64_t)ft_u64(value, big);
		break;
	case IF_FCSLEN:
		if (option->length != 1)
			interface->odd = true;
		else
			interface->fcs_bytes = ft_fcs_bytes(value[0]);
		break;
	}
}

struct ft_interface ft_interface_read(const uint8_t *body, size_t size, bool big)
{
	struct ft_pcapng_options options = { body + 8, size - 8, big, false };
	struct ft_interface interface = {
		.link_type = ft_u16(body, big),
		.snaplen = ft_u32(body + 4, big),
	};
	struct ft_option option;

	set_power_of_ten(&interface, 6);
	interface.losses_unknown = ft_interface_losses_unknown(options);
	while (ft_option_next(&options, &option))
		take_option(&interface, &option, big);
	interface.odd |= options.broken;
	interface.plain = interface.divisor == 1 && interface.shift == 0 && interface.offset_s == 0;
	return interface;
}

uint64_t ft_interface_exact_ns(const struct ft_interface *interface, uint64_t ticks)
{
	unsigned __int128 product = (unsigned __int128)ticks * interface->multiplier;
	__int128 ns;

	if (interface->divisor != 1)
		product /= interface->divisor;
	ns = (__int128)(product >> interface->shift);
	if (interface->offset_s != 0)
		ns += (__int128)interface->offset_s * 1000000000;
	return ns >= 0 && ns < FT_TS_UNKNOWN ? (uint64_t)ns : FT_TS_UNKNOWN;
}

bool ft_interface_losses_unknown(struct ft_pcapng_options options)
{
	static const char text[] = FT_PCAPNG_LOSSES_UNKNOWN;
	struct ft_option option;

	while (ft_option_next(&options, &option))
		if (option.code == OPTION_COMMENT && option.length == sizeof text - 1 &&
		    memcmp(option.value, text, sizeof text - 1) == 0)
			return true;
	return false;
}

bool ft_interface_dropped(struct ft_pcapng_options options, uint64_t *dropped)
{
	enum { INTERFACE_DROPS = 5, SYSTEM_DROPS = 7 };
	struct ft_option option;
	bool said = false;

	*dropped = 0;
	while (ft_option_next(&options, &option)) {
		bool drops = option.code == INTERFACE_DROPS || option.code == SYSTEM_DROPS;

		if (!drops || option.length != 8)
			continue;
		*dropped += ft_u64(option.value, options.big);
		said = true;
	}
	return said;
}
