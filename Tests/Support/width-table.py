#!/usr/bin/env python3
"""Writes Sources/DisplayText/WidthTable.swift: what each code point may do on a terminal.

The widths are the C library's wcwidth in C.UTF-8, because ncurses asks the same function; the categories are
Python's Unicode tables. Debian 12 has Unicode 14 in both, which is checked. Run on Debian 12:

    python3 Tests/Support/width-table.py > Sources/DisplayText/WidthTable.swift
"""
import ctypes
import locale
import unicodedata

assert unicodedata.unidata_version == "14.0.0", "another Unicode version than glibc 2.36 has"
locale.setlocale(locale.LC_CTYPE, "C.UTF-8")
wcwidth = ctypes.CDLL(None).wcwidth
wcwidth.argtypes, wcwidth.restype = [ctypes.c_uint32], ctypes.c_int

ESCAPED, NARROW, WIDE, MARK, DROPPED, ODD_SPACE = range(6)

# Default_Ignorable_Code_Point that the categories below would let through: they show nothing at all.
INVISIBLE = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0}
INVISIBLE |= set(range(0xFE00, 0xFE0E)) | set(range(0xE0100, 0xE01F0))
DROPPED_SELECTORS = {0xFE0E, 0xFE0F}
BRAILLE_BLANK = 0x2800


def class_of(code):
    category = unicodedata.category(chr(code))
    width = wcwidth(code)
    if code in DROPPED_SELECTORS:
        return DROPPED
    if code in INVISIBLE or width < 0 or category in ("Cc", "Cf", "Zl", "Zp", "Co", "Cs", "Cn"):
        return ESCAPED
    if code == BRAILLE_BLANK or (category == "Zs" and code != 0x20):
        return ODD_SPACE
    return (MARK, NARROW, WIDE)[width]


runs, last = [], None
for code in range(0x110000):
    kind = class_of(code)
    if kind != last:
        runs.append(code << 3 | kind)
        last = kind

print("// Written by Tests/Support/width-table.py from glibc 2.36 and Unicode 14; do not edit.")
print()
print("/// Runs of code points in order, each packed as `first << 3 | class`; a run ends where the next begins.")
print("/// The classes are the raw values of `CodePointClass`.")
print("// swift-format-ignore")
print("let widthTable: [UInt32] = [")
line = "   "
for run in runs:
    word = " 0x%X," % run
    if len(line) + len(word) > 120:
        print(line)
        line = "   "
    line += word
print(line)
print("]")
