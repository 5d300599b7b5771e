#pragma once

#include <stdio.h>

#include <obstack.h>

#include <partition/map.h>

#include "findings.h"

/*
 * A finding in words. Strings go to `words`, whose owner frees them all at once.
 */
const char *ft_wording_summary(struct obstack *words, const struct ft_declared *declared,
                               const struct ft_finding *finding);

/* Sentences that support the finding; returns how many (<= room). */
size_t ft_wording_evidence(struct obstack *words, const struct ft_declared *declared,
                           const struct ft_finding *finding, const char **sentences, size_t room);

/* printf into `words`; the text stays until they are freed. */
const char *ft_words(struct obstack *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
