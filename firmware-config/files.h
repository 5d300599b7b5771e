#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <firmware-config/machine.h>

enum { FT_PATH = 512 };

bool ft_machine_is_here(const struct ft_machine *machine);

/* The path of a file of the machine. 0, or -ENAMETOOLONG. */
int ft_machine_path(const struct ft_machine *machine, char path[FT_PATH], const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The first `size` - 1 bytes of a file, without the white space at its end; how many, or -errno. */
int ft_machine_text(const struct ft_machine *machine, char *text, size_t size, const char *format,
		    ...) __attribute__((format(printf, 4, 5)));

/* All of a file, for the caller to free(); NULL with errno. At most 16 MiB. */
char *ft_machine_whole(const struct ft_machine *machine, size_t *size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A file that holds one number, decimal or 0x and hexadecimal; more than INT64_MAX is no counter. 0 or -errno. */
int ft_machine_number(const struct ft_machine *machine, uint64_t *value, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* All of the text is a number as above. */
bool ft_counter_read(const char *text, uint64_t *value);

/*
 * Whether /sys/class/net shows this interface of the caller's network namespace: it belongs to the namespace it was
 * mounted in, where another interface may have the same name.
 */
bool ft_machine_shows(const struct ft_machine *machine, const char *interface);
