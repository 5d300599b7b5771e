#pragma once

#include <capture/source.h>

/*
 * Would a live source take this kernel filter, as far as can be told without opening it and without any right? 0;
 * or *complaint, one line, and -EINVAL (not pcap's language, or not for Ethernet), -EOPNOTSUPP (its kind, or this
 * build, takes none), -ENODEV (no live source's address).
 */
int ft_live_filter_check(const char *name, const char *filter,
			 struct ft_source_complaint *complaint);
