#include "resp.h"

/* Far more than any reply needs. PHP's memory limit does not count an incomplete reply. */
#define LONGEST_REPLY (1024 * 1024)
/* An element takes four bytes at least. */
#define MOST_ELEMENTS (LONGEST_REPLY / 4)
/* Arrays in arrays: a reply has four levels at most. */
#define MOST_LEVELS 7

/* hiredis allocates a pointer for each element that the head of an array announces, before any element comes: 16 GiB
 * for 13 bytes. It frees arrays by recursion, which can overflow the stack: hiredis 1.0 to 1.3.0 limits no depth. */
static void *limited_array(const redisReadTask *task, dlock_element_count count)
{
	dlock_resp *resp = task->privdata;

	resp->announced += (size_t) count;
	resp->too_deep = resp->reader->ridx >= MOST_LEVELS;
	return resp->too_deep || resp->announced > MOST_ELEMENTS ? NULL : resp->make_array(task, count);
}

bool dlock_resp_begin(dlock_resp *resp)
{
	redisReader *reader = resp->reader = redisReaderCreate();

	resp->partial = resp->announced = 0;
	resp->too_deep = false;
	if (reader) {
		resp->make = *reader->fn;
		resp->make_array = resp->make.createArray;
		resp->make.createArray = limited_array;
		reader->fn = &resp->make;
		reader->privdata = resp;
	}
	return reader != NULL;
}

void dlock_resp_end(dlock_resp *resp)
{
	if (resp->reader) {
		redisReaderFree(resp->reader);
		resp->reader = NULL;
	}
}

void dlock_resp_feed(dlock_resp *resp, const char *bytes, size_t len)
{
	redisReaderFeed(resp->reader, bytes, len); /* if this fails, reading fails, too */
	resp->partial += len;
}

redisReply *dlock_resp_next(dlock_resp *resp, const char **problem)
{
	void *reply = NULL;

	*problem = NULL;
	if (redisReaderGetReply(resp->reader, &reply) != REDIS_OK) {
		*problem = resp->too_deep ? "a reply with deeper arrays than any has"
			: resp->announced > MOST_ELEMENTS ? "a reply with more elements than any has" : resp->reader->errstr;
	} else if (reply) {
		resp->partial = resp->announced = 0;
	} else if (resp->partial > LONGEST_REPLY) {
		*problem = "reply exceeds 1 MiB";
	}
	return reply;
}

bool dlock_resp_append(dlock_channel *channel, int words, const char *const *word, const size_t *lens)
{
	char *text = NULL;
	long long len = redisFormatCommandArgv(&text, words, (const char **) word, lens);
	bool appended = len > 0 && dlock_channel_append(channel, text, (size_t) len);

	redisFreeCommand(text);
	return appended;
}
