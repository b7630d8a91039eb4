/// An image that App Store Connect waits for, for about a week.
public struct ImageReservation: Sendable, Hashable {
    public let id: String
    /// They make up the file.
    public let operations: [UploadOperation]

    public init(id: String, operations: [UploadOperation]) {
        self.id = id
        self.operations = operations
    }
}
