import Foundation
import NIOCore
import NIOPosix

/// A TCP connection on which a test sends arbitrary bytes.
struct RawConnection: Sendable {
    private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

    init(_ address: String) async throws {
        let port = URL(string: address)?.port ?? 0
        channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel(
                        wrappingChannelSynchronously: channel,
                        configuration: NIOAsyncChannel.Configuration(isOutboundHalfClosureEnabled: true))
                }
            }
    }

    func send(_ bytes: [UInt8]) async throws {
        try await channel.channel.writeAndFlush(ByteBuffer(bytes: bytes))
    }

    func sendAndClose(_ bytes: [UInt8]) async throws {
        try await channel.executeThenClose { _, outbound in try await outbound.write(ByteBuffer(bytes: bytes))
        }
    }

    /// The bytes that the server sends until it closes.
    func receiveToEnd() async throws -> String {
        try await channel.executeThenClose { inbound, _ in
            var text = ""
            do {
                for try await part in inbound { text += String(buffer: part) }
            } catch is IOError where !text.isEmpty {
                // The server closes without reading the rest of a refused request, so a reset follows the response.
            }
            return text
        }
    }

    /// Sends the head. When the server has sent something, calls the closure and sends the body.
    func exchange(
        _ head: [UInt8], then body: [UInt8], after action: () async throws -> Void = {}
    ) async throws -> String {
        try await send(head)
        return try await channel.executeThenClose { inbound, outbound in
            var text = ""
            for try await part in inbound {
                if text.isEmpty {
                    try await action()
                    try await outbound.write(ByteBuffer(bytes: body))
                }
                text += String(buffer: part)
            }
            return text
        }
    }

    /// Sends bytes and returns the response. The server may refuse to read all bytes.
    func exchange(_ bytes: [UInt8]) async throws -> String {
        channel.channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
        return try await receiveToEnd()
    }
}
