import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// The reason for the missing response.
public struct OutboundError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason in a few words. They contain neither URL nor body.
    public let reason: String
    /// The library's description, cut to 200 characters: for the user who named the server.
    public let detail: String

    static let late = OutboundError(reason: "no response in time", detail: "no response in time")

    static let noAddress = OutboundError(
        reason: "the host has no address", detail: "the host has no address")

    /// More bytes than ``OutboundClient/Settings/responseBudget`` allows, or than the library reads of a header.
    static let tooLong = OutboundError(
        reason: "the response is too long",
        detail: "the response is too long, its header or interim responses included")

    private static let truncated = "the connection was closed before the end of the response"

    static func notPublic(_ address: String) -> OutboundError {
        OutboundError(
            reason: "the host's address is not public",
            detail: "the host's address \(address) is neither public nor in --outbound-allow")
    }

    public var description: String { reason }

    private init(reason: String, detail: String) {
        self.reason = reason
        self.detail = detail
    }

    init(_ error: any Error) {
        if let error = error as? OutboundError {
            self = error
            return
        }
        if let error = error as? HTTPParserError, error != .invalidEOFState {
            self =
                error == .headerOverflow
                ? .tooLong
                : OutboundError(
                    reason: "the response is not valid HTTP",
                    detail: "the response is not valid HTTP: \(error)")
            return
        }
        let reason: String? =
            switch error {
            case let error as HTTPClientError where error == .deadlineExceeded || error == .connectTimeout:
                Self.late.reason
            // A body without a length ends with TLS's close_notify; without that, it may be cut off (RFC 9112 §9.8).
            case NIOSSLError.uncleanShutdown, HTTPParserError.invalidEOFState: Self.truncated
            case let error as HTTPClientError where error == .remoteConnectionClosed: Self.truncated
            case let error as NIOConnectionError where error.connectionErrors.isEmpty:
                Self.noAddress.reason
            case let error as IOError: String(cString: strerror(error.errnoCode))
            default: nil
            }
        if let reason {
            self.init(reason: reason, detail: reason)
        } else {
            let isOfTLS = error is NIOSSLError || error is NIOSSLExtraError
            self.init(
                reason: isOfTLS ? "the connection could not be secured" : "the connection failed",
                detail: "\(error)".split(separator: "\n").first.map { String($0.prefix(200)) } ?? "no answer")
        }
    }
}
