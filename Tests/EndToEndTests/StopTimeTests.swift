import APNsClient
import Foundation
import HTTPAPI
import Testing

/// The stop timeouts of systemd and Compose are long enough for a server.
@Suite struct StopTimeTests {
    /// The services end one after another.
    private static let longest: Duration =
        // New connections are accepted for this time, as the unit and the Compose file set it.
        .seconds(5)
        // Current requests.
        + APIServer.Settings().shutdownTimeout
        // APNs requests end with a response, or are given up a tenth after their timeout.
        + APNsClient.Settings().requestTimeout * 1.1
        // Results of deliveries, results of webhook messages, and key usage are written. Each waits for a connection for up to 5
        // seconds.
        + .seconds(3 * 5)
        // Waiting confirmations (`RecordingService`).
        + .seconds(5)
        // The end of the server (`HeartbeatService`).
        + .seconds(1)

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
