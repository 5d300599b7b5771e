#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A pcapng Interface Description Block, as far as its frames need it. */
struct ft_interface {
	uint16_t link_type;
	uint8_t fcs_bytes;
	uint64_t dropped;    /* by interface and system, as its newest statistics say */
	bool losses_unknown; /* it says that nobody counted them */
	bool odd;            /* a resolution no clock has, or options that do not add up */
	bool plain;          /* ns = ticks * multiplier */
	uint32_t snaplen;    /* 0: none */
	/* ns = (ticks * multiplier / divisor >> shift) + offset_ns */
	uint64_t multiplier, divisor;
	unsigned shift;
	int64_t offset_s;
};

/* One option, a pcapng type-length-value. */
struct ft_option {
	uint16_t code, length;
	const uint8_t *value;
};

/* Options still to be read. */
struct ft_pcapng_options {
	const uint8_t *at;
	size_t left;
	bool big;
	bool broken; /* one ran past their end */
};

/* Step to the next option; false at their end. */
bool ft_option_next(struct ft_pcapng_options *options, struct ft_option *option);

/* Read the body of the block (from the link type on, at least 8 bytes). */
struct ft_interface ft_interface_read(const uint8_t *body, size_t size, bool big);

/* Whether the options, of an interface or of its statistics, say that losses were not counted. */
bool ft_interface_losses_unknown(struct ft_pcapng_options options);

/*
 * What an Interface Statistics Block says was dropped (options of its body, from 12 bytes on): by the
 * interface and by the operating system, since the capture began. False: it does not say.
 */
bool ft_interface_dropped(struct ft_pcapng_options options, uint64_t *dropped);

/* Time of a frame in ns since 1970, rounded down; FT_TS_UNKNOWN if 64 bits cannot hold it. */
uint64_t ft_interface_exact_ns(const struct ft_interface *interface, uint64_t ticks);

/* The same, quicker for the clocks that are met in practice. */
static inline uint64_t ft_interface_ns(const struct ft_interface *interface, uint64_t ticks)
{
	uint64_t ns;

	if (interface->plain && !__builtin_mul_overflow(ticks, interface->multiplier, &ns))
		return ns;
	return ft_interface_exact_ns(interface, ticks);
}

/* FCS lengths appear in bytes and in bits; 4 if that is what is meant, else 0. */
uint8_t ft_fcs_bytes(unsigned length);
