/// The byte that an upload's payload begins at, as far as it is known before the server has told the length of the opened file.
enum PayloadBeginning: Equatable {
    /// After what an earlier attempt has sent: the length of the temporary file before it was opened; `nil`: there is none.
    case goesOn(from: Int64?)
    /// At zero, whatever is there. `isRepair`: a whole file had another length, once.
    case whole(isRepair: Bool)

    var isWhole: Bool { if case .whole = self { true } else { false } }
    var isRepair: Bool { self == .whole(isRepair: true) }
    /// `nil`: nothing of the file that is opened counts.
    var start: Int64? { if case .goesOn(let start) = self { start } else { nil } }

    mutating func beginAnew(isRepair: Bool = false) { self = .whole(isRepair: isRepair || self.isRepair) }
}
