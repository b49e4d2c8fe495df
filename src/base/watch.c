#include "watch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/epoll.h>
#endif

typedef struct dlock_watched {
	int fd;
	short events;
	bool is_in, is_wanted;
} watched;

void dlock_watch_begin(dlock_watch *watch)
{
	for (int i = 0; i < watch->count; i++) {
		watch->watched[i].is_wanted = false;
	}
}

static watched *find(dlock_watch *watch, int fd)
{
	for (int i = 0; i < watch->count; i++) {
		if (watch->watched[i].fd == fd) {
			return &watch->watched[i];
		}
	}
	return NULL;
}

static watched *add(dlock_watch *watch, int fd)
{
	if (watch->count == watch->room) {
		int room = watch->room ? 2 * watch->room : 8;
		watched *grown = realloc(watch->watched, (size_t) room * sizeof *grown);
		if (!grown) {
			return NULL;
		}
		watch->watched = grown;
		watch->room = room;
	}
	watched *one = &watch->watched[watch->count++];
	*one = (watched) { .fd = fd };
	return one;
}

/* Without memory the descriptor is not watched. The caller that polls the set looks when its time has come. */
void dlock_watch_add(dlock_watch *watch, int fd, short events)
{
	watched *one = fd >= 0 ? find(watch, fd) : NULL;

	if (!one && fd >= 0) {
		one = add(watch, fd);
	}
	if (one) {
		one->events = one->is_wanted ? (short) (one->events | events) : events;
		one->is_wanted = true;
	}
}

/* Closes the set. A child of fork() closes only its own copy. */
static void discard(dlock_watch *watch)
{
	if (watch->process != 0) {
		close(watch->fd);
		watch->process = 0;
	}
	watch->is_spoiled = false;
	for (int i = 0; i < watch->count; i++) {
		watch->watched[i].is_in = false;
	}
}

void dlock_watch_renew(dlock_watch *watch)
{
	if (watch->is_spoiled) {
		discard(watch);
	}
}

void dlock_watch_end(dlock_watch *watch)
{
	discard(watch);
	free(watch->watched);
	memset(watch, 0, sizeof *watch);
}

#ifdef __linux__

static bool open_set(dlock_watch *watch)
{
	if (watch->process != dlock_process_current()) {
		discard(watch);
		watch->fd = epoll_create1(EPOLL_CLOEXEC);
		watch->process = watch->fd >= 0 ? dlock_process_current() : 0;
	}
	return watch->process != 0;
}

/* If the descriptor was closed, its number may belong to another one, which is not in the set yet. */
static void put(dlock_watch *watch, watched *one)
{
	struct epoll_event event = { .data.fd = one->fd };

	event.events = (one->events & POLLIN ? EPOLLIN : 0) | (one->events & POLLOUT ? EPOLLOUT : 0);
	if (one->is_in && epoll_ctl(watch->fd, EPOLL_CTL_MOD, one->fd, &event) == 0) {
		return;
	}
	watch->is_spoiled |= one->is_in;
	one->is_in = epoll_ctl(watch->fd, EPOLL_CTL_ADD, one->fd, &event) == 0;
}

int dlock_watch_finish(dlock_watch *watch)
{
	int count = 0;

	if (!open_set(watch)) {
		return -1;
	}
	for (int i = 0; i < watch->count; i++) {
		watched one = watch->watched[i];
		if (one.is_wanted) {
			put(watch, &one);
			watch->watched[count++] = one;
		} else if (one.is_in) {
			watch->is_spoiled |= epoll_ctl(watch->fd, EPOLL_CTL_DEL, one.fd, &(struct epoll_event) { 0 }) != 0;
		}
	}
	watch->count = count;
	return watch->fd;
}

#else

int dlock_watch_finish(dlock_watch *watch)
{
	(void) watch;
	return -1;
}

#endif
