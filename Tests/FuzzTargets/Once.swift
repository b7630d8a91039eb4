import Synchronization

/// A file that consists of one piece.
final class Once: Sendable {
    private let piece: Mutex<[UInt8]?>

    init(_ piece: [UInt8]) {
        self.piece = Mutex(piece)
    }

    /// Returns the piece, and then nil.
    func take() -> [UInt8]? {
        piece.withLock { piece in
            defer { piece = nil }
            return piece
        }
    }
}
