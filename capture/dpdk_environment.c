#include "dpdk_environment.h"

#include "complain.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <rte_alarm.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>

enum { ORDINARY_MB = 2048, SPARE_MB = 64, ARGUMENTS_MAX = 20, ALARM_S = 5 };

/* The library's state is the process's; so is what is known of it. */
static struct {
	pthread_mutex_t lock;
	bool started, huge, verbose;
	unsigned threads; /* that joined */
	int error;        /* of a start that failed: there is no second */
	char reason[160];
} environment = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* All that DPDK logs comes here: errors are kept for our own line, the rest is for --verbose. */
static ssize_t hear(void *cookie, const char *text, size_t size)
{
	size_t length = size;

	(void)cookie;
	if (environment.verbose && fwrite(text, 1, size, stderr) < size)
		clearerr(stderr);
	while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' '))
		length--;
	if (length > 0 && rte_log_cur_msg_loglevel() <= (int)RTE_LOG_ERR &&
	    environment.reason[0] == '\0')
		snprintf(environment.reason, sizeof environment.reason, "%.*s", (int)length, text);
	return (ssize_t)size;
}

static int redirect_log(void)
{
	FILE *log = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = hear });

	if (log == NULL)
		return -ENOMEM;
	setvbuf(log, NULL, _IOLBF, BUFSIZ);
	rte_openlog_stream(log);
	return 0;
}

/* Libraries of drivers that write to standard error by themselves; no function at all silences them. */
static const struct {
	const char *library, *setter;
} talkers[] = {
	{ "libbpf.so.1", "libbpf_set_print" },
	{ "libxdp.so.1", "libxdp_set_print" },
};

/* Only where a driver has loaded the library. */
static void silence_talkers(void)
{
	for (size_t i = 0; i < sizeof talkers / sizeof talkers[0]; i++) {
		void *library = dlopen(talkers[i].library, RTLD_LAZY | RTLD_NOLOAD);
		void *(*setter)(void *print) = NULL;

		if (library == NULL)
			continue;
		*(void **)&setter = dlsym(library, talkers[i].setter);
		if (setter != NULL)
			setter(NULL);
		dlclose(library);
	}
}

/*
 * DPDK's own thread, which waits for events of devices, would keep the rights that the program had when it was
 * made: capabilities are a thread's. Alarms are run by that thread, so one of them can give the rights up.
 */
static void give_up_rights(void *semaphore)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	/* ends with -1 at the first number that the kernel has no capability for, or without the right to */
	for (unsigned long each = 0; prctl(PR_CAPBSET_DROP, each, 0, 0, 0) == 0;)
		each++;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_capset, &header, none);
	sem_post(semaphore);
}

static int disarm_event_thread(void)
{
	struct timespec limit;
	sem_t done;
	int error = 0;

	sem_init(&done, 0, 0);
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += ALARM_S;
	if (rte_eal_alarm_set(1, give_up_rights, &done) != 0)
		error = -EIO;
	while (error == 0 && sem_timedwait(&done, &limit) != 0) {
		if (errno != EINTR)
			error = -errno;
	}
	rte_eal_alarm_cancel(give_up_rights, &done);
	sem_destroy(&done);
	return error;
}

static uint64_t read_number(const char *folder, const char *name)
{
	unsigned long long number = 0;
	char path[512];
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	if (fscanf(file, "%llu", &number) != 1)
		number = 0;
	fclose(file);
	return number;
}

static uint64_t free_huge_bytes(void)
{
	uint64_t bytes = 0;
	glob_t sizes;

	if (glob("/sys/kernel/mm/hugepages/hugepages-*kB", GLOB_NOSORT, NULL, &sizes) != 0)
		return 0;
	for (size_t i = 0; i < sizes.gl_pathc; i++) {
		const char *size = strrchr(sizes.gl_pathv[i], '-') + 1;

		bytes += read_number(sizes.gl_pathv[i], "free_hugepages") * strtoull(size, NULL, 10)
			 << 10;
	}
	globfree(&sizes);
	return bytes;
}

/* One logical core, "0@(1,3,5)": it may run wherever the calling thread may, so EAL pins nobody. */
static void place(char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "0@(");
	cpu_set_t cores = { 0 };

	if (sched_getaffinity(0, sizeof cores, &cores) != 0)
		CPU_SET(0, &cores);
	for (size_t core = 0; core < CPU_SETSIZE && used + 8 < size; core++) {
		if (CPU_ISSET(core, &cores))
			used += (size_t)snprintf(text + used, size - used, "%zu,", core);
	}
	snprintf(text + used - 1, size - used + 1, ")");
}

/* EAL refuses to hear of a bus that is not installed. */
static bool has_bus(const char *name)
{
	char pattern[512];
	glob_t found;
	bool has;

	snprintf(pattern, sizeof pattern, "%s/librte_bus_%s.so*", RTE_EAL_PMD_PATH, name);
	has = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
	if (has)
		globfree(&found);
	return has;
}

struct arguments {
	char *texts[ARGUMENTS_MAX];
	int count;
};

static void add(struct arguments *arguments, char *text)
{
	assert(arguments->count < ARGUMENTS_MAX);
	arguments->texts[arguments->count++] = text;
}

/* Allow lists that name nothing keep EAL from taking devices that nobody asked for. */
static void allow_no_device(struct arguments *arguments)
{
	static const struct {
		const char *bus;
		char *nothing;
	} buses[] = { { "pci", "pci:ffff:ff:1f.7" }, { "auxiliary", "auxiliary:" } };

	for (size_t i = 0; i < sizeof buses / sizeof buses[0]; i++) {
		if (has_bus(buses[i].bus)) {
			add(arguments, "-a");
			add(arguments, buses[i].nothing);
		}
	}
}

static int start(uint64_t megabytes)
{
	struct arguments arguments = { .count = 0 };
	char cores[4096], memory[24];

	place(cores, sizeof cores);
	snprintf(memory, sizeof memory, "%llu", (unsigned long long)megabytes);
	add(&arguments, "fabtap");
	add(&arguments, "--no-telemetry");
	add(&arguments, "--lcores");
	add(&arguments, cores);
	allow_no_device(&arguments);
	if (environment.huge) {
		add(&arguments, "--in-memory");
	} else {
		add(&arguments, "--no-shconf");
		add(&arguments, "--no-huge");
		add(&arguments, "-m");
		add(&arguments, memory);
	}
	if (rte_eal_init(arguments.count, arguments.texts) < 0)
		return rte_errno > 0 ? -rte_errno : -EIO;
	return disarm_event_thread();
}

/* DPDK's thread takes over which signals are blocked: ours are for ours. Faults cannot wait. */
static int start_undisturbed(uint64_t megabytes)
{
	static const int faults[] = { SIGBUS, SIGSEGV, SIGFPE, SIGILL };
	sigset_t signals, before;
	int error;

	sigfillset(&signals);
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
		sigdelset(&signals, faults[i]);
	pthread_sigmask(SIG_BLOCK, &signals, &before);
	error = start(megabytes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

int ft_dpdk_environment_start(const char *source, uint64_t bytes, bool verbose,
			      struct ft_source_complaint *complaint)
{
	uint64_t needed = (bytes >> 20) + SPARE_MB;
	int error;

	pthread_mutex_lock(&environment.lock);
	environment.verbose = verbose;
	if (!environment.started && environment.error == 0) {
		environment.huge = free_huge_bytes() >> 20 >= needed;
		environment.error = redirect_log();
		if (environment.error == 0)
			environment.error = start_undisturbed(
				needed > ORDINARY_MB ? needed + SPARE_MB : ORDINARY_MB);
		environment.started = environment.error == 0;
		if (environment.started && !verbose)
			silence_talkers();
	}
	error = environment.error;
	pthread_mutex_unlock(&environment.lock);
	if (error != 0)
		ft_complain(complaint->text, sizeof complaint->text, source,
			    "DPDK does not start: %s",
			    environment.reason[0] != '\0' ? environment.reason : strerror(-error));
	return error;
}

int ft_dpdk_environment_probe(const char *device)
{
	int error;

	pthread_mutex_lock(&environment.lock);
	error = rte_dev_probe(device);
	pthread_mutex_unlock(&environment.lock);
	return error;
}

bool ft_dpdk_environment_join(void)
{
	bool joined;

	pthread_mutex_lock(&environment.lock);
	joined = environment.threads < FT_DPDK_THREADS && rte_thread_register() == 0;
	environment.threads += joined;
	pthread_mutex_unlock(&environment.lock);
	return joined;
}

const char *ft_dpdk_environment_reason(void)
{
	return environment.reason;
}

void ft_dpdk_environment_forget(void)
{
	environment.reason[0] = '\0';
}

bool ft_dpdk_environment_huge(void)
{
	return environment.huge;
}
