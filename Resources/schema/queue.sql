-- The tables of queue.sqlite as the migrations in Sources/TransferQueue/Storage/Schema.swift leave them; a test keeps this true.
-- States and event types are numbers: places in the lists of TransferModel. Times are milliseconds since 1970.

CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL);

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid BLOB NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
);

CREATE TABLE batches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid BLOB NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES sessions (id),
    name TEXT NOT NULL,
    direction INTEGER NOT NULL,      -- 0 upload, 1 download
    priority INTEGER NOT NULL,
    position INTEGER NOT NULL,
    held INTEGER NOT NULL,
    paused INTEGER NOT NULL,         -- own flag; its tasks keep their states
    scanning INTEGER NOT NULL,
    not_before INTEGER,
    destination TEXT NOT NULL,       -- URL without query, or the local folder
    options TEXT NOT NULL,           -- JSON
    root INTEGER NOT NULL,
    first_event INTEGER NOT NULL,
    first_task INTEGER,              -- all its tasks lie between these two
    last_task INTEGER,
    created_at INTEGER NOT NULL,
    finished_at INTEGER
, urgent INTEGER NOT NULL DEFAULT 0, purged_at INTEGER, left_links INTEGER NOT NULL DEFAULT 0, left_special INTEGER NOT NULL DEFAULT 0, left_empty INTEGER NOT NULL DEFAULT 0, cleared_at INTEGER, kept_secrets TEXT, let_go_at INTEGER, shares_names INTEGER NOT NULL DEFAULT 0);

CREATE INDEX batches_unfinished ON batches (session, id) WHERE finished_at IS NULL;

CREATE TABLE sources (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    batch INTEGER NOT NULL REFERENCES batches (id),
    path BLOB NOT NULL,
    placement INTEGER NOT NULL,      -- 0 named, 1 contents, 2 exactly, 3 a download's directory
    name BLOB,
    progress INTEGER NOT NULL        -- 0 new, 1 walking, 2 done, 3 new and cancelled, 4 walking and cancelled
);

CREATE INDEX sources_of_batch ON sources (batch, id);

CREATE INDEX sources_unscanned ON sources (id) WHERE progress < 2;

CREATE TABLE folders (
    id INTEGER PRIMARY KEY,
    batch INTEGER NOT NULL REFERENCES batches (id),
    parent INTEGER REFERENCES folders (id),
    name BLOB NOT NULL,
    source INTEGER REFERENCES sources (id), -- this folder is that source's directory
    hidden INTEGER NOT NULL,         -- not a part of the remote path
    walk INTEGER,                    -- the source, while not completely listed; negative: cancelled
    begun INTEGER NOT NULL,          -- some of its entries may be here
    paused INTEGER NOT NULL,         -- own flag
    queued INTEGER NOT NULL DEFAULT 0,
    waiting INTEGER NOT NULL DEFAULT 0,
    running INTEGER NOT NULL DEFAULT 0,
    finishing INTEGER NOT NULL DEFAULT 0,
    stopped INTEGER NOT NULL DEFAULT 0, -- paused tasks
    completed INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    cancelled INTEGER NOT NULL DEFAULT 0,
    bytes_total INTEGER NOT NULL DEFAULT 0,
    bytes_accepted INTEGER NOT NULL DEFAULT 0,
    bytes_verified INTEGER NOT NULL DEFAULT 0,
    bytes_left INTEGER NOT NULL DEFAULT 0 -- total less accepted of tasks that are not over
, rank INTEGER, priority INTEGER, bytes_stopped INTEGER NOT NULL DEFAULT 0, bytes_found INTEGER NOT NULL DEFAULT 0);

CREATE INDEX folders_tree ON folders (parent, name);

CREATE INDEX folders_unscanned ON folders (walk, id) WHERE walk IS NOT NULL;

CREATE INDEX folders_paused ON folders (batch) WHERE paused = 1;

CREATE TABLE own_counts (
    folder INTEGER NOT NULL REFERENCES folders (id),
    state INTEGER NOT NULL,
    files INTEGER NOT NULL,
    bytes_total INTEGER NOT NULL,
    bytes_accepted INTEGER NOT NULL,
    bytes_verified INTEGER NOT NULL,
    PRIMARY KEY (folder, state)
) WITHOUT ROWID;

CREATE TABLE tasks (
    id INTEGER PRIMARY KEY,
    folder INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    source INTEGER,                  -- its local place, when that does not follow from the folder
    state INTEGER NOT NULL,
    claimed INTEGER NOT NULL,        -- the engine has it in hand
    flags INTEGER NOT NULL,
    run INTEGER NOT NULL,            -- how often it was started anew after being over
    size INTEGER,
    accepted INTEGER NOT NULL,
    mtime INTEGER,
    inode INTEGER,
    begun_at INTEGER,                -- an attempt may have reached the server since
    finished_at INTEGER,
    name BLOB NOT NULL
, rank INTEGER, claims INTEGER NOT NULL DEFAULT 0, clock INTEGER NOT NULL DEFAULT 0);

CREATE INDEX tasks_of_folder ON tasks (folder, state, id);

CREATE INDEX tasks_claimed ON tasks (id) WHERE claimed = 1;

CREATE INDEX tasks_failed ON tasks (lane, id) WHERE state = 7;

CREATE TABLE task_details (
    task INTEGER PRIMARY KEY,
    url TEXT,                        -- of downloads, without the query
    has_query INTEGER NOT NULL DEFAULT 0, -- the query is in the secrets store
    file_name BLOB,
    resume_point BLOB,
    wait INTEGER NOT NULL DEFAULT 0, -- wait reasons as bits; means something while waiting or paused
    wait_since INTEGER,
    retry_at INTEGER,
    cause INTEGER,                   -- place in the list of error codes
    error TEXT,                      -- JSON
    attempts INTEGER NOT NULL DEFAULT 0, -- ended without success
    failures INTEGER NOT NULL DEFAULT 0,
    restarts INTEGER NOT NULL DEFAULT 0,
    repeated INTEGER NOT NULL DEFAULT 0,
    resumed_from TEXT,               -- JSON
    patience_since INTEGER,
    said INTEGER,                    -- what the last waiting event told
    digest TEXT,
    final_path BLOB,
    response TEXT
, at_risk INTEGER NOT NULL DEFAULT 0, unconfirmed INTEGER NOT NULL DEFAULT 0, handle INTEGER NOT NULL DEFAULT 0, first_tried_at INTEGER, furthest INTEGER NOT NULL DEFAULT 0);

CREATE INDEX details_waiting ON task_details (task) WHERE wait <> 0;

CREATE INDEX details_wake ON task_details (retry_at) WHERE retry_at IS NOT NULL;

CREATE TABLE attempts (
    task INTEGER NOT NULL,
    number INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER NOT NULL,
    accepted INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    cause INTEGER,
    message TEXT,
    PRIMARY KEY (task, number)
) WITHOUT ROWID;

CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    type INTEGER NOT NULL,
    batch INTEGER,
    task INTEGER,
    session INTEGER,                 -- only where there is no batch
    payload TEXT                     -- JSON; NULL when empty, and for completed tasks, whose rows say it
);

CREATE TABLE consumers (
    name TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE undo (
    operation INTEGER NOT NULL,
    node TEXT NOT NULL,
    batch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    first_event INTEGER NOT NULL,
    last_event INTEGER NOT NULL
, kind INTEGER NOT NULL DEFAULT 0, before TEXT, page INTEGER NOT NULL DEFAULT 0);

CREATE TABLE hosts (
    origin TEXT PRIMARY KEY,
    facts BLOB NOT NULL,             -- JSON
    learned_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX details_remains ON task_details (task) WHERE resume_point IS NOT NULL;

CREATE TABLE "lanes" (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    batch INTEGER NOT NULL REFERENCES batches (id),
    origin TEXT NOT NULL,
    priority INTEGER NOT NULL,       -- -1: its batch's; 5: wanted now, before all others
    ready INTEGER NOT NULL,          -- tasks that are queued and not claimed
    UNIQUE (batch, origin, priority)
);

CREATE INDEX tasks_ready ON tasks (lane, id) WHERE state = 1 AND claimed = 0 AND rank IS NULL;

CREATE INDEX tasks_ranked ON tasks (lane, rank, id) WHERE state = 1 AND claimed = 0 AND rank IS NOT NULL;

CREATE INDEX batches_purged ON batches (purged_at) WHERE purged_at IS NOT NULL;

CREATE TABLE limits (
    scope TEXT PRIMARY KEY,
    rate INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE undo_tasks (
    page INTEGER NOT NULL,
    task INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    rank INTEGER, not_before INTEGER,
    PRIMARY KEY (page, task)
) WITHOUT ROWID;

CREATE INDEX details_unconfirmed ON task_details (task) WHERE unconfirmed > 0;

CREATE TABLE "reasons" (
    batch INTEGER NOT NULL,
    kind INTEGER NOT NULL,           -- 0 waiting, 1 failed
    value INTEGER NOT NULL,
    detail INTEGER NOT NULL,         -- of failures by HTTP the status; of waits the cause, if a person may have to mend it; else 0
    files INTEGER NOT NULL,
    message TEXT NOT NULL,
    at INTEGER,                      -- when the last of them came
    PRIMARY KEY (batch, kind, value, detail)
) WITHOUT ROWID;

CREATE TABLE pause_ends (
    node TEXT PRIMARY KEY,           -- JSON, as in `undo`
    batch INTEGER NOT NULL,
    at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX pause_ends_due ON pause_ends (at);

CREATE TABLE last_looks (
    folder INTEGER PRIMARY KEY,
    batch INTEGER NOT NULL,
    due INTEGER NOT NULL,            -- counts groups of files that were completed; negative, once the folder was looked at since
    looked_at INTEGER,               -- when the server last listed all of the folder
    listed INTEGER NOT NULL,         -- files that were found there then
    files INTEGER NOT NULL,          -- files that were looked for then
    error TEXT                       -- JSON; why the folder could not be listed
, dropped INTEGER NOT NULL DEFAULT 0);

CREATE INDEX last_looks_of_batch ON last_looks (batch, folder);

CREATE TABLE remote_versions (
    task INTEGER PRIMARY KEY,
    etag TEXT NOT NULL
);

CREATE INDEX last_looks_due ON last_looks (batch, folder) WHERE due > 0;

CREATE INDEX details_final_path ON task_details (final_path) WHERE final_path IS NOT NULL;

CREATE INDEX undo_tasks_of_task ON undo_tasks (task);

CREATE INDEX undo_of_operation ON undo (operation);

CREATE TABLE linked_folders (
    source INTEGER NOT NULL,
    folder INTEGER NOT NULL,         -- its name is that of the link
    PRIMARY KEY (source, folder)
) WITHOUT ROWID;

CREATE TABLE interrupted (task INTEGER PRIMARY KEY) STRICT;

CREATE INDEX undo_of_page ON undo (page);

CREATE INDEX tasks_unlisted ON tasks (folder) WHERE state = 7 AND flags & 16;

CREATE INDEX tasks_resting ON tasks (lane, ifnull(rank, id << 24), id) WHERE state IN (2, 5);

CREATE INDEX pause_ends_batch ON pause_ends (batch, at);

CREATE TABLE walked_folders (
    source INTEGER NOT NULL,
    folder INTEGER NOT NULL,
    file_system INTEGER NOT NULL,    -- its type, as linux/magic.h has it
    inode INTEGER NOT NULL,
    PRIMARY KEY (source, folder)
) WITHOUT ROWID;

CREATE INDEX tasks_sharing ON tasks (folder, name) WHERE flags & 2048;
