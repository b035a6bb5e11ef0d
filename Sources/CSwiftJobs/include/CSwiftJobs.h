// The door to two entry points of Swift's runtime that have a calling convention of their own.
#pragma once

/// From now on `enqueue` gets every job that belongs to no actor, in place of Swift's default executor. Call it before the first such job.
void CSwiftJobs_replaceDefaultExecutor(void (*enqueue)(void *job));

/// Runs such a job on the calling thread until it suspends or ends. Each job that `enqueue` got is run exactly once.
void CSwiftJobs_run(void *job);
