#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "CTerminalRescue.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Everything a handler reads is in statics that are complete before `armed` is set.
static volatile sig_atomic_t armed;
static int rescue_tty;
static int rescue_stderr;
static struct termios rescue_modes;
static char rescue_text[256];
static size_t rescue_length;

static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
enum { FATAL = sizeof fatal / sizeof fatal[0] };
static struct sigaction before_crash[FATAL];

static const int forwarded[] = {SIGWINCH, SIGTSTP, SIGCONT, SIGTERM, SIGHUP, SIGINT, SIGQUIT};
enum { FORWARDED = sizeof forwarded / sizeof forwarded[0] };
static struct sigaction before_forwarding[FORWARDED];
static volatile int forward_descriptor = -1;

// Only write, dup2, sigprocmask, tcflush and tcsetattr: all async-signal-safe (signal-safety(7)).
static void rescue(void) {
    if (!armed) return;
    armed = 0;
    int saved = errno;
    // A background process would be stopped by tcsetattr instead of ending.
    sigset_t ttou, mask;
    sigemptyset(&ttou);
    sigaddset(&ttou, SIGTTOU);
    sigprocmask(SIG_BLOCK, &ttou, &mask);
    ssize_t written = write(rescue_tty, rescue_text, rescue_length);
    (void)written;
    // Not TCSAFLUSH: it would wait for a terminal that does not take its output any more.
    tcflush(rescue_tty, TCIFLUSH);
    tcsetattr(rescue_tty, TCSANOW, &rescue_modes);
    if (rescue_stderr >= 0) dup2(rescue_stderr, STDERR_FILENO);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    errno = saved;
}

static void crashed(int number, siginfo_t *info, void *context) {
    rescue();
    for (int i = 0; i < FATAL; i++) {
        if (fatal[i] != number) continue;
        struct sigaction *before = &before_crash[i];
        sigaction(number, before, NULL);
        // Called, not raised again: a backtrace needs the context of the crash.
        if (before->sa_flags & SA_SIGINFO) {
            before->sa_sigaction(number, info, context);
        } else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN) {
            before->sa_handler(number);
        }
    }
    // A signal that was sent, or a breakpoint, would not happen again by itself. The signal is blocked here and
    // delivered on return.
    signal(number, SIG_DFL);
    raise(number);
}

void CTerminalRescue_arm(int tty, const struct termios *modes, const char *text, size_t length, int standardError) {
    armed = 0;
    rescue_tty = tty;
    rescue_modes = *modes;
    rescue_stderr = standardError;
    rescue_length = length < sizeof rescue_text ? length : sizeof rescue_text;
    memcpy(rescue_text, text, rescue_length);

    static int installed;
    if (!installed) {
        installed = 1;
        atexit(rescue);
        static char stack[64 * 1024];
        stack_t old, ours = {.ss_sp = stack, .ss_size = sizeof stack};
        if (sigaltstack(NULL, &old) == 0 && (old.ss_flags & SS_DISABLE)) sigaltstack(&ours, NULL);
        struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigemptyset(&action.sa_mask);
        for (int i = 0; i < FATAL; i++) sigaction(fatal[i], &action, &before_crash[i]);
    }
    armed = 1;
}

void CTerminalRescue_disarm(void) { armed = 0; }

static void forward(int number) {
    int saved = errno;
    unsigned char byte = (unsigned char)number;
    // A full pipe has enough signals in it to wake the loop.
    ssize_t written = write(forward_descriptor, &byte, 1);
    (void)written;
    errno = saved;
}

void CTerminalRescue_remember_signals(void) {
    for (int i = 0; i < FORWARDED; i++) sigaction(forwarded[i], NULL, &before_forwarding[i]);
}

void CTerminalRescue_forward_signals(int descriptor) {
    forward_descriptor = descriptor;
    struct sigaction action = {.sa_handler = forward, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < FORWARDED; i++) sigaction(forwarded[i], &action, NULL);
}

void CTerminalRescue_restore_signals(void) {
    for (int i = 0; i < FORWARDED; i++) sigaction(forwarded[i], &before_forwarding[i], NULL);
    forward_descriptor = -1;
}

void CTerminalRescue_stop(int alone) {
    if (alone) {
        raise(SIGSTOP);
        return;
    }
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigemptyset(&standard.sa_mask);
    sigaction(SIGTSTP, &standard, NULL);
    kill(0, SIGTSTP);
}
