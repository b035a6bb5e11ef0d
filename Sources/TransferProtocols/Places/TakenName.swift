import TransferModel

/// The rule after a 412 to an upload that was made before its bytes went: its name was taken since, and the server keeps to the rule that
/// it was made with.
extension UploadSubject {
    /// Another rule holds by now: the upload is made anew. Else what is there is looked at: it may be the same file.
    var isMadeAnewWhenTaken: Bool { ifExists == .replace }

    static let takenReason = "the server would not let that upload replace what is there"
    /// After a look that found nothing.
    static let absentReason = "the server refused that upload, yet nothing of its name is there"
}
