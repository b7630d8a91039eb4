import Synchronization

/// A file of one piece.
final class Once: Sendable {
    private let piece: Mutex<[UInt8]?>

    init(_ piece: [UInt8]) {
        self.piece = Mutex(piece)
    }

    /// The piece, and then its end.
    func take() -> [UInt8]? {
        piece.withLock { piece in
            defer { piece = nil }
            return piece
        }
    }
}
