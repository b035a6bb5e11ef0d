extension ProtocolFacts {
    package static let s3 = ProtocolFacts(
        "s3", schemes: [Spelling("s3", port: nil)], downloads: .itself,
        lists: Listing(takesBeginning: true, isComplete: true, tagsProve: true), login: .awsKeys,
        urlNamesNoHost: true, beginsAgain: "it goes in one piece",
        comparedInParts: "by the digests of its parts (MD5 and the ETag)", comparesParts: "MD5 of each part")
}
