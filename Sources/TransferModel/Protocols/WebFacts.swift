extension ProtocolFacts {
    /// URLs of the web: the host is asked, or a person says, which of `put`, `post`, `form`, `tus` and `ietf` sends files there.
    package static let web = ProtocolFacts(
        "web", name: "put", schemes: Spelling.overHTTP("http", "https"), isNegotiated: true, downloads: .by(.get))

    package static let put = ProtocolFacts(
        "put", beginsAgain: "sent whole each time",
        unfinished: "PUT has no temporary name: what stands there until all has come is the server's choice")

    package static let post = ProtocolFacts("post", beginsAgain: "sent whole each time")

    package static let form = ProtocolFacts("form", beginsAgain: "a form is sent whole")

    /// Fetches what has an address of HTTP.
    package static let get = ProtocolFacts("get")
}
