import CommandLine

/// The section on the screen. The pictures and keys are those of the screen's tests, and a test compares them.
extension Manual {
    static let screen = ManualSection(
        "SCREEN",
        [
            .paragraph(
                "martlet without a command shows a tree of batches, folders and files with the progress of each. Everything goes on when it is left "
                    + "(q), when the terminal closes or the line breaks; martlet shows it again, with the cursor, folds and filter as they "
                    + "were, and says what was done since. Q leaves with choices; q asks, too, where logging out would end the engine."
            ),
            .picture(mainView.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)),
            .paragraph(
                "The sign in front says how it stands, as the word at the end does. Keys, of which ? shows all:"),
            .list(keys.map { (term: $0.key, text: "\($0.deed).") }),
            .paragraph(
                "A program that is killed with SIGKILL cannot give the terminal back: reset mends it. The queue is untouched."
            ),
            .paragraph("Failures stand together by their cause, with what mends it (e):"),
            .picture(problems.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)),
            .paragraph(
                "How fast it has been (b): five minutes, an hour or a day as a picture, with averages, the peak and what was sent; below "
                    + "it each batch with its own speed, or why it does not move. The engine keeps the figures, so a screen that "
                    + "was just opened has them, too. Keys besides those above:"),
            .list(throughputKeys.map { (term: $0.key, text: "\($0.deed).") }),
            .paragraph(
                "Configured servers (D), the same as martlet destination list: how each logs in, when it was used last and what asking "
                    + "it came to. What was removed comes back with its login by u, or by martlet destination "
                    + "restore within 24 hours. Keys:"),
            .list(serverKeys.map { (term: $0.key, text: "\($0.deed).") }),
        ])

    static let notifications = ManualSection(
        "NOTIFICATIONS",
        [
            .paragraph(
                "The engine tells the desktop (over the session bus) when a batch is over or needs a person, with or without a screen. "
                    + "The first news are shown at once, what comes in the next half minute together. notify = off under [engine] of "
                    + "martlet.conf turns it off from the engine's next start on."),
            .paragraph(
                "The screen can tell, too, where its terminal is all there is, as over ssh: --bell on rings when a batch ends, --notify osc9 or "
                    + "osc777 sends a notification in the sequence that the terminal knows. Both only while the window has not "
                    + "the focus, and off unless set; bell and notify under [screen] of martlet.conf set them for good. "
                    + "--title off leaves the window's title alone, which otherwise says how far it is."),
            .paragraph(
                "A script waits: martlet wait b7 && mail -s done ana, or reads martlet events --follow --json."),
        ])

    /// Keys of the page of the throughput.
    static let throughputKeys: [(key: String, deed: String)] = [
        ("h", "a shorter time"),
        ("l", "a longer time"),
        ("Left", "read an earlier point"),
        ("Right", "read a later point"),
    ]

    /// Keys of the page of configured servers.
    static let serverKeys: [(key: String, deed: String)] = [
        ("n", "describe a new one"),
        ("t", "ask whether it works"),
        ("r", "its password or command"),
        ("a", "add files"),
        ("x", "remove it"),
        ("u", "undo the last change"),
    ]

    /// Keys of the standard table with what each does.
    static let keys: [(key: String, deed: String)] = [
        ("?", "this help"),
        ("a", "add files"),
        ("W", "download URLs"),
        ("p", "pause or resume"),
        ("x", "cancel"),
        ("u", "undo the last change"),
        ("^R", "do again what was undone"),
        ("r", "retry what failed"),
        ("o", "order and priority"),
        ("T", "speed limits"),
        ("Space", "mark and step down"),
        ("v", "mark from here to there"),
        ("/", "find a name"),
        ("f", "show only what matches"),
        ("s", "sort the rows"),
        ("t", "all files, or the tree"),
        ("y", "copy the path, or text"),
        ("z", "freeze the screen"),
        ("i", "details"),
        ("w", "why it does not move"),
        ("e", "what failed, by cause"),
        ("b", "how fast it has been"),
        ("L", "what the engine logged"),
        ("H", "finished work"),
        ("D", "configured servers"),
        ("c", "clear finished batches"),
        (":", "every action by name"),
        ("Q", "leave or stop the engine"),
        ("q", "leave; transfers go on"),
    ]

    static let mainView = """
         martlet  engine ok  3 unfinished batches  12,406 files  4 active    up 41.0M/s
         [############............................]  32%  160G of 498G   ETA 10 min
           Name                                 Size Progress    Pct   Speed   ETA State
         ^ v holiday-2024 -> host/in/          61.0G #######...  70%   28.0M   10m run
         ^   v raw/  (812 files)               58.0G #######...  70%   28.0M   10m run
         ^       IMG_0412.CR3                  71.0M ########..  87%    9.0M    1s run
         ^       IMG_0413.CR3                  70.0M ###.......  34%    9.0M    5s run
         ^       IMG_0414.CR3                  71.0M ..........   4%    9.0M    7s run
         .       ... 240 waiting               17.0G ..........   0%               wait
         +       ... 569 done                  40.0G ########## 100%               done
         ~   > video/  (14 files)               3.0G ######....  66%           12s retry
         = > nas-backup -> https://host/in/     402G ##........  21%               pause
         ! v docs -> https://host/in/          35.0G #########.  91%   12.0M    1m run
         x   v contracts/  (1,204 files)        2.0G ..........   0%               ERR
         x       NDA signed (final).pdf         2.0M ..........   0%               ERR
         x       Invoice 2024-0007.pdf          512K ..........   0%               ERR
         x       ... 1,202 more, same error     2.0G ..........   0%               ERR
         ^   v handbook/  (86 files)           33.0G #########.  96%   12.0M    1m run

         Path  https://host/in/
                                                    1,204 problems in 2 causes: press e


         ? help   a add   p pause   x cancel   r retry   f filter   : command   q leave
        """

    static let problems = """
         Problems                                               1,206 files in 2 causes
           Cause                                     Files  Batch     Fix
         x host answered 403 to t20 (\\x1b[2Jquota ~  1,204  docs~ore  r retry  d server
         x a file changed                                2  holi~024  r retry

        - permission denied ------------------------------------------------------------
         What happened host answered 403 to t20 (\\x1b[2Jquota exceeded)
         Server said   "quota for user exceeded"   (text from the server)
         What it means The server does not let you do this.
         What to do    free space there, or ask who runs it, then r
         Where         "docs" (b3) 1,200 files, "more" (b4) 4 files
         Last          12:40:00
         Not lost      Nothing was deleted. Each file goes on where it stood, if the
                       server can.
         Detail        PUT /in/contracts/NDA%20signed.pdf -> 403, try 3

         A send again or elsewhere   y copy   o open plain   w write to file
         Esc back   r retry   Enter show the files   d server   x leave out   ? help
        """
}
