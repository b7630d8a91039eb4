import APNsClient
import Foundation
import HTTPAPI
import Testing

/// What service managers are told of the time that a server takes to end is enough for it.
@Suite struct StopTimeTests {
    /// Its services end one after the other, each when the one before it has.
    private static let longest: Duration =
        // New connections, as the unit and the Compose file set it.
        .seconds(5)
        // Requests under way.
        + APIServer.Settings().shutdownTimeout
        // What APNs has been sent is answered, or given up a tenth after its time.
        + APNsClient.Settings().requestTimeout * 1.1
        // What became of it and of webhooks' messages, and when keys were used, is written down: a connection to the
        // database is waited for 5 seconds each time.
        + .seconds(3 * 5)
        // Confirmations that wait (`RecordingService`).
        + .seconds(5)

    @Test(arguments: [
        ("deploy/systemd/doorstep.service", "TimeoutStopSec="),
        ("deploy/compose.yaml", "stop_grace_period: "),
    ])
    func stopTimeoutCoversLongestShutdown(file: String, setting: String) throws {
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: repository.appendingPathComponent(file), encoding: .utf8)
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let values = lines.filter { $0.hasPrefix(setting) }.map { $0.dropFirst(setting.count) }
        let seconds = try #require(values.count == 1 ? values[0].prefix { $0.isNumber } : nil)
        #expect(try Duration.seconds(#require(Int(seconds))) > Self.longest)
    }
}
