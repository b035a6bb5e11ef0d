// The door to the system calls and constants that Swift's Glibc module does not show.
#pragma once
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/xattr.h>

// Swift's Glibc module reads these headers without _GNU_SOURCE, so what they show only with it is missing there.
// Each function below is the system's own, with nothing added; the constants are those of the header.
extern const short CLinux_POSIX_SPAWN_SETSID;
int CLinux_posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
int CLinux_posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path);
int CLinux_accept4(int fd, int flags);
int CLinux_pipe2(int fds[2], int flags);
extern const int CLinux_F_SETPIPE_SZ;
int CLinux_renameat2(int oldDirectory, const char *oldPath, int newDirectory, const char *newPath, unsigned flags);
extern const unsigned CLinux_RENAME_NOREPLACE;
int CLinux_fallocate(int fd, int mode, off_t offset, off_t length);
extern const int CLinux_FALLOC_FL_KEEP_SIZE;
int CLinux_sync_file_range(int fd, off_t offset, off_t length, unsigned flags);
int CLinux_syncfs(int fd);
// `sys/vfs.h` is not in the Glibc module.
int CLinux_fstatfs_type(int fd, int64_t *type);
void *CLinux_memmem(const void *bytes, size_t count, const void *mark, size_t markCount);
extern const unsigned CLinux_SYNC_FILE_RANGE_WRITE;
extern const unsigned CLinux_SYNC_FILE_RANGE_WAIT_BEFORE;
extern const unsigned CLinux_SYNC_FILE_RANGE_WAIT_AFTER;
int CLinux_peer_credentials(int fd, pid_t *pid, uid_t *uid, gid_t *gid);
// prctl is variadic.
int CLinux_prctl_set_dumpable(int dumpable);
int CLinux_pthread_setname_np(unsigned long thread, const char *name);

int CLinux_is_dumpable(void);

// glibc 2.36 has no header for these on every build machine; the numbers are the kernel's.
int CLinux_pidfd_open(pid_t pid);
int CLinux_pidfd_send_signal(int pidfd, int signal);

// glibc has no function for it. The mode is 0: it makes no file.
int CLinux_openat2(int directory, const char *path, uint64_t flags, uint64_t resolve);
extern const int CLinux_O_PATH;
extern const uint64_t CLinux_RESOLVE_NO_SYMLINKS;
extern const uint64_t CLinux_RESOLVE_BENEATH;

// struct epoll_event is packed and holds a union, which Swift shows with unaligned fields.
int CLinux_epoll_ctl(int epoll, int operation, int fd, uint32_t events, uint64_t data);

// The GNU strerror_r; the importer takes the XSI one.
const char *CLinux_strerror_r(int code, char *buffer, size_t size);
