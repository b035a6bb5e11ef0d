// The door to expat (libexpat1). No shims needed.
#include <expat.h>
