#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <jansson.h>
#include <openssl/crypto.h>

#include <engine/no_memory.h>

#include "build.h"
#include "extcap.h"
#include "log.h"
#include "output.h"
#include "verb.h"

enum { LARGE_BYTES = 128 << 10 };

static enum ft_exit version(void)
{
	printf("fabtap %s (%s)\n", ft_build_version(), ft_build_text());
	return FT_EXIT_CLEAN;
}

static enum ft_exit run(int argc, char **argv)
{
	const struct ft_verb *verb;

	if (argc < 2) {
		ft_log("no verb given; `fabtap help` lists them");
		return FT_EXIT_FAILED;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return version();
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return ft_verb_help.run(1, argv + 1);
	if (ft_extcap_is_called(argc, argv))
		return ft_extcap_run(argc, argv);
	verb = ft_verb_find(argv[1]);
	if (verb == NULL) {
		ft_log("no verb %s; `fabtap help` lists them", argv[1]);
		return FT_EXIT_FAILED;
	}
	return verb->run(argc - 1, argv + 1);
}

/* What is closed stays unusable, but its number is taken: a socket that got it would send what is said onto its wire. */
static bool hold_standard_descriptors(void)
{
	static const int unusable[] = { O_WRONLY, O_RDONLY, O_RDONLY };

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
		    open("/dev/null", unusable[fd]) != fd)
			return false;
	return true;
}

/*
 * Captures are merged, so all of them are open at once: a ring of a file for each minute of a day is more than the 1024
 * that a shell usually allows, though the system would. Where that cannot be had, opening one too many says so.
 */
static void allow_many_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

static void *given(void *memory)
{
	if (memory == NULL)
		ft_no_memory();
	return memory;
}

static void *allocate_json(size_t size)
{
	return given(malloc(size));
}

static void *allocate_crypto(size_t size, const char *file, int line)
{
	(void)file, (void)line;
	return given(malloc(size));
}

static void *reallocate_crypto(void *memory, size_t size, const char *file, int line)
{
	(void)file, (void)line;
	return size == 0 ? (free(memory), NULL) : given(realloc(memory, size));
}

static void free_crypto(void *memory, const char *file, int line)
{
	(void)file, (void)line;
	free(memory);
}

/*
 * Without memory jansson would leave out parts of what it reads and writes, or take them for syntax errors, and OpenSSL
 * crash.
 */
static void take_care_of_libraries(void)
{
	json_set_alloc_funcs(allocate_json, free);
	CRYPTO_set_mem_functions(allocate_crypto, reallocate_crypto, free_crypto);
}

/*
 * Large pieces always are mappings of their own: else, once one was given back (a map's text is), tables are cut from memory that
 * was in use before, and cleared as a whole, though most of each is never needed.
 */
static void take_large_pieces_fresh(void)
{
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
}

int main(int argc, char **argv)
{
	take_large_pieces_fresh();
	take_care_of_libraries();
	if (!hold_standard_descriptors())
		return FT_EXIT_FAILED;
	allow_many_files();
	/* a reader that goes away, a file that may not grow: errors of write(), not the end of the program */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	return (int)ft_output_finish(run(argc, argv));
}
