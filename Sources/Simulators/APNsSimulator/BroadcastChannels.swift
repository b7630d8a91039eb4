import Foundation

/// The broadcast channels that were made, by app.
///
/// Source: "Sending channel management requests to APNs". [Apple]
struct BroadcastChannels {
    /// Whether the last message is stored for devices that are offline, by channel ID.
    private var storing: [String: [String: Bool]] = [:]
    let maximum: Int

    init(maximum: Int) {
        self.maximum = maximum
    }

    /// The ID of a new channel; nil when the app has as many as it may.
    mutating func create(for bundleID: String, storesLastMessage: Bool) -> String? {
        guard storing[bundleID, default: [:]].count < maximum else { return nil }
        let id = Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
        storing[bundleID, default: [:]][id] = storesLastMessage
        return id
    }

    /// Whether the channel stores the last message; nil when there is none.
    func storesLastMessage(_ id: String, of bundleID: String) -> Bool? {
        storing[bundleID]?[id]
    }

    /// Whether there was one to delete.
    mutating func delete(_ id: String, of bundleID: String) -> Bool {
        storing[bundleID]?.removeValue(forKey: id) != nil
    }

    func ids(of bundleID: String) -> [String] {
        storing[bundleID, default: [:]].keys.sorted()
    }
}
