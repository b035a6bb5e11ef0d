// What must work inside a signal handler: giving the terminal back after a crash, and turning other signals into
// bytes of a pipe. The one C file with logic, because Swift promises nothing about async-signal safety.
#pragma once
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

/// From now on until CTerminalRescue_disarm a crash (SEGV, BUS, ILL, TRAP, FPE, ABRT, SYS) and exit(3) write `text`
/// to `tty`, set its modes to `modes` and put `standardError` back as descriptor 2; then the handler that was there
/// before goes on. `standardError` is -1 when descriptor 2 was left alone. At most 256 bytes of text are kept.
/// The first call also gives the calling thread a signal stack, for a crash by stack overflow.
void CTerminalRescue_arm(int tty, const struct termios *modes, const char *text, size_t length, int standardError);

/// The terminal is given back already: a crash or exit touches nothing any more.
void CTerminalRescue_disarm(void);

/// Remembers what happens on WINCH, TSTP, CONT, TERM, HUP, INT and QUIT. To be called before newterm(3), which
/// installs handlers of its own that call unsafe functions.
void CTerminalRescue_remember_signals(void);

/// These signals become a byte each (the signal's number) on `descriptor`, which must not block.
void CTerminalRescue_forward_signals(int descriptor);

/// Puts back what CTerminalRescue_remember_signals found.
void CTerminalRescue_restore_signals(void);

/// Stops the process as SIGTSTP does by default: the whole group, or this process alone by SIGSTOP when `alone`
/// (in an orphaned group the kernel drops SIGTSTP). May return before the stop takes effect.
void CTerminalRescue_stop(int alone);
