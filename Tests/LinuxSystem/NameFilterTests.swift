import Testing

@testable import LinuxSystem

@Suite struct NameFilterTests {
    private func taken(_ name: String, in folder: String = "", include: [String] = [], exclude: [String] = []) -> Bool {
        NameFilter(include: include, exclude: exclude).takes(file: Array(name.utf8), in: Array(folder.utf8))
    }

    @Test("patterns mean the base name or the path below the source, and exclude wins")
    func patterns() {
        #expect(taken("a.jpg"))
        #expect(taken("a.jpg", in: "x", include: ["*.jpg"]))
        #expect(!taken("a.raw", include: ["*.jpg"]))
        #expect(!taken("a.jpg", include: ["*.jpg"], exclude: ["a.*"]))
        #expect(taken("a.jpg", in: "x/y", include: ["x/y/*.jpg"]))
        #expect(!taken("a.jpg", in: "x/y", include: ["x/*.jpg"]))
        #expect(!taken("a.jpg", in: "cache", exclude: ["cache/*"]))
    }

    @Test(
        "two stars are any number of folders, and a slash at an end means what people know it to mean",
        arguments: [
            ("raw/**", ["raw/x", "raw/2024/x", "raw/2024/05/x"], ["x", "rawx", "a/raw/x"]),
            ("**/*.key", ["id.key", "a/id.key", "a/b/id.key"], ["id.keys", "a.key/x"]),
            ("**/cache/**", ["cache/x", "a/cache/x", "a/b/cache/c/x"], ["cache", "a/cache"]),
            ("a/**/x", ["a/x", "a/b/x", "a/b/c/x"], ["x", "b/a/x", "a/x/y"]),
            ("/x", ["x"], ["a/x"]), ("/a/*", ["a/x"], ["a/b/x", "b/a/x"]), ("**", ["x", "a/b/x"], []),
            ("secret/", ["secret/x", "a/secret/b/x"], ["secret", "a/secret"]),
            ("a/secret/", ["a/secret/x", "a/secret/b/x"], ["secret/x", "b/a/secret/x"]),
            ("a//x", ["a/x"], ["x"]), ("", [], ["x", "a/x"]), ("/", [], ["x", "a/x"]),
            ("**/**/b/**/**/x", ["b/x", "a/a/a/b/c/c/x"], ["x", "a/x"]),
        ])
    func folders(pattern: String, taken: [String], left: [String]) {
        func takes(_ path: String) -> Bool {
            let names = path.split(separator: "/")
            let (folder, name) = (names.dropLast().joined(separator: "/"), String(names.last ?? ""))
            let includes = self.taken(name, in: folder, include: [pattern])
            #expect(includes != self.taken(name, in: folder, exclude: [pattern]), "\(path)")
            return includes
        }
        for path in taken { #expect(takes(path), "\(path)") }
        for path in left { #expect(!takes(path), "\(path)") }
    }

    @Test("a path may have the name of the source in front")
    func ofSource() {
        let filter = NameFilter(exclude: ["photos/raw/**", "/photos/tmp/", "photos"]).of(source: Array("photos".utf8))
        func takes(_ name: String, in folder: String) -> Bool {
            filter.takes(file: Array(name.utf8), in: Array(folder.utf8))
        }
        #expect(!takes("x", in: "raw") && !takes("x", in: "raw/2024") && !takes("x", in: "tmp"))
        #expect(takes("x", in: "") && takes("x", in: "a/raw"), "a name alone is not the source's")
        #expect(!filter.enters(directory: Array("tmp".utf8), in: []))
        #expect(filter.of(source: Array("other".utf8)).takes(file: Array("x".utf8), in: Array("raw".utf8)))
    }

    @Test("a first part with a wildcard is a folder below the source, and never the source's name")
    func wildcardOfSource() {
        func takes(_ pattern: String, _ name: String, in folder: String = "", of source: String = "site") -> Bool {
            NameFilter(include: [pattern]).of(source: Array(source.utf8))
                .takes(file: Array(name.utf8), in: Array(folder.utf8))
        }
        for pattern in ["*/*", "????/*", "[s]ite/*", "site*/*"] {
            #expect(!takes(pattern, "index.html"), "\(pattern)")
            #expect(takes(pattern, "b", in: "site"), "\(pattern)")
        }
        #expect(takes("site/*", "index.html") && takes(#"si\te/*"#, "index.html"))
        #expect(takes(#"a \[b]/*"#, "x", of: "a [b]") && !takes(#"a\\*/*"#, "x", of: #"a\b"#))
        #expect(!takes("site/*", "index.html", of: ""), "its contents arrive without a name")
    }

    @Test("an excluded directory is not entered, an include pattern keeps none out")
    func directories() {
        let filter = NameFilter(include: ["*.jpg"], exclude: [".git", "tmp*"])
        #expect(!filter.enters(directory: Array(".git".utf8), in: Array("a".utf8)))
        #expect(!filter.enters(directory: Array("tmp1".utf8), in: []))
        #expect(filter.enters(directory: Array("photos".utf8), in: []))
        let folders = NameFilter(exclude: ["**/node_modules/", "/build", "raw/**"])
        func enters(_ name: String, in folder: String = "") -> Bool {
            folders.enters(directory: Array(name.utf8), in: Array(folder.utf8))
        }
        #expect(!enters("node_modules") && !enters("node_modules", in: "a/b") && !enters("x", in: "raw"))
        #expect(!enters("build") && enters("build", in: "a") && enters("raw"))
    }
}
