#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of a map, topology or signature file. */
struct ft_bytes {
	uint8_t *at; /* a NUL follows the last byte */
	size_t size;
};

/* Of a path, or of standard input: `-`. 0, -EFBIG if there are more than `most` bytes, or the system's -errno. */
int ft_bytes_read(struct ft_bytes *bytes, const char *path, size_t most);
void ft_bytes_release(struct ft_bytes *bytes);

void ft_bytes_sha256(const uint8_t *bytes, size_t size, char hex[65]);
