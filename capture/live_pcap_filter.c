#include "live_pcap.h"

#include "complain.h"

#include <errno.h>

enum { LONGEST = 262144 };

int ft_pcap_filter_check(const char *name, const char *filter,
			 struct ft_source_complaint *complaint)
{
	pcap_t *nothing = pcap_open_dead(DLT_EN10MB, LONGEST);
	struct bpf_program program;
	int error = 0;

	if (nothing == NULL ||
	    pcap_compile(nothing, &program, filter, 1, PCAP_NETMASK_UNKNOWN) != 0) {
		error = nothing == NULL ? -ENOMEM : -EINVAL;
		ft_complain(complaint->text, sizeof complaint->text, name, "bad filter: %s",
			    nothing == NULL ? "out of memory" : pcap_geterr(nothing));
	} else {
		pcap_freecode(&program);
	}
	if (nothing != NULL)
		pcap_close(nothing);
	return error;
}
