/// A step of the schema. Steps are applied in order, each in its own transaction, and never changed once released:
/// a new version appends one.
struct Migration: Sendable {
    /// Stored in the queue; says what it brings.
    let name: String
    let script: String
}

/// The tables of `queue.sqlite`. `Resources/schema/queue.sql` is what they add up to; a test compares the two.
enum Schema {
    /// "Mart": says to `file` and to us whose database it is.
    static let applicationID: Int64 = 0x4D61_7274

    static let migrations: [Migration] = [
        Migration(name: "0001 sessions, batches, folders, tasks, events", script: first),
        Migration(name: "0002 what was learnt of hosts, and what is left there", script: second),
        Migration(name: "0003 what is on its way to servers that cannot resume", script: unresumable),
        Migration(name: "0004 order, priorities and limits of parts, and taking changes back", script: ordered),
        Migration(name: "0005 what uploads had sent when they were broken off", script: unconfirmed),
        Migration(name: "0006 times that a cancel takes away", script: cancelledTimes),
        Migration(name: "0007 what directories hold and was not queued", script: leftOut),
        Migration(name: "0008 what a person has put away", script: cleared),
        Migration(name: "0009 failures by status, and when the last one was", script: detailed),
        Migration(name: "0010 bytes of what is paused", script: pausedBytes),
        Migration(name: "0011 until when something is paused", script: pauseEnds),
        Migration(name: "0012 bytes that were at the other end already", script: foundBytes),
        Migration(name: "0013 sizes that no file can have", script: possibleSizes),
        Migration(name: "0014 what the secrets store keeps of batches and tasks", script: keptSecrets),
        Migration(name: "0015 the last look at folders of servers", script: LastLookSchema.script),
        Migration(name: "0016 whose claim a task is", script: claimCounts),
        Migration(name: "0017 names that downloads were given", script: givenNames),
        Migration(name: "0018 which secrets a batch keeps", script: namedSecrets),
        Migration(name: "0019 since when a task is tried, and looks that a cancel took away", script: triedSince),
        Migration(name: "0020 how far a file ever came", script: furthest),
        Migration(name: "0021 files of others that were left in their place", script: spared),
        Migration(name: "0022 by which clock attempts began", script: clocks),
        Migration(name: "0023 which changes moved a task", script: movedTasks),
        Migration(name: "0024 links by which folders are walked", script: linkedFolders),
        Migration(name: "0025 failures that were put away", script: clearedFailures),
        Migration(name: "0026 cancels that a kill left open", script: openCancels),
        Migration(name: "0027 what an engine had in hand when it was killed", script: interrupted),
        Migration(name: "0028 pages of changes, in the order in which they were done", script: changePages),
        Migration(name: "0029 directories that could not be listed", script: unlistedDirectories),
        Migration(name: "0030 places of what is paused or waits", script: restingTasks),
        Migration(name: "0031 when the pauses in a batch end", script: pauseEndsOfBatches),
        Migration(name: "0032 which directories are being listed", script: walkedFolders),
        Migration(name: "0033 batches whose files may have one name at the server", script: sharedNames),
    ]

    private static let sharedNames = """
        -- The contents of one source lie beside other sources at the server.
        ALTER TABLE batches ADD COLUMN shares_names INTEGER NOT NULL DEFAULT 0;
        UPDATE batches SET shares_names = 1 WHERE direction = 0
        AND EXISTS (SELECT 1 FROM sources WHERE batch = batches.id AND placement = 1)
        AND (SELECT count(*) FROM (SELECT 1 FROM sources WHERE batch = batches.id LIMIT 2)) = 2;
        UPDATE tasks SET flags = flags | 2048 WHERE NOT flags & 16
        AND lane IN (SELECT l.id FROM lanes l JOIN batches b ON b.id = l.batch WHERE b.shares_names = 1);
        CREATE INDEX tasks_sharing ON tasks (folder, name) WHERE flags & 2048;
        """

    private static let walkedFolders = """
        -- A walk that goes on lists no other directory in the place of one that was found. Sources' own directories, those on a file
        -- system of their own, and those that are listed in part; none that is completely listed.
        CREATE TABLE walked_folders (
            source INTEGER NOT NULL,
            folder INTEGER NOT NULL,
            file_system INTEGER NOT NULL,    -- its type, as linux/magic.h has it
            inode INTEGER NOT NULL,
            PRIMARY KEY (source, folder)
        ) WITHOUT ROWID;
        """

    private static let pauseEndsOfBatches = "CREATE INDEX pause_ends_batch ON pause_ends (batch, at);"

    private static let unlistedDirectories = """
        -- Few, beside the files that failed in the same folder.
        CREATE INDEX tasks_unlisted ON tasks (folder) WHERE state = 7 AND flags & 16;
        """

    private static let restingTasks = """
        -- A task that waits or is paused keeps its place between those that are ready.
        CREATE INDEX tasks_resting ON tasks (lane, ifnull(rank, id << 24), id) WHERE state IN (2, 5);
        """

    private static let changePages = """
        -- A change may be done in pages, with other changes between them: the order is that of its pages, of which none has the same number.
        ALTER TABLE undo ADD COLUMN page INTEGER NOT NULL DEFAULT 0;
        UPDATE undo SET page = operation;
        ALTER TABLE undo_tasks RENAME COLUMN operation TO page;
        CREATE INDEX undo_of_page ON undo (page);
        """

    private static let interrupted = """
        -- Of what ran when an engine was killed, until a later one has noted what that may have left. `RunningStore.requeueClaimed` adds to it.
        CREATE TABLE interrupted (task INTEGER PRIMARY KEY) STRICT;
        """

    private static let openCancels = """
        -- Flag 512: cancelled while it was getting its final name, and the engine was killed. `RunningStore.requeueClaimed`, which comes next,
        -- makes such a task one that is getting its name, counters included; it looks at claimed tasks only.
        UPDATE lanes SET ready = ready - n.tasks FROM (SELECT lane, count(*) AS tasks FROM tasks
            WHERE flags & 512 AND state = 1 AND claimed = 0 GROUP BY lane) n WHERE lanes.id = n.lane;
        UPDATE tasks SET claimed = 1 WHERE flags & 512 AND state < 6;
        UPDATE tasks SET flags = flags & ~512 WHERE flags & 512 AND state >= 6;
        """

    private static let clearedFailures = """
        -- They failed after their batch had left the list.
        UPDATE batches SET cleared_at = NULL WHERE cleared_at IS NOT NULL
        AND (finished_at IS NULL OR (SELECT failed FROM folders WHERE id = batches.root) > 0);
        """

    private static let linkedFolders = """
        -- A walk that begins again walks no folder by a second link.
        CREATE TABLE linked_folders (
            source INTEGER NOT NULL,
            folder INTEGER NOT NULL,         -- its name is that of the link
            PRIMARY KEY (source, folder)
        ) WITHOUT ROWID;
        """

    private static let movedTasks = """
        CREATE INDEX undo_tasks_of_task ON undo_tasks (task);
        CREATE INDEX undo_of_operation ON undo (operation);
        """

    private static let clocks = """
        -- The number of the clock that `begun_at`, and times in the resume point, are of: it counts up when somebody sets the clock back.
        ALTER TABLE tasks ADD COLUMN clock INTEGER NOT NULL DEFAULT 0;
        -- Until when a clock went that was set back: which attempts that was before, their times do not tell.
        INSERT INTO meta SELECT 'clock', 1 FROM meta WHERE name = 'clock_set_back';
        DELETE FROM meta WHERE name = 'clock_set_back';
        """

    private static let spared = """
        -- Flag 1024: the rule left somebody else's file there. Of what was skipped before, the batch's rule is all that tells it.
        UPDATE tasks SET flags = flags | 1024 WHERE flags & 2 AND state = 6 AND folder IN (
            SELECT f.id FROM folders f JOIN batches b ON b.id = f.batch WHERE json_extract(b.options, '$.ifExists') = 'skip');
        """

    private static let furthest = """
        -- The most bytes of the file that were confirmed at once since a person last had it begin: to confirm them again is no progress.
        ALTER TABLE task_details ADD COLUMN furthest INTEGER NOT NULL DEFAULT 0;
        """

    private static let triedSince = """
        -- Waiting without progress is counted from here: the last byte confirmed or a person's retry; NULL: the first try.
        ALTER TABLE task_details RENAME COLUMN progressed_at TO patience_since;
        -- The first try, where `begun_at` does not say it: no try before `begun_at` can have reached the server.
        ALTER TABLE task_details ADD COLUMN first_tried_at INTEGER;
        -- When somebody last let it, or something in it, go on: waiting before that is not counted.
        ALTER TABLE batches ADD COLUMN let_go_at INTEGER;
        -- A cancel of the whole batch took the look away, and an undo gives it back.
        ALTER TABLE last_looks ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;
        """

    private static let namedSecrets = """
        -- JSON list of the names of what stands in secrets.sqlite, "any": something; NULL: not looked for yet.
        ALTER TABLE batches ADD COLUMN kept_secrets TEXT;
        UPDATE batches SET kept_secrets = CASE secrets WHEN 0 THEN '[]' WHEN 1 THEN '["any"]' WHEN 2 THEN '["query"]'
        WHEN 3 THEN '["any","query"]' END;
        ALTER TABLE batches DROP COLUMN secrets;
        """

    private static let givenNames = """
        CREATE INDEX details_final_path ON task_details (final_path) WHERE final_path IS NOT NULL;
        """

    private static let claimCounts = """
        -- How often it was claimed: an attempt of an older claim has no say any more.
        ALTER TABLE tasks ADD COLUMN claims INTEGER NOT NULL DEFAULT 0;
        """

    // Numbers in columns: states and event types are the places of their cases in the model's lists (append only there),
    // times are milliseconds since 1970, `mtime` nanoseconds, sizes bytes, NULL is unknown.
    private static let first = """
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
        );
        CREATE INDEX batches_unfinished ON batches (session, id) WHERE finished_at IS NULL;

        CREATE TABLE lanes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            batch INTEGER NOT NULL REFERENCES batches (id),
            origin TEXT NOT NULL,
            ready INTEGER NOT NULL,          -- tasks that are queued and not claimed
            UNIQUE (batch, origin)
        );

        -- What was named when a batch was queued; of downloads, the directories they go into.
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

        -- The counters sum up everything below, `own_counts` the tasks directly in a folder.
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
        );
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
        );
        CREATE INDEX tasks_of_folder ON tasks (folder, state, id);
        CREATE INDEX tasks_ready ON tasks (lane, id) WHERE state = 1 AND claimed = 0;
        CREATE INDEX tasks_claimed ON tasks (id) WHERE claimed = 1;
        CREATE INDEX tasks_failed ON tasks (lane, id) WHERE state = 7;

        -- Only for tasks that need it: downloads, and what did not simply succeed.
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
            progressed_at INTEGER,
            said INTEGER,                    -- what the last waiting event told
            digest TEXT,
            final_path BLOB,
            response TEXT
        );
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

        -- Waiting tasks of a batch by reasons, failed ones by cause.
        CREATE TABLE reasons (
            batch INTEGER NOT NULL,
            kind INTEGER NOT NULL,           -- 0 waiting, 1 failed
            value INTEGER NOT NULL,
            files INTEGER NOT NULL,
            message TEXT NOT NULL,
            PRIMARY KEY (batch, kind, value)
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

        -- Cancels that may still be taken back: the events that they wrote say which tasks.
        CREATE TABLE undo (
            operation INTEGER NOT NULL,
            node TEXT NOT NULL,
            batch INTEGER NOT NULL,
            at INTEGER NOT NULL,
            first_event INTEGER NOT NULL,
            last_event INTEGER NOT NULL
        );
        """

    private static let unresumable = """
        -- Bytes that an attempt has sent, as of some moments ago, and that are sent again when the engine is killed.
        ALTER TABLE task_details ADD COLUMN at_risk INTEGER NOT NULL DEFAULT 0;
        """

    private static let unconfirmed = """
        -- Bytes of an upload that were sent when it was broken off, when its server knows how many arrived and has not said it yet.
        ALTER TABLE task_details ADD COLUMN unconfirmed INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX details_unconfirmed ON task_details (task) WHERE unconfirmed > 0;
        """

    private static let cancelledTimes = """
        -- The time of its own that a task had before it was cancelled, ms since 1970.
        ALTER TABLE undo_tasks ADD COLUMN not_before INTEGER;
        """

    private static let leftOut = """
        ALTER TABLE batches ADD COLUMN left_links INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE batches ADD COLUMN left_special INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE batches ADD COLUMN left_empty INTEGER NOT NULL DEFAULT 0;
        """

    private static let cleared = """
        -- Out of the list, with all that is over, and in the history still; NULL again when it goes on.
        ALTER TABLE batches ADD COLUMN cleared_at INTEGER;
        """

    private static let detailed = """
        -- Waiting tasks of a batch by reasons, failed ones by cause.
        CREATE TABLE detailed_reasons (
            batch INTEGER NOT NULL,
            kind INTEGER NOT NULL,           -- 0 waiting, 1 failed
            value INTEGER NOT NULL,
            detail INTEGER NOT NULL,         -- of failures by HTTP the status; of waits the cause, if a person may have to mend it; else 0
            files INTEGER NOT NULL,
            message TEXT NOT NULL,
            at INTEGER,                      -- when the last of them came
            PRIMARY KEY (batch, kind, value, detail)
        ) WITHOUT ROWID;
        INSERT INTO detailed_reasons SELECT l.batch, 0, d.wait, CASE d.cause WHEN 10 THEN d.cause ELSE 0 END, count(*),
        max(CASE d.cause WHEN 10 THEN ifnull(d.error ->> 'message', '') ELSE '' END), max(d.wait_since)
        FROM task_details d CROSS JOIN tasks t ON t.id = d.task JOIN lanes l ON l.id = t.lane
        WHERE d.wait <> 0 AND t.state = 2 GROUP BY 1, 3, 4;
        INSERT INTO detailed_reasons SELECT l.batch, 1, d.cause,
        CASE d.cause WHEN 18 THEN ifnull(d.error ->> 'httpStatus', 0) ELSE 0 END, count(*),
        max(ifnull(d.error ->> 'message', '')), max(t.finished_at)
        FROM lanes l CROSS JOIN tasks t ON t.lane = l.id AND t.state = 7 JOIN task_details d ON d.task = t.id
        WHERE d.cause IS NOT NULL GROUP BY 1, 3, 4;
        DROP TABLE reasons;
        ALTER TABLE detailed_reasons RENAME TO reasons;
        """

    private static let pausedBytes = """
        -- Of `bytes_left` those of paused tasks.
        ALTER TABLE folders ADD COLUMN bytes_stopped INTEGER NOT NULL DEFAULT 0;
        WITH RECURSIVE up (folder, bytes) AS (
            SELECT folder, bytes_total - bytes_accepted FROM own_counts WHERE state = 5
            UNION ALL SELECT f.parent, bytes FROM up JOIN folders f ON f.id = up.folder WHERE f.parent IS NOT NULL
        )
        UPDATE folders SET bytes_stopped = s.bytes FROM (SELECT folder, sum(bytes) AS bytes FROM up GROUP BY folder) s
        WHERE s.folder = folders.id;
        """

    private static let foundBytes = """
        -- What was at the other end already: total less accepted of completed tasks.
        ALTER TABLE folders ADD COLUMN bytes_found INTEGER NOT NULL DEFAULT 0;
        WITH RECURSIVE up (folder, bytes) AS (
            SELECT folder, bytes_total - bytes_accepted FROM own_counts WHERE state = 6 AND bytes_total > bytes_accepted
            UNION ALL SELECT f.parent, bytes FROM up JOIN folders f ON f.id = up.folder WHERE f.parent IS NOT NULL
        )
        UPDATE folders SET bytes_found = s.bytes FROM (SELECT folder, sum(bytes) AS bytes FROM up GROUP BY folder) s
        WHERE s.folder = folders.id;
        """

    /// Sums that such a size made wrong, or real numbers, are counted anew.
    private static let possibleSizes: String = {
        let largest = "9007199254740992"
        let size = "max(0, min(ifnull(t.size, 0), \(largest)))"
        func sum(_ bytes: String) -> String {
            "max(-72057594037927936, min(72057594037927936, sum((\(bytes)) >> 32) * 4294967296 + sum((\(bytes)) & 4294967295)))"
        }
        let open = "bytes_total - bytes_accepted"
        let found = "CASE WHEN state = 6 AND bytes_total > bytes_accepted THEN \(open) ELSE 0 END"
        return """
            CREATE TEMP TABLE odd AS SELECT DISTINCT f.batch AS batch FROM tasks t JOIN folders f ON f.id = t.folder
            WHERE t.size > \(largest) OR t.size < 0;
            DELETE FROM own_counts WHERE folder IN (SELECT id FROM folders WHERE batch IN (SELECT batch FROM odd));
            INSERT INTO own_counts (folder, state, files, bytes_total, bytes_accepted, bytes_verified)
            SELECT t.folder, t.state, count(*), \(sum(size)), \(sum("min(t.accepted, \(size))")),
            \(sum("CASE WHEN t.state = 6 AND t.flags & 12 <> 0 THEN \(size) ELSE 0 END"))
            FROM tasks t JOIN folders f ON f.id = t.folder WHERE f.batch IN (SELECT batch FROM odd) GROUP BY t.folder, t.state;
            UPDATE folders SET bytes_total = 0, bytes_accepted = 0, bytes_verified = 0, bytes_left = 0, bytes_stopped = 0,
            bytes_found = 0 WHERE batch IN (SELECT batch FROM odd);
            WITH RECURSIVE up (folder, total, accepted, verified, remaining, stopped, found) AS (
                SELECT o.folder, bytes_total, bytes_accepted, bytes_verified, CASE WHEN state < 6 THEN \(open) ELSE 0 END,
                CASE WHEN state = 5 THEN \(open) ELSE 0 END, \(found)
                FROM (SELECT * FROM own_counts WHERE folder IN (SELECT id FROM folders WHERE batch IN (SELECT batch FROM odd))) o
                UNION ALL SELECT f.parent, up.total, up.accepted, up.verified, up.remaining, up.stopped, up.found
                FROM up JOIN folders f ON f.id = up.folder WHERE f.parent IS NOT NULL
            )
            UPDATE folders SET bytes_total = s.total, bytes_accepted = s.accepted, bytes_verified = s.verified,
            bytes_left = s.remaining, bytes_stopped = s.stopped, bytes_found = s.found FROM (SELECT folder, \(sum("total")) AS total,
            \(sum("accepted")) AS accepted, \(sum("verified")) AS verified, \(sum("remaining")) AS remaining,
            \(sum("stopped")) AS stopped, \(sum("found")) AS found FROM up GROUP BY folder) s WHERE s.folder = folders.id;
            DROP TABLE odd;
            """
    }()

    private static let keptSecrets = """
        -- What stands in secrets.sqlite: 1 a login or fields, 2 the query of the destination; NULL: not looked for yet.
        ALTER TABLE batches ADD COLUMN secrets INTEGER;
        -- The number of the upload URL that belongs to the resume point.
        ALTER TABLE task_details ADD COLUMN handle INTEGER NOT NULL DEFAULT 0;
        """

    private static let pauseEnds = """
        -- A pause that ends by itself. Nodes whose flag goes earlier have no row any more.
        CREATE TABLE pause_ends (
            node TEXT PRIMARY KEY,           -- JSON, as in `undo`
            batch INTEGER NOT NULL,
            at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE INDEX pause_ends_due ON pause_ends (at);
        """

    private static let second = """
        CREATE TABLE hosts (
            origin TEXT PRIMARY KEY,
            facts BLOB NOT NULL,             -- JSON
            learned_at INTEGER NOT NULL
        ) WITHOUT ROWID;

        -- What is still at a server of uploads that did not end well.
        CREATE INDEX details_remains ON task_details (task) WHERE resume_point IS NOT NULL;
        """

    // A lane has a priority now: tasks and folders that a person gave another one than their batch's leave its lane.
    private static let ordered = """
        CREATE TABLE lanes_by_priority (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            batch INTEGER NOT NULL REFERENCES batches (id),
            origin TEXT NOT NULL,
            priority INTEGER NOT NULL,       -- -1: its batch's; 5: wanted now, before all others
            ready INTEGER NOT NULL,          -- tasks that are queued and not claimed
            UNIQUE (batch, origin, priority)
        );
        INSERT INTO lanes_by_priority SELECT id, batch, origin, -1, ready FROM lanes;
        DROP TABLE lanes;
        ALTER TABLE lanes_by_priority RENAME TO lanes;

        -- A task's place in its batch; NULL: as it was found, its number shifted by 24 bits.
        ALTER TABLE tasks ADD COLUMN rank INTEGER;
        DROP INDEX tasks_ready;
        CREATE INDEX tasks_ready ON tasks (lane, id) WHERE state = 1 AND claimed = 0 AND rank IS NULL;
        CREATE INDEX tasks_ranked ON tasks (lane, rank, id) WHERE state = 1 AND claimed = 0 AND rank IS NOT NULL;

        -- What tasks get that are still to be found in a folder; NULL: what the folder above says.
        ALTER TABLE folders ADD COLUMN rank INTEGER;
        ALTER TABLE folders ADD COLUMN priority INTEGER;

        -- Wanted now, whatever its priority.
        ALTER TABLE batches ADD COLUMN urgent INTEGER NOT NULL DEFAULT 0;
        -- Forgotten by a person, who may still take that back.
        ALTER TABLE batches ADD COLUMN purged_at INTEGER;
        CREATE INDEX batches_purged ON batches (purged_at) WHERE purged_at IS NOT NULL;

        -- Bytes a second of hosts (`host NAME`), sessions (`session NAME`), batches, folders and tasks (`b7 f3 t31`).
        CREATE TABLE limits (
            scope TEXT PRIMARY KEY,
            rate INTEGER NOT NULL
        ) WITHOUT ROWID;
        INSERT INTO limits SELECT 'b' || id, json_extract(options, '$.bytesPerSecond') FROM batches
        WHERE json_extract(options, '$.bytesPerSecond') > 0;

        -- What else than a cancel can be taken back, and what was so before.
        ALTER TABLE undo ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE undo ADD COLUMN before TEXT;
        CREATE TABLE undo_tasks (
            operation INTEGER NOT NULL,
            task INTEGER NOT NULL,
            lane INTEGER NOT NULL,
            rank INTEGER,
            PRIMARY KEY (operation, task)
        ) WITHOUT ROWID;
        """
}
