public import Foundation

/// How one attempt of a delivery ended.
public struct DeliveryResponse: Sendable, Hashable {
    public let attempt: Int
    public let at: Date
    public let result: Result

    public enum Result: Sendable, Hashable {
        case answered(status: Int, reason: String?, uniqueID: String?)
        /// Whether APNs has it is not known where the failure came after it was sent.
        case failed(String)
    }

    public init(attempt: Int, at: Date, result: Result) {
        self.attempt = attempt
        self.at = at
        self.result = result
    }
}
