public import Foundation

/// How one attempt of a delivery ended.
public struct DeliveryResponse: Sendable, Hashable {
    public let attempt: Int
    public let at: Date
    public let result: Result

    public enum Result: Sendable, Hashable {
        case answered(status: Int, reason: String?, uniqueID: String?)
        /// If the failure came after the request was sent, it is unknown whether APNs has it.
        case failed(String)
    }

    public init(attempt: Int, at: Date, result: Result) {
        self.attempt = attempt
        self.at = at
        self.result = result
    }
}
