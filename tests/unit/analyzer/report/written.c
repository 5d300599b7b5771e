#include "written.h"

#include <stdlib.h>

void written_open(struct written *written)
{
	*written = (struct written){ 0 };
	written->out = open_memstream(&written->text, &written->size);
	if (written->out == NULL)
		abort();
}

const char *written_close(struct written *written)
{
	if (fclose(written->out) != 0)
		abort();
	return written->text;
}

void written_free(struct written *written)
{
	free(written->text);
}
