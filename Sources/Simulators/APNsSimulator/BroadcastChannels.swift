import Foundation

/// The existing broadcast channels, by app.
///
/// Source: "Sending channel management requests to APNs". [Apple]
struct BroadcastChannels {
    /// Whether a channel stores its last message for offline devices, by channel ID.
    private var storing: [String: [String: Bool]] = [:]
    let maximum: Int

    init(maximum: Int) {
        self.maximum = maximum
    }

    /// The ID of a new channel; nil if the app has the maximum number.
    mutating func create(for bundleID: String, storesLastMessage: Bool) -> String? {
        guard storing[bundleID, default: [:]].count < maximum else { return nil }
        let id = Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
        storing[bundleID, default: [:]][id] = storesLastMessage
        return id
    }

    /// Whether the channel stores its last message; nil if it does not exist.
    func storesLastMessage(_ id: String, of bundleID: String) -> Bool? {
        storing[bundleID]?[id]
    }

    /// Whether the channel existed.
    mutating func delete(_ id: String, of bundleID: String) -> Bool {
        storing[bundleID]?.removeValue(forKey: id) != nil
    }

    func ids(of bundleID: String) -> [String] {
        storing[bundleID, default: [:]].keys.sorted()
    }
}
