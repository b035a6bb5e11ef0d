import ServiceWire
import Testing
import TransferEngine
import TransferModel
import TransferQueue

@testable import TransferService

/// A login that is kept for a configured server is shown to that server alone, whatever the client's file says of it by now.
@Suite struct DestinationLoginTests {
    private func login(_ password: String) -> TransferSecrets {
        var secrets = TransferSecrets()
        (secrets.user, secrets.password) = ("ana", password)
        return secrets
    }

    private func upload(to url: String) -> BatchRequest {
        var request = BatchRequest(
            work: .upload([UploadSource(path: RawPath("/a"), placement: .named(RawPath("a")))], to: url))
        request.destination = "nas"
        return request
    }

    private func test(_ url: String, user: String? = nil) -> DestinationTestRequest {
        var secrets = TransferSecrets()
        secrets.user = user
        return DestinationTestRequest(url: url, options: nil, secrets: secrets, destination: "nas")
    }

    @Test func `a login that was kept for another server than the file names is not shown to it`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        // The engine has the new one, and the client was killed before it wrote the new URL.
        _ = try await client.call(
            Methods.destinationKeep,
            DestinationKeepRequest(name: "nas", secrets: login("new"), url: "davs://new.example/dav/"))
        let added = try await #require(throws: WireError.self) {
            try await client.call(Methods.batchAdd, upload(to: "davs://old.example/dav/x/"))
        }
        #expect(added.requestError.code == .refused)
        #expect(
            added.requestError.message
                == "the login of nas was kept for https://new.example:443, not for https://old.example:443: "
                + "give it again with martlet destination add nas URL --replace")
        #expect(try await client.call(Methods.batchList, BatchListRequest()).batches.isEmpty)
        for url in ["davs://old.example/", "dav://new.example/", "davs://new.example:8443/", "ftps://new.example/"] {
            let tested = try await #require(throws: WireError.self, "\(url)") {
                try await client.call(Methods.destinationTest, test(url))
            }
            #expect(tested.requestError.code == .refused, "\(url)")
        }
        #expect(await harness.engine.tests.isEmpty)
        _ = try await client.call(Methods.destinationTest, test("davs://NEW.example:443/dav/x/"))
        #expect(await harness.engine.tests.map(\.secrets.password) == ["new"])
        let batch = try await client.call(Methods.batchAdd, upload(to: "davs://new.example/dav/x/"))
        #expect(!batch.existed)
        try await harness.end()
    }

    @Test func `a login that was kept for no server is for the first one that it is used for`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        _ = try await client.call(
            Methods.destinationKeep, DestinationKeepRequest(name: "nas", secrets: login("kept")))
        // Somebody else logs in: it is not used.
        _ = try await client.call(Methods.destinationTest, test("sftp://elsewhere/", user: "bob"))
        _ = try await client.call(Methods.destinationTest, test("ftps://one/"))
        await #expect(throws: WireError.self) { try await client.call(Methods.destinationTest, test("ftps://two/")) }
        _ = try await client.call(Methods.destinationTest, test("ftps://one/folder/"))
        #expect(await harness.engine.tests.map(\.secrets.password) == [nil, "kept", "kept"])
        // One that comes back after it was forgotten is for the same server.
        _ = try await client.call(Methods.destinationForget, DestinationForgetRequest(name: "nas"))
        _ = try await client.call(Methods.destinationRestore, DestinationForgetRequest(name: "nas"))
        await #expect(throws: WireError.self) { try await client.call(Methods.destinationTest, test("ftps://two/")) }
        // Given again it is for the new one.
        _ = try await client.call(
            Methods.destinationKeep, DestinationKeepRequest(name: "nas", secrets: login("again"), url: "ftps://two/"))
        _ = try await client.call(Methods.destinationTest, test("ftps://two/"))
        #expect(await harness.engine.tests.last?.secrets.password == "again")
        try await harness.end()
    }

    @Test func `all URLs of a batch are of the server that its login was kept for`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        _ = try await client.call(
            Methods.destinationKeep, DestinationKeepRequest(name: "nas", secrets: login("kept"), url: "https://one/"))
        func download(_ urls: [String]) -> BatchRequest {
            var request = BatchRequest(
                work: .download(
                    urls.map { DownloadSource(url: $0, directory: RawPath("/d"), fileName: nil) }))
            request.destination = "nas"
            return request
        }
        let mixed = try await #require(throws: WireError.self) {
            try await client.call(Methods.batchAdd, download(["https://one/a", "https://two/b"]))
        }
        #expect(mixed.requestError.code == .usage)
        #expect(
            mixed.message
                == "a kept login is for one server, and the URLs are of several: queue one batch for each")
        #expect(try await client.call(Methods.batchList, BatchListRequest()).batches.isEmpty)
        let added = try await client.call(Methods.batchAdd, download(["https://one/a", "https://one:443/b"]))
        #expect(added.batch.filesTotal == 2)
        try await harness.end()
    }

    @Test func `keys of S3 are for one service`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        var secrets = TransferSecrets()
        secrets.s3 = S3Keys(accessKeyID: "a", secretAccessKey: "kept")
        _ = try await client.call(
            Methods.destinationKeep,
            DestinationKeepRequest(
                name: "nas", secrets: secrets, url: "s3://b/", s3: S3Place(endpoint: "https://one:9000", region: "r")))
        func search(_ endpoint: String?) -> LeftoverSearchRequest {
            LeftoverSearchRequest(
                url: "s3://other/p", s3: S3Place(endpoint: endpoint), keys: nil, destination: "nas")
        }
        for endpoint in [nil, "https://two:9000", "http://one:9000", "https://one"] {
            let error = try await #require(throws: WireError.self) {
                try await client.call(Methods.leftoversSearch, search(endpoint))
            }
            #expect(error.requestError.message.contains("the login of nas was kept for S3 at https://one:9000"))
        }
        #expect(await harness.engine.searches.isEmpty)
        _ = try await client.call(Methods.leftoversSearch, search("https://ONE:9000/"))
        #expect(await harness.engine.searches.map(\.keys.secretAccessKey) == ["kept"])
        try await harness.end()
    }

    @Test func `a login is kept for no URL that names no server`() async throws {
        let harness = try await ServiceHarness()
        let client = try await harness.client()
        for url in ["", "nas", "https://ana@h/", "https:///x"] {
            let error = try await #require(throws: WireError.self, "\(url)") {
                try await client.call(
                    Methods.destinationKeep, DestinationKeepRequest(name: "nas", secrets: login("x"), url: url))
            }
            #expect(error.requestError.code == .usage)
            #expect(
                error.message
                    == "there is no server that a login could be for: give a URL with a host and without user info")
        }
        try await harness.end()
    }
}
