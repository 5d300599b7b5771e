#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * Runs a program once and says what it took: one line with wall-clock, user and system time in ns, peak memory in
 * KiB, and its exit status (-1: killed). It is small itself, because a child's peak memory counts from the moment it
 * is a copy of its parent.
 */

static uint64_t ns_of(struct timeval time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void become(const char *output, char **command)
{
	int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0)
		execvp(command[0], command);
	perror(command[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	uint64_t start_ns = now_ns();
	struct rusage used;
	int status;
	pid_t child;

	if (argc < 3) {
		fputs("usage: bench_measure OUTPUT PROGRAM [ARGUMENTS...]\n", stderr);
		return 2;
	}
	child = fork();
	if (child == 0)
		become(argv[1], argv + 2);
	if (child < 0 || wait4(child, &status, 0, &used) != child) {
		perror("bench_measure");
		return 2;
	}
	printf("%llu %llu %llu %ld %d\n", (unsigned long long)(now_ns() - start_ns),
	       (unsigned long long)ns_of(used.ru_utime), (unsigned long long)ns_of(used.ru_stime),
	       used.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}
