import ArgumentParser
import Foundation

/// Where a server sends its traces, and how many.
struct TraceOptions: ParsableArguments {
    @Option(Settings.otlpEndpoint) var endpoint: CollectorURL?
    @Option(Settings.traceSample) var ratio: Double?

    /// Nil for no traces.
    func destination() throws -> TraceDestination? {
        let ratio = try Settings.traceSample.value(ratio)
        return try Settings.otlpEndpoint.value(endpoint).map { TraceDestination(url: $0.text, ratio: ratio) }
    }
}

/// The collector of a server's traces.
struct TraceDestination: Sendable {
    /// The whole URL of the endpoint for traces.
    let url: String
    /// The recorded share of traces, 0 to 1.
    let ratio: Double
}

/// The URL of an OpenTelemetry collector for OTLP/HTTP. If its path does not end in `/v1/traces`, this is added, as OpenTelemetry
/// does with `OTEL_EXPORTER_OTLP_ENDPOINT`.
struct CollectorURL: Sendable, ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        guard let url = URLComponents(string: argument), ["http", "https"].contains(url.scheme),
            url.host?.isEmpty == false, url.user == nil, url.query == nil, url.fragment == nil
        else { return nil }
        let base = argument.hasSuffix("/") ? String(argument.dropLast()) : argument
        text = base.hasSuffix("/v1/traces") ? base : base + "/v1/traces"
    }
}
