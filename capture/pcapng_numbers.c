#include "pcapng_numbers.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

struct met {
	uint32_t input, section, interface;
	uint16_t link_type;
	uint32_t number;
};

struct ft_pcapng_numbers {
	void *tree; /* tsearch(), of struct met */
	const struct met *last;
	uint32_t count;
};

int ft_pcapng_numbers_create(struct ft_pcapng_numbers **numbers)
{
	*numbers = calloc(1, sizeof **numbers);
	return *numbers != NULL ? 0 : -ENOMEM;
}

void ft_pcapng_numbers_destroy(struct ft_pcapng_numbers *numbers)
{
	if (numbers == NULL)
		return;
	tdestroy(numbers->tree, free);
	free(numbers);
}

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_met(const void *left, const void *right)
{
	const struct met *a = left, *b = right;
	int order = compare(a->input, b->input);

	if (order == 0)
		order = compare(a->section, b->section);
	if (order == 0)
		order = compare(a->interface, b->interface);
	return order != 0 ? order : compare(a->link_type, b->link_type);
}

static int add(struct ft_pcapng_numbers *numbers, const struct met *key)
{
	struct met *added = malloc(sizeof *added);

	if (added == NULL)
		return -ENOMEM;
	*added = *key;
	if (tsearch(added, &numbers->tree, compare_met) == NULL) {
		free(added);
		return -ENOMEM;
	}
	numbers->count++;
	numbers->last = added;
	return 1;
}

int ft_pcapng_numbers_find(struct ft_pcapng_numbers *numbers, const struct ft_frame *frame,
			   uint32_t *number)
{
	const struct met key = { frame->input, frame->section, frame->interface, frame->link_type,
				 numbers->count };
	const struct met *const *found;

	if (numbers->last != NULL && compare_met(&key, numbers->last) == 0) {
		*number = numbers->last->number;
		return 0;
	}
	found = tfind(&key, &numbers->tree, compare_met);
	*number = found != NULL ? (*found)->number : key.number;
	if (found == NULL)
		return add(numbers, &key);
	numbers->last = *found;
	return 0;
}
