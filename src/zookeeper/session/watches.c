#include "watches.h"

#include <stdlib.h>
#include <string.h>

struct dlock_zk_watch {
	dlock_zk_watches next;
	char path[];
};

static dlock_zk_watches *find(dlock_zk_watches *watches, const char *path)
{
	while (*watches && strcmp((*watches)->path, path) != 0) {
		watches = &(*watches)->next;
	}
	return watches;
}

static void take(dlock_zk_watches *at)
{
	dlock_zk_watches watch = *at;

	*at = watch->next;
	free(watch);
}

bool dlock_zk_watches_add(dlock_zk_watches *watches, const char *path)
{
	if (*find(watches, path)) {
		return true;
	}
	dlock_zk_watches watch = malloc(sizeof *watch + strlen(path) + 1);
	if (!watch) {
		return false;
	}
	strcpy(watch->path, path);
	watch->next = *watches;
	*watches = watch;
	return true;
}

bool dlock_zk_watches_has(dlock_zk_watches *watches, const char *path)
{
	return *find(watches, path);
}

bool dlock_zk_watches_take(dlock_zk_watches *watches, const char *path)
{
	dlock_zk_watches *at = find(watches, path);

	if (!*at) {
		return false;
	}
	take(at);
	return true;
}

void dlock_zk_watches_keep(dlock_zk_watches *watches, char *const *paths, int count)
{
	while (*watches) {
		int i = 0;
		while (i < count && strcmp((*watches)->path, paths[i]) != 0) {
			i++;
		}
		if (i < count) {
			watches = &(*watches)->next;
		} else {
			take(watches);
		}
	}
}
