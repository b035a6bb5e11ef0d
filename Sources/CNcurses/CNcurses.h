// The door to ncursesw: wide characters on, and a shim for each macro and global that the importer refuses.
#pragma once
#ifndef _XOPEN_SOURCE_EXTENDED
#define _XOPEN_SOURCE_EXTENDED 1
#endif
#include <curses.h>
#include <term.h>

// Globals: the importer sees shared mutable state.
static inline WINDOW *CNcurses_stdscr(void) { return stdscr; }
static inline WINDOW *CNcurses_curscr(void) { return curscr; }
static inline int CNcurses_COLORS(void) { return COLORS; }

// Macros with casts.
static inline attr_t CNcurses_A_BOLD(void) { return A_BOLD; }
static inline attr_t CNcurses_A_DIM(void) { return A_DIM; }
static inline attr_t CNcurses_A_REVERSE(void) { return A_REVERSE; }
static inline attr_t CNcurses_A_UNDERLINE(void) { return A_UNDERLINE; }

// A macro that assigns to its arguments.
static inline void CNcurses_getyx(WINDOW *window, int *y, int *x) { getyx(window, *y, *x); }
