import CommandLine

/// What the screen looks like. The pictures and keys are those of the screen's tests, and a test compares them.
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
        ])

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
        ("y", "copy the path, or what is said"),
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
        ("Q", "leave, or stop the engine"),
        ("q", "leave; transfers go on"),
    ]

    static let mainView = """
         martlet  engine ok  3 batches  12,406 files  4 active               up 41.0M/s
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
           Cause                           Files  Batch        Last   Fix
         x host answered 403 to t20 (\\~    1,204  docs, more   12:40  r retry  d server
         x a file changed                      2  holid~-2024  10:41  r retry

        - permission denied ------------------------------------------------------------
         What happened host answered 403 to t20 (\\x1B[2Jquota exceeded)
         What it means The server does not let you do this.
         What to do    free space there, or ask who runs it, then r
         Where         "docs" 1,200 files, "more" 4 files
         Not lost      Nothing was deleted. Each file goes on where it stood, if the
                       server can.

         y copy   o open plain   w write report
         Esc back   r retry   Enter show the files   d server   x leave out   ? help
        """
}
