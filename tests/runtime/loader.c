/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loader [-o OPTION]... MODULE.ko [COMMAND [ARGUMENT...]]
 *
 * The smallest program that speaks the control protocol: loads the module,
 * starts it, runs the command (without one: waits for exit()), stops it,
 * writes the records in order of their numbers to standard output and
 * warnings and errors to standard error, and removes the module.
 * Options: -d detach instead of stopping (the module stays), -a attach to a
 * module that runs, -q no reading of trace data before the end, -p NAME=VALUE a
 * module parameter.
 * Exit status: 0, or 1 if there was an error message or the start failed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START = 0x50, EXIT, OOB_DATA, SYSTEM, TRANSPORT, READY = 0x58, REQUEST_EXIT = 0x5d };

static int control;
static int traces[64], trace_count;
static bool started, ended, failed, quit;
static struct record {
	uint32_t sequence, length;
	char *data;
} *records;
static size_t record_count;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void tell(uint32_t type, int32_t argument, size_t size)
{
	struct { uint32_t type; int32_t argument, zero; } m = { type, argument, 0 };

	if (write(control, &m, size) != (ssize_t)size)
		die("write to .cmd");
}

/* Collects what the trace files have. */
static void read_traces(void)
{
	static char buffer[1 << 20];

	for (int i = 0; i < trace_count; i++) {
		ssize_t size;

		/* A read of nothing must come back, and leave all that there is. */
		if (read(traces[i], buffer, 0) != 0)
			fprintf(stderr, "a read of nothing gave something\n");
		while ((size = read(traces[i], buffer, sizeof(buffer))) > 0) {
			for (char *p = buffer; p < buffer + size;) {
				struct record r;

				if (memcmp(p, "\xf0\x9f\xa9\xba", 4)) {
					fprintf(stderr, "loader: bad record\n");
					exit(2);
				}
				memcpy(&r.sequence, p + 4, 4);
				memcpy(&r.length, p + 8, 4);
				r.data = malloc(r.length);
				memcpy(r.data, p + 12, r.length);
				p += 12 + r.length;
				records = realloc(records, ++record_count * sizeof(r));
				records[record_count - 1] = r;
			}
		}
	}
}

/* Handles one message, if there is one. */
static void listen_once(void)
{
	struct { uint32_t type; union { int32_t start[2]; char text[8192]; }; } m;
	ssize_t size = read(control, &m, sizeof(m));

	if (size < 0 && errno == EAGAIN)
		return;
	if (size < 4)
		die("read from .cmd");
	switch (m.type) {
	case TRANSPORT:
		tell(START, 0, 12);
		break;
	case START:
		started = true;
		if (m.start[1]) {
			fprintf(stderr, "start: %s\n", strerror(-m.start[1]));
			failed = ended = true;
		}
		break;
	case OOB_DATA:
		fwrite(m.text, size - 4, 1, stderr);
		failed |= !strncmp(m.text, "ERROR", 5);
		break;
	case REQUEST_EXIT:
		quit = true;
		break;
	case EXIT:
		ended = true;
		break;
	default:
		fprintf(stderr, "loader: unknown message %x\n", m.type);
	}
}

static int by_sequence(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static void load(const char *file, const char *options)
{
	int fd = open(file, O_RDONLY);

	if (fd < 0 || syscall(SYS_finit_module, fd, options, 0))
		die(file);
	close(fd);
}

int main(int argc, char **argv)
{
	bool attach = false, detach = false, late = false;
	char name[64], path[128], options[256] = "";
	int option, status = 0;
	pid_t child = 0;

	while ((option = getopt(argc, argv, "+adqp:")) > 0) {
		detach |= option == 'd';
		attach |= option == 'a';
		late |= option == 'q';
		if (option == 'p')
			snprintf(options + strlen(options), 64, "%s ", optarg);
	}
	argv += optind;
	if (!attach)
		load(argv[0], options);
	snprintf(name, sizeof(name), "%s", basename(argv[0]));
	name[strlen(name) - 3] = 0;
	snprintf(path, sizeof(path), "/proc/systemtap/%s/.cmd", name);
	control = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (control < 0)
		die(path);
	for (trace_count = 0; trace_count < 64; trace_count++) {
		snprintf(path, sizeof(path), "/proc/systemtap/%s/trace%d", name, trace_count);
		traces[trace_count] = open(path, O_RDONLY | O_CLOEXEC);
		if (traces[trace_count] < 0)
			break;
	}
	tell(READY, 0, 4);
	while (!started && !attach)
		listen_once();
	if (argv[1] && !ended) {
		child = fork();
		if (!child) {
			execvp(argv[1], argv + 1);
			_exit(127);
		}
	}
	while (!quit && !ended && !(child && waitpid(child, &status, WNOHANG) == child)) {
		struct pollfd p = { control, POLLIN };

		poll(&p, 1, 10);
		if (p.revents & POLLIN)
			listen_once();
		if (!late)
			read_traces();
	}
	if (detach)
		return 0;
	if (!ended)
		tell(EXIT, 0, 4);
	while (!ended)
		listen_once();
	listen_once();
	read_traces();
	close(control);
	for (int i = 0; i < trace_count; i++)
		close(traces[i]);
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		die("remove");
	qsort(records, record_count, sizeof(*records), by_sequence);
	for (size_t i = 0; i < record_count; i++) {
		if (i && records[i].sequence != records[i - 1].sequence + 1)
			fprintf(stderr, "loader: gap before record %u\n", records[i].sequence);
		fwrite(records[i].data, records[i].length, 1, stdout);
	}
	fflush(stdout);
	return failed;
}
