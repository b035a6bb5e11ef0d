/// `martletd`: the engine, in the foreground.
package enum EngineProgram {
    package static let check = Option.flag(
        "check", "verify the queue, also beside a running engine, print what was found and exit")
    package static let version = Option.flag("version", "print the version and exit")

    package static let program: Program = {
        var root = Command("martletd", "the engine of Martlet, which moves what is queued")
        root.details = [
            "martlet starts it when none answers, and nothing needs to be given: it finds its queue where XDG_STATE_HOME or "
                + "MARTLET_HOME says. It stays in the foreground, and leaves after ten minutes without work and clients "
                + "(idle-exit in martlet.conf), unless a service manager handed it its socket; while something that was cancelled is "
                + "still to be removed from a server, after a day.",
            "SIGTERM makes it write down where every transfer stands and exit within two seconds.",
        ]
        root.groups = [OptionGroup("Options", [check, version])]
        var program = Program(root)
        program.sections = [
            ManualSection(
                "EXIT STATUS",
                [
                    .list([
                        ("0", "It was asked to leave, had nothing to do, or --check found nothing wrong."),
                        ("1", "The engine could not start."),
                        ("2", "The command line cannot be meant."),
                        (
                            "65",
                            "The queue is corrupt, or of a newer version, or --check found that it does not agree with itself."
                        ),
                        ("75", "Another engine has the queue."),
                    ])
                ])
        ]
        program.seeAlso = ["martlet", "martlet-receive"]
        return program
    }()
}
