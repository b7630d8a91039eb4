import Formats
public import Foundation

/// The ID of a tenant's webhook: `wh_` and the 32 hexadecimal digits of a UUID.
public struct WebhookID: Sendable, Hashable, CustomStringConvertible {
    public let uuid: UUID

    public init(_ uuid: UUID) {
        self.uuid = uuid
    }

    /// Nil for a text that is not a webhook's ID. Each webhook has exactly one ID.
    public init?(_ text: String) {
        guard text.hasPrefix(Self.prefix) else { return nil }
        let digits = text.dropFirst(Self.prefix.count)
        guard digits.utf8.count == 32 else { return nil }
        var parts: [Substring] = []
        var rest = digits
        for length in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(length))
            rest = rest.dropFirst(length)
        }
        guard let uuid = UUID(text: parts.joined(separator: "-")) else { return nil }
        self.init(uuid)
        guard description == text else { return nil }
    }

    public var description: String {
        Self.prefix + uuid.uuidString.lowercased().filter { $0 != "-" }
    }

    private static let prefix = "wh_"
}
