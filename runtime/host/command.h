/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Commands: that of -c, held until the probes are in place, and those of system(). */
#ifndef XL_COMMAND_H
#define XL_COMMAND_H

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/types.h>

static struct {
	pid_t pid;
	int hold;			/* closing it lets the command run */
	int status;			/* as wait() has it */
	bool ended;
} xl_command;

/* Becomes a shell that runs a command, with the signals as usual. */
static inline void __attribute__((__noreturn__)) xl_command_run(const char *command)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	execl("/bin/sh", "sh", "-c", command, NULL);
	err(127, "cannot run /bin/sh");
}

/* Starts the command of -c and holds it. Before there are threads. */
static inline void xl_command_hold(const char *command)
{
	int hold[2];
	char byte;

	if (pipe2(hold, O_CLOEXEC))
		err(1, "cannot make a pipe");
	xl_command.pid = fork();
	if (xl_command.pid < 0)
		err(1, "cannot start the command");
	if (!xl_command.pid) {
		close(hold[1]);
		/* A byte means that the probes are in place; that the pipe ends, that they never will be. */
		if (read(hold[0], &byte, 1) == 1)
			xl_command_run(command);
		_exit(0);
	}
	close(hold[0]);
	xl_command.hold = hold[1];
}

static inline void xl_command_release(void)
{
	if (xl_command.pid && write(xl_command.hold, "", 1) != 1)
		warn("cannot let the command run");
}

/* Whether the command of -c has ended. Takes all children that have. */
static inline bool xl_command_over(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == xl_command.pid) {
			xl_command.status = status;
			xl_command.ended = true;
		}
	}
	return xl_command.ended;
}

/* Runs a command that the script wants, and does not wait for it. */
static inline void xl_command_background(const char *command)
{
	pid_t pid = fork();

	if (!pid)
		xl_command_run(command);
	if (pid < 0)
		warn("cannot run a command");
}

#endif
