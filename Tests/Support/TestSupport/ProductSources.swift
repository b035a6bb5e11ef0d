import FoundationEssentials

/// The texts of the product's own files, for rules that no type can hold.
package enum ProductSources {
    /// Each file below a folder of `Sources`, by its path from there, without comments that have lines of their own.
    package static func files(below folder: String = "") throws -> [String: String] {
        // Tests/Support/TestSupport, in the package's root.
        let root = "\(#filePath)".split(separator: "/").dropLast(4).map { "/\($0)" }.joined() + "/Sources"
        var texts: [String: String] = [:]
        var folders = [folder]
        while let next = folders.popLast() {
            for name in try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(next)") {
                let path = next.isEmpty ? name : "\(next)/\(name)"
                if name.hasSuffix(".swift") {
                    let text = String(decoding: try Data(contentsOf: URL(filePath: "\(root)/\(path)")), as: UTF8.self)
                    texts[path] = text.split(separator: "\n", omittingEmptySubsequences: false)
                        .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
                } else if !name.contains(".") {
                    folders.append(path)
                }
            }
        }
        return texts
    }

    /// The string literals of a text, each as it stands between its quotes.
    package static func literals(of text: String) -> [String] {
        var found: [String] = []
        for line in text.split(separator: "\n") {
            var current: String?
            var isEscaped = false
            for character in line {
                if isEscaped {
                    current?.append(character)
                    isEscaped = false
                } else if character == "\\", current != nil {
                    current?.append(character)
                    isEscaped = true
                } else if character == "\"" {
                    if let literal = current { found.append(literal) }
                    current = current == nil ? "" : nil
                } else {
                    current?.append(character)
                }
            }
        }
        return found
    }
}
