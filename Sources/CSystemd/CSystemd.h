// The door to libsystemd's sd-bus. No shims needed: what is variadic there has a sister that is not.
#include <systemd/sd-bus.h>
