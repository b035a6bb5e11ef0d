// The door to libqrencode.
#pragma once
#include <qrencode.h>
