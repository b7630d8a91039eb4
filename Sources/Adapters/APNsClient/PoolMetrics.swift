import APNsPayload
import CoreMetrics
import Metrics
import Notifications

/// The metrics of one environment.
struct PoolMetrics: Sendable {
    let connections: Meter
    let inFlight: Meter
    let waiting: Meter
    /// From the submission of a request to the end of the response.
    let duration: Timer

    init(_ environment: APNsEnvironment) {
        let dimensions = [("environment", environment.rawValue)]
        connections = Meter(label: "doorstep_apns_connections", dimensions: dimensions)
        inFlight = Meter(label: "doorstep_apns_requests_in_flight", dimensions: dimensions)
        waiting = Meter(label: "doorstep_apns_requests_waiting", dimensions: dimensions)
        duration = Timer(label: "doorstep_apns_request_duration", dimensions: dimensions)
    }
}
