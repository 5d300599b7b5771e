#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <partition/load.h>

/* The direct calls, which OpenSSL 3 would rather not see: its own way costs a millisecond of start-up. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

/* One more than the file seems to have, so that its end is met without growing. */
static size_t first_room(int file)
{
	struct stat status;

	if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
		return (size_t)status.st_size + 1;
	return 1 << 16;
}

static int make_room(struct ft_bytes *bytes, size_t room)
{
	uint8_t *larger = realloc(bytes->at, room + 1);

	if (larger == NULL)
		return -ENOMEM;
	bytes->at = larger;
	return 0;
}

static int read_all(struct ft_bytes *bytes, int file, size_t most)
{
	size_t room = first_room(file);
	ssize_t taken;

	if (room > most + 1)
		return -EFBIG;
	if (make_room(bytes, room) != 0)
		return -ENOMEM;
	while ((taken = read(file, bytes->at + bytes->size, room - bytes->size)) != 0) {
		if (taken < 0 && errno != EINTR)
			return -errno;
		bytes->size += taken > 0 ? (size_t)taken : 0;
		if (bytes->size > most)
			return -EFBIG;
		if (bytes->size == room && make_room(bytes, room *= 2) != 0)
			return -ENOMEM;
	}
	bytes->at[bytes->size] = '\0';
	return 0;
}

int ft_bytes_read(struct ft_bytes *bytes, const char *path, size_t most)
{
	bool standard_input = ft_is_standard_input(path);
	int file = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	int failed;

	*bytes = (struct ft_bytes){ 0 };
	if (file < 0)
		return -errno;
	failed = read_all(bytes, file, most);
	if (!standard_input)
		close(file);
	if (failed != 0)
		ft_bytes_release(bytes);
	return failed;
}

void ft_bytes_release(struct ft_bytes *bytes)
{
	free(bytes->at);
	*bytes = (struct ft_bytes){ 0 };
}

void ft_bytes_sha256(const uint8_t *bytes, size_t size, char hex[65])
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	SHA256_CTX sum;

	SHA256_Init(&sum);
	SHA256_Update(&sum, bytes, size);
	SHA256_Final(digest, &sum);
	for (size_t i = 0; i < sizeof digest; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}
