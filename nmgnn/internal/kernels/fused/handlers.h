#ifndef NODEMASK_HANDLERS_H
#define NODEMASK_HANDLERS_H

#include <stddef.h>

// nm_register registers the kernels with a PJRT plugin, given its interface, as functions for custom calls. It returns 1, or 0 and
// why the plugin refuses in problem, which has room for size characters.
int nm_register(const void *plugin, char *problem, size_t size);

// nm_keep_memory has glibc's allocator keep the memory that it gets, in the whole process, unless the user decided.
void nm_keep_memory(void);

#endif
