/// The files of `Resources/` that are made from a program's table.
package struct GeneratedFile: Equatable, Sendable {
    /// Below `Resources/`.
    package let path: String
    package let text: String

    package init(path: String, text: String) {
        self.path = path
        self.text = text
    }

    /// Manual page and completions of a program.
    package static func all(of program: Program) -> [GeneratedFile] {
        let name = program.root.name
        return [
            GeneratedFile(path: "man/\(name).1", text: ManualPage.text(program)),
            GeneratedFile(path: "completions/bash/\(name)", text: BashCompletion.text(program)),
            GeneratedFile(path: "completions/zsh/_\(name)", text: ZshCompletion.text(program)),
            GeneratedFile(path: "completions/fish/\(name).fish", text: FishCompletion.text(program)),
        ]
    }
}
