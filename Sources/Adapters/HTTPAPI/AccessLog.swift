import Formats
public import Logging

/// Logs a line for each request.
///
/// The lines have the endpoint's path and never the URL, so that they contain no query values, keys and coordinates.
public struct AccessLog: Sendable {
    private let logger: Logger
    private let cutsAddresses: Bool

    /// - Parameters:
    ///   - logger: Its own level does not apply: each request is logged.
    ///   - cutsAddresses: Whether lines name the client's network, a /24 of IPv4 or a /64 of IPv6, instead of its address.
    public init(_ logger: Logger, cutsAddresses: Bool) {
        var logger = logger
        logger.logLevel = .info
        self.logger = logger
        self.cutsAddresses = cutsAddresses
    }

    /// - Parameters:
    ///   - client: Nil if the address is unknown, as on a Unix socket.
    ///   - bytes: The length of the response's body; nil if it is not known yet.
    func record(_ request: Logger.Metadata, from client: IPAddress?, bytes: Int?) {
        var metadata = request
        metadata["client"] = client.map { "\(cutsAddresses ? $0.network : $0.description)" }
        metadata["bytes"] = bytes.map { "\($0)" }
        logger.info("request", metadata: metadata)
    }
}
