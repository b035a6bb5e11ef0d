import TransferModel

/// Parameters that may hold what can never be meant. Looked at once, where they come in.
package protocol RefusableParameters {
    /// The fault of the parameters; `nil`: none.
    var refusal: String? { get }
}

extension BatchRequest: RefusableParameters {}

extension SetRequest: RefusableParameters {
    package var refusal: String? { settings.refusal ?? secrets?.refusal }
}

extension DestinationKeepRequest: RefusableParameters {
    package var refusal: String? { secrets.refusal }
}

extension DestinationTestRequest: RefusableParameters {
    package var refusal: String? { options?.refusal ?? secrets?.refusal }
}

extension LeftoverSearchRequest: RefusableParameters {
    package var refusal: String? { keys?.refusal }
}

extension LimitsChange: RefusableParameters {
    package var refusal: String? {
        let rates = [up, down].compactMap(\.self) + (scoped ?? []).map(\.rate)
        return rates.allSatisfy(FileSize.isPossible) ? nil : "a rate is 0 to 2^53 bytes a second"
    }
}
