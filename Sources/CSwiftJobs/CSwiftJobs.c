#include "CSwiftJobs.h"

#include <stddef.h>
#include <stdint.h>

#define SWIFT_CC __attribute__((swiftcall))

// Exported by libswift_Concurrency; the shapes are those of its ConcurrencyHooks.h.
typedef SWIFT_CC void (*enqueueOriginal)(void *job);
extern SWIFT_CC void (*swift_task_enqueueGlobal_hook)(void *job, enqueueOriginal original);
// The executor is a pair of words; a pair of nulls is the one for jobs that belong to no actor.
extern SWIFT_CC void swift_job_run(void *job, void *executor, uintptr_t executorImplementation);

static void (*replacement)(void *job);

static SWIFT_CC void hook(void *job, enqueueOriginal original) {
    (void)original;
    replacement(job);
}

void CSwiftJobs_replaceDefaultExecutor(void (*enqueue)(void *job)) {
    replacement = enqueue;
    swift_task_enqueueGlobal_hook = hook;
}

void CSwiftJobs_run(void *job) {
    swift_job_run(job, NULL, 0);
}
