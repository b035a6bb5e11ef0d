package import TransferModel

/// Status and header of one answer, final or interim.
package struct HTTPAnswer: Hashable, Sendable {
    /// 100…999
    package var status: Int
    /// In the order in which they came.
    package var headers: [HeaderField]

    package init(status: Int, headers: [HeaderField] = []) {
        self.status = status
        self.headers = headers
    }

    /// The value of the first field of that name, which is given in lower case.
    package func field(_ name: String) -> String? {
        headers.first { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name }?.value
    }
}
