// _GNU_SOURCE here alone: in the header it would give Swift a second, different fd_set beside the Glibc module's.
#define _GNU_SOURCE 1
#include <sys/vfs.h>
#include "CLinux.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

const short CLinux_POSIX_SPAWN_SETSID = POSIX_SPAWN_SETSID;
const unsigned CLinux_RENAME_NOREPLACE = RENAME_NOREPLACE;
const int CLinux_FALLOC_FL_KEEP_SIZE = FALLOC_FL_KEEP_SIZE;
const unsigned CLinux_SYNC_FILE_RANGE_WRITE = SYNC_FILE_RANGE_WRITE;
const unsigned CLinux_SYNC_FILE_RANGE_WAIT_BEFORE = SYNC_FILE_RANGE_WAIT_BEFORE;
const unsigned CLinux_SYNC_FILE_RANGE_WAIT_AFTER = SYNC_FILE_RANGE_WAIT_AFTER;

int CLinux_posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from) {
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}

int CLinux_posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *path) {
    return posix_spawn_file_actions_addchdir_np(actions, path);
}

int CLinux_accept4(int fd, int flags) { return accept4(fd, NULL, NULL, flags); }

int CLinux_pipe2(int fds[2], int flags) { return pipe2(fds, flags); }
const int CLinux_F_SETPIPE_SZ = F_SETPIPE_SZ;

int CLinux_renameat2(int oldDirectory, const char *oldPath, int newDirectory, const char *newPath, unsigned flags) {
    return renameat2(oldDirectory, oldPath, newDirectory, newPath, flags);
}

int CLinux_fallocate(int fd, int mode, off_t offset, off_t length) { return fallocate(fd, mode, offset, length); }

int CLinux_sync_file_range(int fd, off_t offset, off_t length, unsigned flags) {
    return sync_file_range(fd, offset, length, flags);
}

int CLinux_syncfs(int fd) { return syncfs(fd); }

int CLinux_peer_credentials(int fd, pid_t *pid, uid_t *uid, gid_t *gid) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) return -1;
    *pid = credentials.pid;
    *uid = credentials.uid;
    *gid = credentials.gid;
    return 0;
}

int CLinux_prctl_set_dumpable(int dumpable) { return prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0); }

int CLinux_pthread_setname_np(unsigned long thread, const char *name) {
    return pthread_setname_np((pthread_t)thread, name);
}

int CLinux_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

const int CLinux_O_PATH = O_PATH;
const uint64_t CLinux_RESOLVE_NO_SYMLINKS = RESOLVE_NO_SYMLINKS;
const uint64_t CLinux_RESOLVE_BENEATH = RESOLVE_BENEATH;

int CLinux_openat2(int directory, const char *path, uint64_t flags, uint64_t resolve) {
    struct open_how how = {.flags = flags, .resolve = resolve};
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int CLinux_pidfd_send_signal(int pidfd, int signal) {
    return (int)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
}

int CLinux_epoll_ctl(int epoll, int operation, int fd, uint32_t events, uint64_t data) {
    struct epoll_event event = {.events = events, .data = {.u64 = data}};
    return epoll_ctl(epoll, operation, fd, &event);
}

const char *CLinux_strerror_r(int code, char *buffer, size_t size) { return strerror_r(code, buffer, size); }

int CLinux_is_dumpable(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }

void *CLinux_memmem(const void *bytes, size_t count, const void *mark, size_t markCount) {
    return memmem(bytes, count, mark, markCount);
}

int CLinux_fstatfs_type(int fd, int64_t *type) {
    struct statfs status;
    if (fstatfs(fd, &status) != 0) return -1;
    *type = (int64_t)status.f_type;
    return 0;
}
