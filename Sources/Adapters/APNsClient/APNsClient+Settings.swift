import APNsPayload
import NIOPosix
import Notifications
public import Tracing

extension APNsClient {
    /// The addresses of APNs, time limits and other limits.
    public struct Settings: Sendable {
        public var production = Service(
            push: Address(host: "api.push.apple.com", port: 443),
            channels: Address(host: "api-manage-broadcast.push.apple.com", port: 2196))
        public var sandbox = Service(
            push: Address(host: "api.sandbox.push.apple.com", port: 443),
            channels: Address(host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195))
        /// A PEM file with certificates to trust instead of the system's, for a simulator.
        public var authorities: String?
        /// The connections that a team may have to one environment; they are opened as they are needed.
        public var connections = 2
        /// The streams to use on one connection, whatever more APNs allows.
        public var streams = 1_000
        /// The requests that may wait for a stream, for each team and environment.
        public var waiting = 10_000
        /// For a connection, from the lookup of the host to the first settings of APNs.
        public var connectTimeout = Duration.seconds(10)
        /// Maximum time of a request, from its submission to the end of the response. It is checked ten times in that time, so
        /// a request may last a tenth longer.
        public var requestTimeout = Duration.seconds(30)
        /// If nothing arrives from APNs for this time, a PING is sent. [Apple: after an hour]
        public var idleTime = Duration.seconds(3_600)
        /// If nothing has arrived from APNs for this time, a connection is used again only after it has answered a PING: NAT
        /// gateways and firewalls drop idle connections silently, the first after 350 s. [observed]
        public var silence = Duration.seconds(60)
        /// Maximum time for the response to either.
        public var pingTimeout = Duration.seconds(10)
        /// The first pause before another attempt to connect. Each failure doubles the pause, up to the longest one. Each pause
        /// is shortened by a random part of its second half.
        public var firstPause = Duration.milliseconds(250)
        public var longestPause = Duration.seconds(15)
        public var breaker = CircuitBreaker.Thresholds()
        /// Records a span for each notification; nil for none.
        public var tracer: (any Tracer)?
        /// Looks up hosts; nil for the system's lookup. For tests.
        var resolver: (any Resolver & Sendable)?

        public init() {}

        func address(_ environment: APNsEnvironment, isForChannels: Bool) -> Address {
            let service = environment == .production ? production : sandbox
            return isForChannels ? service.channels : service.push
        }
    }

    /// The addresses of one environment.
    public struct Service: Sendable, Hashable {
        /// For notifications and broadcasts.
        public var push: Address
        /// For the management of channels.
        public var channels: Address

        public init(push: Address, channels: Address) {
            self.push = push
            self.channels = channels
        }

        /// One address for everything, as a simulator has.
        public init(_ address: Address) {
            self.init(push: address, channels: address)
        }
    }

    public struct Address: Sendable, Hashable {
        public var host: String
        public var port: Int

        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }
}
