import TransferModel
import TransferProtocols

extension RequestSigning {
    /// The signature of AWS that it is.
    var v4: SignatureV4? { signer as? SignatureV4 }

    static func v4(region: S3Region, service: String = "s3", payload: String) -> RequestSigning {
        RequestSigning(SignatureV4(region: region, service: service, payload: payload))
    }
}
