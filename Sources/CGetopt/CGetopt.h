// The door to getopt_long(3), which the Glibc module does not show.
#pragma once
#include <getopt.h>
