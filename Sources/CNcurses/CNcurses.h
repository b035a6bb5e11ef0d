// The door to ncursesw: wide characters on, and a shim for each macro and global that the importer refuses.
#pragma once
#ifndef _XOPEN_SOURCE_EXTENDED
#define _XOPEN_SOURCE_EXTENDED 1
#endif
#include <curses.h>
#include <term.h>
