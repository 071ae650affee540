/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event files: what hits the script's probe points, one event a line,
 *
 *	TIME POINT CPU PID TID EXECNAME [NAME=VALUE]...
 *
 * docs/events.md describes them. A file is read as a whole before the session starts;
 * what is wrong with it is said with its line, and ends the program.
 */
#ifndef XL_EVENTS_H
#define XL_EVENTS_H

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include "points.h"

#define XL_NO_EVENT UINT32_MAX

struct xl_event {
	u64 time;			/* ns since the session's start; never less than before */
	struct xl_site *site;
	struct task_struct *task;
	u32 next;			/* of the same CPU */
	u32 cpu;
};

static struct {
	const char *file;
	unsigned int line;
	struct xl_event *event;		/* in the order of the file */
	u32 count, room;
	u32 first[NR_CPUS], last[NR_CPUS];	/* of each CPU, XL_NO_EVENT if it has none */
	bool started;			/* the line `start` was there */
} xl_events;

/* Says what is wrong with the line, and how it should be, and ends the program. */
#define xl_bad_event(format, ...)							\
	errx(1, "%s:%u: " format, xl_events.file, xl_events.line, ##__VA_ARGS__)

static inline void *xl_need(void *memory)
{
	if (!memory)
		errx(1, "no memory for the events");
	return memory;
}

/* Cuts the next word off a line; NULL at its end. Blanks between quotes belong to it. */
static inline char *xl_word(char **line)
{
	char *p = *line + strspn(*line, " \t"), *word = p;
	bool quoted = false;

	if (!*p || *p == '#')
		return NULL;
	for (; *p && (quoted || !strchr(" \t", *p)); p++) {
		if (*p == '"')
			quoted = !quoted;
		else if (*p == '\\' && quoted && p[1])
			p++;
	}
	if (quoted)
		xl_bad_event("a quote is not closed: write \"text\"");
	if (*p)
		*p++ = 0;
	*line = p;
	return word;
}

/* The byte that stands behind a backslash, as in C; *p goes to its last character. */
static inline char xl_escaped(char **p)
{
	static const char letters[] = "abtnvfr";	/* bytes 7 to 13 */
	const char *letter = strchr(letters, **p);
	unsigned int byte = 0;
	int digits;

	if (letter && **p)
		return 7 + (letter - letters);
	for (digits = 0; digits < 3 && **p >= '0' && **p <= '7'; digits++)
		byte = byte * 8 + *(*p)++ - '0';
	if (!digits)
		return **p;
	--*p;
	return byte;
}

/* Takes quotes and the backslashes between them out of a word, in place. */
static inline char *xl_unquoted(char *word)
{
	char *from, *to = word;
	bool quoted = false;

	for (from = word; *from; from++) {
		if (*from == '"') {
			quoted = !quoted;
			continue;
		}
		if (*from == '\\' && quoted) {
			from++;
			*to++ = xl_escaped(&from);
		} else {
			*to++ = *from;
		}
	}
	*to = 0;
	return word;
}

/* Seconds with at most nine decimals, as ns. */
static inline u64 xl_time_word(const char *word)
{
	u64 seconds = 0, fraction = 0;
	const char *p;
	int digits = 0;

	for (p = word; *p >= '0' && *p <= '9' && seconds < 1000000000; p++)
		seconds = seconds * 10 + *p - '0';
	if (p != word && *p == '.')
		for (p++; *p >= '0' && *p <= '9' && digits < 9; p++, digits++)
			fraction = fraction * 10 + *p - '0';
	if (p == word || *p)
		xl_bad_event("`%s` is no time: write seconds since the start, like 12.000000500",
			     word);
	for (; digits < 9; digits++)
		fraction *= 10;
	return seconds * NSEC_PER_SEC + fraction;
}

static inline u64 xl_number_word(const char *what, const char *word, u64 most)
{
	unsigned long long number;
	char *end;

	if (!word)
		xl_bad_event("%s is missing: write TIME POINT CPU PID TID EXECNAME", what);
	errno = 0;
	number = strtoull(word, &end, 10);
	if (*word < '0' || *word > '9' || *end || errno || number > most)
		xl_bad_event("`%s` is no %s: write a number from 0 to %llu", word, what,
			     (unsigned long long)most);
	return number;
}

/* The name in POINT("name"), if the word begins so; *rest is what follows. */
static inline char *xl_named(char *word, const char *point, char **rest)
{
	size_t length = strlen(point);
	char *name = word + length + 2, *end;

	if (strncmp(word, point, length) || strncmp(word + length, "(\"", 2))
		return NULL;
	end = strstr(name, "\")");
	if (!end || end == name)
		return NULL;
	*end = 0;
	*rest = end + 2;
	return name;
}

/* The site of a point, which is written over; NULL if an event cannot hit such a point. */
static inline struct xl_site *xl_site_named(char *point)
{
	char *name, *module, *rest, *function = point;

	name = xl_named(point, "kernel.trace", &rest);
	if (name)
		return *rest ? NULL : xl_need(xl_site_of(XL_POINT_TRACE, name));
	module = xl_named(point, "kprobe.module", &rest);
	if (module) {
		if (*rest != '.')
			return NULL;
		name = xl_named(rest + 1, "function", &function);
	} else {
		name = xl_named(point, "kernel.function", &function) ?:
			xl_named(point, "kprobe.function", &function);
	}
	if (!name || (*function && strcmp(function, ".return")))
		return NULL;
	if (module) {
		/* As the kernel has it, MODULE:NAME; there is more between the two than a colon. */
		size_t length = strlen(module);

		module[length] = ':';
		memmove(module + length + 1, name, strlen(name) + 1);
		name = module;
	}
	return xl_need(xl_site_of(*function ? XL_POINT_RETURN : XL_POINT_FUNCTION, name));
}

static inline struct xl_site *xl_site_word(char *word)
{
	struct xl_site *site;
	char *shown;

	if (!word)
		xl_bad_event("the probe point is missing: "
			     "write TIME POINT CPU PID TID EXECNAME");
	shown = xl_need(strdup(word));
	site = xl_site_named(word);
	if (!site)
		xl_bad_event("`%s` is no probe point that an event can hit: write kernel.trace(\"NAME\"), "
			     "kernel.function(\"NAME\") or kernel.function(\"NAME\").return", shown);
	free(shown);
	return site;
}

/* Sets what a word NAME=VALUE says of the task. */
static inline void xl_task_word(struct task_struct *task, char *word)
{
	char *value = strchr(word, '=');
	struct cred *cred = &task->credentials;

	if (!value || value == word)
		xl_bad_event("`%s` is no NAME=VALUE: "
			     "behind the name of the program only such words may come", word);
	*value++ = 0;
	xl_unquoted(value);
	if (*word == '$')
		return;			/* a variable of the probe point, which no script can read */
	if (!strcmp(word, "uid"))
		cred->uid.val = cred->euid.val = xl_number_word(word, value, UINT32_MAX);
	else if (!strcmp(word, "euid"))
		cred->euid.val = xl_number_word(word, value, UINT32_MAX);
	else if (!strcmp(word, "gid"))
		cred->gid.val = cred->egid.val = xl_number_word(word, value, UINT32_MAX);
	else if (!strcmp(word, "egid"))
		cred->egid.val = xl_number_word(word, value, UINT32_MAX);
	else if (!strcmp(word, "pgrp"))
		task->group = xl_number_word(word, value, INT32_MAX);
	else if (!strcmp(word, "sid"))
		task->session = xl_number_word(word, value, INT32_MAX);
	else if (!strcmp(word, "ppid"))
		task->real_parent->tgid = task->real_parent->pid =
			xl_number_word(word, value, INT32_MAX);
	else if (!strcmp(word, "pexecname"))
		strscpy(task->real_parent->comm, value, TASK_COMM_LEN);
	else
		xl_bad_event("`%s` is not known: write uid, euid, gid, egid, ppid, pgrp, sid, "
			     "pexecname or $VARIABLE in front of =", word);
}

/* A task with a parent of number 0; both stay. */
static inline struct task_struct *xl_task_new(void)
{
	struct task_struct *task = xl_need(calloc(2, sizeof(*task)));
	int i;

	for (i = 0; i < 2; i++) {
		task[i].real_cred = &task[i].credentials;
		task[i].real_parent = &task[1];
		task[i].prio = task[i].static_prio = NICE_ZERO;
	}
	return task;
}

/* The task that the rest of a line describes; the same text is the same task. */
static inline struct task_struct *xl_task_words(char *line)
{
	static struct known {
		struct known *next;
		struct task_struct *task;
		char text[];
	} *bucket[4096];
	unsigned int hash = 0;
	struct known **link;
	struct task_struct *task;
	char *p, *word;

	line += strspn(line, " \t");
	for (p = line; *p; p++)
		hash = hash * 31 + (unsigned char)*p;
	for (link = &bucket[hash % ARRAY_SIZE(bucket)]; *link; link = &(*link)->next)
		if (!strcmp((*link)->text, line))
			return (*link)->task;
	*link = xl_need(calloc(1, sizeof(**link) + strlen(line) + 1));
	strcpy((*link)->text, line);
	(*link)->task = task = xl_task_new();

	task->tgid = xl_number_word("process number", xl_word(&line), INT32_MAX);
	task->pid = xl_number_word("thread number", xl_word(&line), INT32_MAX);
	word = xl_word(&line);
	if (!word)
		xl_bad_event("the program's name is missing: "
			     "write TIME POINT CPU PID TID EXECNAME");
	strscpy(task->comm, xl_unquoted(word), TASK_COMM_LEN);
	task->group = task->session = task->tgid;
	while ((word = xl_word(&line)))
		xl_task_word(task, word);
	return task;
}

static inline void xl_event_append(struct xl_event event)
{
	u32 at = xl_events.count, *last = &xl_events.last[event.cpu];

	if (at && event.time < xl_events.event[at - 1].time)
		xl_bad_event("the event is earlier than the one before: sort the events by time");
	if (at == XL_NO_EVENT)
		xl_bad_event("there are too many events: split the file");
	if (at == xl_events.room) {
		xl_events.room = xl_events.room ? 2 * xl_events.room : 1024;
		xl_events.event = xl_need(reallocarray(xl_events.event, xl_events.room,
						       sizeof(event)));
	}
	if (*last == XL_NO_EVENT)
		xl_events.first[event.cpu] = at;
	else
		xl_events.event[*last].next = at;
	*last = at;
	xl_events.event[xl_events.count++] = event;
	nr_cpu_ids = max(nr_cpu_ids, event.cpu + 1);
}

/* Reads one line without its newline. */
static inline void xl_event_line(char *line)
{
	struct xl_event event = { .next = XL_NO_EVENT };
	char *word = xl_word(&line);

	if (!word)
		return;
	if (!strcmp(word, "start")) {
		word = xl_word(&line);
		if (!word || xl_events.count || xl_events.started)
			xl_bad_event("the line `start SECONDS` may stand once, before all events");
		xl_clock.start = xl_time_word(word);
		xl_events.started = true;
		if (xl_word(&line))
			xl_bad_event("nothing may follow `start SECONDS`");
		return;
	}
	event.time = xl_time_word(word);
	event.site = xl_site_word(xl_word(&line));
	event.cpu = xl_number_word("CPU", xl_word(&line), NR_CPUS - 1);
	event.task = xl_task_words(line);
	xl_event_append(event);
}

/* Reads a file; ends the program with a message if it is malformed. */
static inline void xl_events_read(const char *file)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	FILE *in = strcmp(file, "-") ? fopen(file, "re") : stdin;

	if (!in)
		err(1, "cannot read the events in %s", file);
	xl_events.file = file;
	memset(xl_events.first, 0xff, sizeof(xl_events.first));
	memset(xl_events.last, 0xff, sizeof(xl_events.last));
	while ((length = getline(&line, &room, in)) > 0) {
		xl_events.line++;
		if (line[length - 1] == '\n')
			line[--length] = 0;
		if (strlen(line) != (size_t)length)
			xl_bad_event("the line has a NUL byte: event files are text");
		xl_event_line(line);
	}
	if (ferror(in))
		err(1, "cannot read the events in %s", file);
	free(line);
	if (in != stdin)
		fclose(in);
}

#endif
