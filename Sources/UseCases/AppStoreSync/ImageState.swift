/// The state of an image.
public struct ImageState: Sendable, Hashable {
    public let phase: Phase
    /// The reason of the failed processing, such as `IMAGE_INCORRECT_DIMENSIONS`.
    public let failures: [String]

    /// Source: API 4.4.1, `AppMediaAssetState`. [Apple]
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        case awaitingUpload = "AWAITING_UPLOAD"
        case uploadComplete = "UPLOAD_COMPLETE"
        case complete = "COMPLETE"
        case failed = "FAILED"
    }

    public init(phase: Phase, failures: [String]) {
        self.phase = phase
        self.failures = failures
    }
}
