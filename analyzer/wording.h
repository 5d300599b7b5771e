#pragma once

#include <partition/arena.h>
#include <partition/map.h>

#include "findings.h"

/* A finding in words. The strings live in `words`. Ends the program (engine/no_memory.h) when memory ends. */
const char *ft_wording_summary(struct ft_arena *words, const struct ft_declared *declared,
			       const struct ft_finding *finding);

/* Sentences that support the finding; returns how many (<= room). */
size_t ft_wording_evidence(struct ft_arena *words, const struct ft_declared *declared,
			   const struct ft_finding *finding, const char **sentences, size_t room);

/* printf into `words`. */
const char *ft_words(struct ft_arena *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
