#include "CTerminalRescue.h"
