import CommandLine

/// The parts of martlet(1) that are no command's.
enum Manual {
    static let sections = [screen, filters, notifications, environment, files, statuses, json]

    private static let filters = ManualSection(
        "FILTERS",
        [
            .paragraph(
                "An expression about files, the same after --filter and on the screen after f. Conditions side by side must all hold; "
                    + "| (or the word or) between them means one, ! in front the contrary, brackets group."),
            .list([
                (
                    "word",
                    "Is found in the path or in the batch's name; *.cr3 and IMG_?? are patterns, /IMG_04\\d\\d/ a regular expression."
                ),
                (
                    "@run @wait @pause @err @auth @retry @done @new @held @check @skip @cancel @stall @scan",
                    "The state; also state:err. @scan are files of batches whose folders are still being listed. On the screen alone: @marked."
                ),
                (
                    "size>1G done<50% speed<1M eta>2h tries>=3 age>7d",
                    "Sizes and speeds in bytes, times as 30s 5m 2h 7d, with = != > >= < <=."
                ),
                (
                    "name: path: batch: folder: dest: err: why: kind:",
                    "What is found in one of these; = means all of it, != not it. why is what it waits for, in the words of --json."
                ),
                ("prio>=high", "The priority."),
            ]),
        ])

    private static let environment = ManualSection(
        "ENVIRONMENT",
        [
            .list([
                (
                    "MARTLET_HOME",
                    "Configuration and state stand below this directory (config/ and state/) instead of the XDG ones. It and each "
                        + "directory above it must belong to you or root, and be writable by others only as /tmp is."
                ),
                ("MARTLET_ENGINE", "The engine to start instead of the martletd beside martlet."),
                (
                    "XDG_CONFIG_HOME, XDG_STATE_HOME",
                    "Where configuration and state are; default ~/.config and ~/.local/state."
                ),
                ("MARTLET_SSH_COMMAND", "The ssh to run for sftp:// and attach, where --ssh-command names none."),
                (
                    "DBUS_SESSION_BUS_ADDRESS",
                    "Of the front that came last: where the engine tells your desktop that a batch is over or needs you; without it "
                        + "$XDG_RUNTIME_DIR/bus."
                ),
                ("PAGER", "What o on the page of problems shows its text with; less or more when it is not set."),
                ("http_proxy, https_proxy, all_proxy, no_proxy", "Kept with each batch when it is queued."),
                (
                    "MARTLET_UNITS, MARTLET_GLYPHS, MARTLET_COLUMNS ...",
                    "A key of [screen] in martlet.conf by its name in capitals: it wins over the file, an option wins over it."
                ),
                ("NO_COLOR", "No colours unless --color=always."),
                (
                    "ACCESSIBLE",
                    "Anything but 0: plain lines and numbered choices instead of the screen, as with --accessible: adding and fetching, filters, "
                        + "limits, batches, folders and files, each by a command that is shown."
                ),
                ("COLORFGBG", "Chooses the palette for a dark or a light background, where theme says auto."),
                ("ESCDELAY", "Milliseconds that Esc waits for the rest of a key's sequence; 25 if not set."),
            ])
        ])

    private static let files = ManualSection(
        "FILES",
        [
            .list([
                (
                    "$XDG_CONFIG_HOME/martlet/martlet.conf",
                    "Settings of engine and screen; an example with every key and default comes with Martlet."
                ),
                (
                    "$XDG_CONFIG_HOME/martlet/keys.conf",
                    "Keys: lines such as cancel = x F8 Del, under the view in which they hold: [transfers] [details] [throughput] "
                        + "[log] [problems] [history] [help] [picker] [destinations], or [lost] while the engine does not answer. Lines above "
                        + "all views hold in each. An example with every key comes with Martlet; :keys in the screen says what clashes."
                ),
                (
                    "$XDG_CONFIG_HOME/martlet/filters.conf",
                    "Filters with names, one a line: errors = @err. The screen writes it (:save and :forget)."
                ),
                (
                    "$XDG_STATE_HOME/martlet/copied.txt",
                    "What y and Y copied last, where the terminal is not asked (copy = off)."
                ),
                ("$XDG_STATE_HOME/martlet/problems.txt", "The report of the page of problems that w wrote last."),
                (
                    "$XDG_STATE_HOME/martlet/screen",
                    "What the screen remembers from one time to the next: the cursor, folds and filter, and what was set with :columns, :units, "
                        + ":glyphs, :bell, :mouse and :ask. A setting that martlet.conf changes later counts again; without the file the screen "
                        + "opens as the first time."
                ),
                (
                    "$XDG_STATE_HOME/martlet/queue.sqlite",
                    "The queue. queue.lock beside it names the engine that has it."
                ),
                (
                    "$XDG_STATE_HOME/martlet/secrets.sqlite",
                    "What must be kept secret for the work to go on, for its owner alone."
                ),
                (
                    "$XDG_STATE_HOME/martlet/log/",
                    "The engine's log, and what libraries print while a screen is open (screen.log; the log page shows it, too)."
                ),
                ("$XDG_STATE_HOME/martlet/run/control.sock", "The engine's control socket."),
                (
                    "$XDG_STATE_HOME/martlet/receive/PORT.token",
                    "What martlet receive on this port asks for. Uploads to and downloads from http://localhost:PORT/ that bring no login of "
                        + "their own show it, to programs of this user alone."
                ),
            ])
        ])

    private static let statuses = ManualSection(
        "EXIT STATUS",
        [
            .list([
                ("0", "Done; with wait or --wait everything asked for completed."),
                (
                    "1",
                    "With wait something failed or was cancelled; otherwise something was refused, and standard error says why."
                ),
                (
                    "2",
                    "The command line cannot be meant: unknown option, bad value, unsupported scheme, unreadable source."
                ),
                ("3", "No such batch, task, session or destination."),
                ("4", "With wait: all that is left needs a person. --patient waits on."),
                ("69", "The engine cannot be reached or started."),
                ("75", "wait --timeout ran out."),
                ("130", "Interrupted while waiting; the queue is untouched."),
            ]),
            .paragraph("Without --wait a status other than 0 means that nothing was queued."),
        ])

    private static let json = ManualSection(
        "JSON",
        [
            .paragraph(
                "With --json a command prints objects, one a line where there are many; watch, and show of a folder, do not take it yet. Times are ISO 8601 in UTC, sizes bytes, "
                    + "unknown is null. Names have control and invalid bytes as \\xNN; a name that is shown in another way than it is "
                    + "has its bytes in base64 beside it. A command that changes things prints {id, result, code} for each ID. An error is "
                    + "{\"error\":{\"code\":...,\"message\":...}} on standard output.")
        ])
}
