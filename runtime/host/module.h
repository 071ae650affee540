/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program, in the roles of module and loader: to be included last. It reads the
 * events, runs the session through its phases, writes the output and the messages, and
 * ends with the status that the loader of a module has.
 */
#ifndef XL_MODULE_H
#define XL_MODULE_H

#include <getopt.h>
#include <limits.h>
#include <linux/module.h>
#include "command.h"
#include "delivery.h"
#include "events.h"

/* The session's cycles follow the events. */
#define xl_idle_clock() ktime_get_mono_fast_ns()

#include "phases.h"
#include "replay.h"

#define XL_RING_DEFAULT 16		/* MiB for each CPU, */
#define XL_RINGS_DEFAULT 256		/* and for all of them */
#define XL_POLL 50000000		/* ns between two looks at the messages */

static struct {
	const char *events;
	const char *command;
	const char *output;
	u64 timeout;			/* ns, 0 for none */
	unsigned long repeat;
	unsigned int ring;		/* MiB, 0 for the default */
	bool serial;
	bool quiet;			/* no warnings */
} xl_options;

static bool xl_failed;			/* an error was reported */
static unsigned int xl_interruptions;

static const char xl_usage[] =
"usage: %s [OPTIONS] [NAME=VALUE]...\n"
"  --events FILE  fire the script's probes as the file says (-: standard input)\n"
"  --serial       one event after the other, in the order of the file\n"
"  --repeat N     fire each CPU's events N times over, as fast as it can, and say how fast\n"
"  -c CMD         run a command, and the script until it ends\n"
"  -x PID         make target() this process id\n"
"  -T SECONDS     end the script after this many seconds\n"
"  -s MIB         size of the output buffer of each CPU\n"
"  -o FILE        write the output to a file\n"
"  -w             suppress warnings\n"
"NAME=VALUE sets a global that was made a parameter.\n";

static inline void xl_parameter_word(const char *word)
{
	const char *value = strchr(word, '=');
	struct xl_parameter *p;

	for (p = xl_parameters; p && value; p = p->next) {
		if (strlen(p->name) != (size_t)(value - word) ||
		    strncmp(p->name, word, value - word))
			continue;
		if (p->ops->set(value + 1, &p->param))
			errx(1, "`%s` is no value of %s", value + 1, p->name);
		return;
	}
	errx(1, "`%s` is no parameter of this script: write NAME=VALUE", word);
}

static inline u64 xl_option_number(const char *option, const char *text, u64 most)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || !number || number > most)
		errx(1, "`%s` is no value of %s: write a number from 1 to %llu", text, option,
		     (unsigned long long)most);
	return number;
}

static inline void xl_options_read(int argc, char **argv)
{
	static const struct option names[] = {
		{ "events", required_argument, NULL, 'e' },
		{ "serial", no_argument, NULL, 'S' },
		{ "repeat", required_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int option;

	while ((option = getopt_long(argc, argv, "c:x:T:s:o:w", names, NULL)) >= 0) {
		switch (option) {
		case 'e': xl_options.events = optarg; break;
		case 'S': xl_options.serial = true; break;
		case 'r': xl_options.repeat = xl_option_number("--repeat", optarg, LONG_MAX); break;
		case 'c': xl_options.command = optarg; break;
		case 'x': xl_session.target = xl_option_number("-x", optarg, INT32_MAX); break;
		case 'T':
			xl_options.timeout = xl_option_number("-T", optarg, 1000000000) * NSEC_PER_SEC;
			break;
		case 's': xl_options.ring = xl_option_number("-s", optarg, 4095); break;
		case 'o': xl_options.output = optarg; break;
		case 'w': xl_options.quiet = true; break;
		case 'h':
			printf(xl_usage, argv[0]);
			exit(0);
		default:
			fprintf(stderr, xl_usage, argv[0]);
			exit(1);
		}
	}
	for (; optind < argc; optind++)
		xl_parameter_word(argv[optind]);
	if (!xl_options.events && (xl_options.serial || xl_options.repeat))
		errx(1, "--serial and --repeat need --events");
	if (xl_options.events && xl_options.command)
		errx(1, "-c needs a clock that runs, and with --events time follows the file: "
		     "use -x to set target()");
}

/* A line of the module's on standard error, as the loader shows it. */
static inline void xl_show(const char *text, u32 length)
{
	static const char warning[] = "WARNING: ", error[] = "ERROR: ";
	bool colour = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
	const char *kind = NULL, *code = "1;31";

	while (length && text[length - 1] == '\n')
		length--;
	if (!strncmp(text, warning, strlen(warning))) {
		if (xl_options.quiet)
			return;
		kind = warning;
		code = "1;33";
	} else if (!strncmp(text, error, strlen(error))) {
		kind = error;
		xl_failed = true;
	}
	if (kind && colour)
		fprintf(stderr, "\033[%sm%.*s\033[0;1m:\033[0m%.*s\n", code,
			(int)strlen(kind) - 2, kind, (int)(length - (strlen(kind) - 1)),
			text + strlen(kind) - 1);
	else
		fprintf(stderr, "%.*s\n", (int)length, text);
}

/* Shows what handlers have reported, and runs the commands that they want. */
static inline void xl_messages_show(void)
{
	for (;;) {
		struct xl_message *m = &xl_messages[xl_messages_read % XL_MESSAGES];

		if (!smp_load_acquire(&m->ready))
			break;
		if (m->type == XL_MSG_SYSTEM)
			xl_command_background(m->text);
		else
			xl_show(m->text, m->length);
		m->ready = 0;
		smp_store_release(&xl_messages_read, xl_messages_read + 1);
	}
}

/* Waits a little, for a thread that ends, a child that ends, or the user. */
static inline void xl_main_wait(const sigset_t *signals)
{
	const struct timespec pause = { .tv_nsec = XL_POLL };
	int signal = sigtimedwait(signals, NULL, &pause);

	if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
		xl_interruptions++;
	xl_messages_show();
}

static inline void xl_memory_setup(void)
{
	unsigned int ring = xl_options.ring ?: min(XL_RING_DEFAULT, XL_RINGS_DEFAULT / nr_cpu_ids);
	u64 size = (u64)ring << 20;
	int cpu;

	if (!xl_percpu_init())
		errx(1, "no memory for %u CPUs", nr_cpu_ids);
	for_each_possible_cpu(cpu) {
		struct xl_context *c = &per_cpu(xl_contexts, cpu);

		c->ring = kvzalloc(sizeof(*c->ring) + size + sizeof(struct xl_record) +
				   XL_RECORD_MAX, GFP_KERNEL);
		if (!c->ring || xl_memory_init(c))
			errx(1, "no memory for %u CPUs with %u MiB for output each", nr_cpu_ids,
			     ring);
		c->ring->size = size;
	}
	if (xl_gathered_init())
		errx(1, "no memory for what %u CPUs gather", nr_cpu_ids);
}

/* What begin and end handlers see as the current task: this process. */
static inline struct task_struct *xl_task_self(void)
{
	struct task_struct *task = xl_task_new();
	char path[64];
	FILE *file;

	task->tgid = task->pid = getpid();
	task->group = getpgrp();
	task->session = getsid(0);
	task->credentials.uid.val = getuid();
	task->credentials.euid.val = geteuid();
	task->credentials.gid.val = getgid();
	task->credentials.egid.val = getegid();
	strscpy(task->comm, program_invocation_short_name, TASK_COMM_LEN);
	task->real_parent->tgid = task->real_parent->pid = getppid();
	snprintf(path, sizeof(path), "/proc/%d/comm", getppid());
	file = fopen(path, "re");
	if (file) {
		if (fgets(task->real_parent->comm, TASK_COMM_LEN, file))
			task->real_parent->comm[strcspn(task->real_parent->comm, "\n")] = 0;
		fclose(file);
	}
	return task;
}

/* Runs the threads until the script, the events, the command or the user come to an end. */
static inline void xl_run(const sigset_t *signals)
{
	u64 end = xl_options.timeout ? ktime_get_mono_fast_ns() + xl_options.timeout : XL_FOREVER;
	bool complete;

	if (!xl_options.events)
		xl_replay_start(xl_replay_clock, nr_cpu_ids);
	else if (xl_options.repeat)
		xl_replay_start(xl_replay_repeat, nr_cpu_ids);
	else if (xl_options.serial)
		xl_replay_start(xl_replay_serial, 1);
	else
		xl_replay_start(xl_replay_cpu, nr_cpu_ids);
	xl_command_release();
	while (!xl_replay_over() && !xl_interruptions && !xl_command_over() &&
	       !__atomic_load_n(&xl_delivery.error, __ATOMIC_ACQUIRE)) {
		if (xl_options.events && !__atomic_load_n(&xl_replay.running, __ATOMIC_ACQUIRE))
			break;
		if (!xl_options.events && ktime_get_mono_fast_ns() >= end)
			break;
		xl_main_wait(signals);
	}
	complete = xl_options.events && !xl_replay_over() && !xl_interruptions;
	xl_replay_stop();
	if (xl_options.repeat)
		xl_replay_report();
	xl_event_time = complete ? xl_replay.end : xl_replay_time();
}

/* The end, and then all that is still to be said. */
static inline void xl_finish_session(const sigset_t *signals)
{
	xl_session_stop();
	xl_messages_show();
	xl_delivery_end();
	while (!__atomic_load_n(&xl_delivery.ended, __ATOMIC_ACQUIRE) && xl_interruptions < 2)
		xl_main_wait(signals);
	if (xl_interruptions > 1)
		_exit(130);
	pthread_join(xl_delivery.thread, NULL);
	if (xl_delivery.error && xl_delivery.error != EPIPE) {
		errno = xl_delivery.error;
		err(1, "cannot write %s", xl_options.output ?: "standard output");
	}
}

/* How the command of -c ended, if it is known. */
static inline void xl_command_judge(const sigset_t *signals)
{
	int status;

	if (!xl_command.pid)
		return;
	while (!xl_command_over() && !xl_interruptions)
		xl_main_wait(signals);
	status = xl_command.status;
	if (!xl_command.ended || (WIFEXITED(status) && !WEXITSTATUS(status)))
		return;
	xl_failed = true;
	if (!xl_options.quiet && WIFEXITED(status))
		warnx("the command failed: exit status: %d", WEXITSTATUS(status));
	else if (!xl_options.quiet)
		warnx("the command failed: signal: %d", WTERMSIG(status));
}

/* A warning if nothing of the file was for this script, as when a name is misspelled. */
static inline void xl_events_check(void)
{
	u32 i;

	for (i = 0; i < xl_events.count; i++)
		if (xl_events.event[i].site->points)
			return;
	if (xl_events.count && !xl_options.quiet)
		warnx("none of the events in %s hits a probe of the script", xl_events.file);
}

int main(int argc, char **argv)
{
	sigset_t signals;

	xl_options_read(argc, argv);
	if (xl_options.output) {
		xl_delivery.fd = open(xl_options.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (xl_delivery.fd < 0)
			err(1, "cannot write %s", xl_options.output);
	}
	if (xl_options.events) {
		xl_events_read(xl_options.events);
		xl_clock.follows_events = true;
		if (xl_events.count)
			xl_replay.end = xl_events.event[xl_events.count - 1].time;
		if (xl_options.timeout)
			xl_replay.end = min(xl_replay.end, xl_options.timeout);
	} else {
		nr_cpu_ids = clamp_t(long, sysconf(_SC_NPROCESSORS_ONLN), 1, NR_CPUS);
	}
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (xl_options.command) {
		xl_command_hold(xl_options.command);
		xl_session.target = xl_command.pid;
	}
	xl_memory_setup();
	xl_replay_init();
	xl_replay_rounds = xl_options.repeat;
	current = xl_task_self();
	xl_setup();
	xl_delivery_start();

	if (!xl_session_start() && !xl_session.exiting) {
		xl_events_check();
		xl_run(&signals);
	}
	xl_finish_session(&signals);
	xl_command_judge(&signals);
	return xl_failed;
}

#endif
