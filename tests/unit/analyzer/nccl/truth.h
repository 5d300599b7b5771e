#pragma once

#include <stdbool.h>

#include <jansson.h>

#include <nccl/model.h>

/*
 * A truth file of the reference captures as the models that a follower who missed nothing would have made, but for what
 * only groups tell: ranks and channels.
 */
struct truth {
	json_t *json;
	struct ft_nccl_connection *rows, **connections;
	size_t connection_count;
	struct ft_nccl_message *messages; /* in order of first frame */
	struct ft_nccl_request *requests;
	size_t message_count;
};

/* False, said aloud: it is not there. */
bool truth_read(const char *name, struct truth *truth);
void truth_free(struct truth *truth);

const struct ft_nccl_connection *truth_connection(const struct truth *truth, uint32_t id);
