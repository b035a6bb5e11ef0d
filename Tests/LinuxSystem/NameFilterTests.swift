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

    @Test("an excluded directory is not entered, an include pattern keeps none out")
    func directories() {
        let filter = NameFilter(include: ["*.jpg"], exclude: [".git", "tmp*"])
        #expect(!filter.enters(directory: Array(".git".utf8), in: Array("a".utf8)))
        #expect(!filter.enters(directory: Array("tmp1".utf8), in: []))
        #expect(filter.enters(directory: Array("photos".utf8), in: []))
    }
}
