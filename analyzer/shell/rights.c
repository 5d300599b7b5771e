#include "rights.h"

#include <cap-ng.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* All of these, whatever their arguments. Grouped by what needs them. */
static const int allowed[] = {
	/* memory */
	SCMP_SYS(brk),
	SCMP_SYS(madvise),
	SCMP_SYS(mlock),
	SCMP_SYS(mmap),
	SCMP_SYS(mprotect),
	SCMP_SYS(mremap),
	SCMP_SYS(munlock),
	SCMP_SYS(munmap),
	/* threads, time, the end */
	SCMP_SYS(clock_getres),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(clone),
	SCMP_SYS(clone3),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(futex),
	SCMP_SYS(get_robust_list),
	SCMP_SYS(getcpu),
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(membarrier),
	SCMP_SYS(nanosleep),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rseq),
	SCMP_SYS(sched_getaffinity),
	SCMP_SYS(sched_setaffinity),
	SCMP_SYS(sched_yield),
	SCMP_SYS(set_robust_list),
	SCMP_SYS(set_tid_address),
	SCMP_SYS(time),
	SCMP_SYS(timerfd_settime),
	SCMP_SYS(timerfd_gettime),
	/* signals */
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(rt_sigtimedwait),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(tgkill),
	/* waiting and receiving */
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(getsockopt),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(pread64),
	SCMP_SYS(preadv),
	SCMP_SYS(pselect6),
	SCMP_SYS(read),
	SCMP_SYS(readv),
	SCMP_SYS(recvfrom),
	SCMP_SYS(recvmmsg),
	SCMP_SYS(recvmsg),
	SCMP_SYS(select),
	SCMP_SYS(shutdown),
	/* files */
	SCMP_SYS(access),
	SCMP_SYS(close),
	SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2),
	SCMP_SYS(fadvise64),
	SCMP_SYS(fallocate),
	SCMP_SYS(fdatasync),
	SCMP_SYS(flock),
	SCMP_SYS(fstat),
	SCMP_SYS(fstatfs),
	SCMP_SYS(fsync),
	SCMP_SYS(ftruncate),
	SCMP_SYS(getcwd),
	SCMP_SYS(getdents64),
	SCMP_SYS(lseek),
	SCMP_SYS(lstat),
	SCMP_SYS(newfstatat),
	SCMP_SYS(open),
	SCMP_SYS(openat),
	SCMP_SYS(readlink),
	SCMP_SYS(readlinkat),
	SCMP_SYS(rename),
	SCMP_SYS(renameat),
	SCMP_SYS(renameat2),
	SCMP_SYS(stat),
	SCMP_SYS(statfs),
	SCMP_SYS(statx),
	SCMP_SYS(umask),
	SCMP_SYS(unlink),
	SCMP_SYS(unlinkat),
	/* asking about oneself */
	SCMP_SYS(getegid),
	SCMP_SYS(geteuid),
	SCMP_SYS(getgid),
	SCMP_SYS(getrandom),
	SCMP_SYS(getrlimit),
	SCMP_SYS(getrusage),
	SCMP_SYS(getuid),
	SCMP_SYS(prlimit64),
	SCMP_SYS(sysinfo),
	SCMP_SYS(times),
	SCMP_SYS(uname),
};

/* Harmless on files and terminals, a way to send on a packet socket. */
static const int sending[] = {
	SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(pwrite64), SCMP_SYS(pwritev), SCMP_SYS(ioctl),
};

static const unsigned fcntl_commands[] = { F_GETFD, F_SETFD, F_GETFL, F_SETFL };

enum { SOCKETS = 256, COUNT = sizeof allowed / sizeof allowed[0] };

static bool sends_frames(int fd)
{
	int domain;
	socklen_t size = sizeof domain;

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
	       (domain == AF_PACKET || domain == AF_XDP || domain == AF_INET ||
		domain == AF_INET6 || domain == AF_NETLINK);
}

struct sockets {
	int numbers[SOCKETS];
	size_t count;
};

/* 0 or -errno: -EMFILE: more than are expected. */
static int find_sockets(struct sockets *sockets)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int error = 0;

	sockets->count = 0;
	if (folder == NULL)
		return -errno;
	while ((entry = readdir(folder)) != NULL && error == 0) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] == '.' || !sends_frames(fd))
			continue;
		if (sockets->count == SOCKETS)
			error = -EMFILE;
		else
			sockets->numbers[sockets->count++] = fd;
	}
	closedir(folder);
	return error;
}

static int rule_if(scmp_filter_ctx filter, uint32_t action, int call, struct scmp_arg_cmp condition)
{
	return seccomp_rule_add_array(filter, action, call, 1, &condition);
}

/* The kernel takes the lower half of a register for a descriptor, whatever the upper one says. */
static int refuse_sending(scmp_filter_ctx filter, const struct sockets *sockets)
{
	int error = 0;

	for (size_t i = 0; i < sizeof sending / sizeof sending[0]; i++)
		for (size_t j = 0; j < sockets->count && error == 0; j++)
			error = rule_if(filter, SCMP_ACT_ERRNO(EPERM), sending[i],
					SCMP_A0_64(SCMP_CMP_MASKED_EQ, UINT32_MAX,
						   (unsigned)sockets->numbers[j]));
	return error;
}

static int allow_the_rest(scmp_filter_ctx filter, const struct sockets *sockets)
{
	int error = 0;

	(void)sockets;
	for (size_t i = 0; i < COUNT && error == 0; i++)
		error = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, allowed[i], 0, NULL);
	for (size_t i = 0; i < sizeof sending / sizeof sending[0] && error == 0; i++)
		error = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, sending[i], 0, NULL);
	for (size_t i = 0; i < sizeof fcntl_commands / sizeof fcntl_commands[0] && error == 0; i++)
		error = rule_if(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl),
				SCMP_A1_64(SCMP_CMP_EQ, fcntl_commands[i], 0));
	return error;
}

/* A filter for all threads: `otherwise` but for what `add` says. */
static int load_filter(uint32_t otherwise,
		       int (*add)(scmp_filter_ctx filter, const struct sockets *sockets),
		       const struct sockets *sockets)
{
	scmp_filter_ctx filter = seccomp_init(otherwise);
	int error = filter == NULL ? -ENOMEM : 0;

	if (error == 0)
		error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (error == 0)
		error = add(filter, sockets);
	if (error == 0)
		error = seccomp_load(filter);
	seccomp_release(filter);
	return error;
}

/* Of several filters the strictest answer counts; the second one lets no further one in. */
static int filter_calls(const struct sockets *sockets)
{
	int error = load_filter(SCMP_ACT_ALLOW, refuse_sending, sockets);

	return error != 0 ? error : load_filter(SCMP_ACT_ERRNO(EPERM), allow_the_rest, sockets);
}

static int drop_capabilities(void)
{
	capng_get_caps_process();
	if (capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP)) {
		capng_clear(CAPNG_SELECT_ALL);
		return capng_apply(CAPNG_SELECT_ALL) == 0 ? 0 : -EPERM;
	}
	capng_clear(CAPNG_SELECT_CAPS); /* the bounding set stays: nothing can be gained from it */
	return capng_apply(CAPNG_SELECT_CAPS) == 0 ? 0 : -EPERM;
}

int ft_rights_drop(const char **what)
{
	struct sockets sockets;
	int error;

	*what = "open descriptors";
	error = find_sockets(&sockets);
	if (error != 0)
		return error;
	*what = "capabilities";
	error = drop_capabilities();
	if (error != 0)
		return error;
	*what = "new privileges";
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	*what = "system calls";
	return filter_calls(&sockets);
}
