#include "dpdk_xdp.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <linux/bpf.h>

/* The library that the driver has loaded is asked: who does not use the driver does not need it. */
struct libbpf {
	void *library;
	int (*query_id)(int interface, int flags, uint32_t *id);
	int (*get_fd)(uint32_t id);
	int (*attach)(int interface, int program, uint32_t flags, const void *options);
	int (*detach)(int interface, uint32_t flags, const void *options);
	int (*create_link)(int program, int interface, enum bpf_attach_type type,
			   const void *options);
};

static bool find(struct libbpf *bpf)
{
	bpf->library = dlopen("libbpf.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (bpf->library == NULL)
		return false;
	*(void **)&bpf->query_id = dlsym(bpf->library, "bpf_xdp_query_id");
	*(void **)&bpf->get_fd = dlsym(bpf->library, "bpf_prog_get_fd_by_id");
	*(void **)&bpf->attach = dlsym(bpf->library, "bpf_xdp_attach");
	*(void **)&bpf->detach = dlsym(bpf->library, "bpf_xdp_detach");
	*(void **)&bpf->create_link = dlsym(bpf->library, "bpf_link_create");
	if (bpf->query_id != NULL && bpf->get_fd != NULL && bpf->attach != NULL &&
	    bpf->detach != NULL && bpf->create_link != NULL)
		return true;
	dlclose(bpf->library);
	return false;
}

/* A program cannot be attached in both ways at a time. */
static int exchange(const struct libbpf *bpf, int interface, int program)
{
	int link;

	if (bpf->detach(interface, 0, NULL) != 0)
		return -1;
	link = bpf->create_link(program, interface, BPF_XDP, NULL);
	if (link >= 0)
		return link;
	bpf->attach(interface, program, 0, NULL);
	return -1;
}

int ft_dpdk_xdp_hold(int interface)
{
	struct libbpf bpf;
	int program, link = -1;
	uint32_t id = 0;

	if (!find(&bpf))
		return -1;
	if (bpf.query_id(interface, 0, &id) == 0 && id != 0) {
		program = bpf.get_fd(id);
		if (program >= 0) {
			link = exchange(&bpf, interface, program);
			close(program);
		}
	}
	dlclose(bpf.library);
	return link;
}
