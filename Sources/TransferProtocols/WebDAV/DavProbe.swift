import TransferModel

/// Asks a folder of WebDAV for its room and the rights in it.
struct DavProbe: Inquirer {
    private let address: HTTPAddress

    init(_ address: HTTPAddress) { self.address = address }

    mutating func begin() -> InquiryStep { .ask(DavMessages.quota(address)) }

    mutating func answered(_ end: ExchangeEnd, _ found: inout PlaceFindings) -> InquiryStep {
        found.protocolName = ProtocolFacts.dav.id
        switch DavFinding(end, host: address.server, hasAccepted: false) {
        case .found:
            found.exists = true
            let quota = DavQuota(end.body)
            found.freeBytes = quota.available
            found.writable = quota.writable
        case .missing: found.exists = false
        case .unknownMethod:
            return .fail(
                TransferError(.unsupported, "\(address.server) does not know WebDAV", .step("write https:// instead")))
        case .other(let meaning): if let refusal = meaning.refusal { return .over(refusal) }
        }
        return .done
    }
}

/// Asks for one file by PROPFIND.
struct DavFileProbe: Inquirer {
    private let address: HTTPAddress
    private let name: RawPath

    init(_ address: HTTPAddress, name: RawPath) { (self.address, self.name) = (address, name) }

    mutating func begin() -> InquiryStep { .ask(DavMessages.stat(address)) }

    mutating func answered(_ end: ExchangeEnd, _ found: inout RemoteEntry?) -> InquiryStep {
        switch DavFinding(end, host: address.server, hasAccepted: false) {
        case .found(let resource): found = resource.entry(named: name)
        case .missing: break
        case .unknownMethod: return .fail(.unaskable(address.server))
        case .other(let meaning): return .over(meaning.refusal ?? .fail(.unaskable(address.server)))
        }
        return .done
    }
}
