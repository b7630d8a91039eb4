import Foundation
import NIOCore
import NIOPosix

/// A DNS server on 127.0.0.1, over UDP and TCP, with scripted responses to TXT questions.
public struct LocalNameServer: Sendable {
    public enum Answer: Sendable {
        /// A TXT record for each list of strings, after an alias if there is one.
        case texts([[String]], alias: String? = nil)
        /// An empty response that requires a repetition over TCP, where the texts are.
        case tooLargeForUDP([[String]])
        /// No record, with this response code: 0 no such record, 2 failure, 3 no such name, 5 refused.
        case code(UInt8)
        /// A response that is not a DNS message.
        case noMessage
        /// A record that is longer than its message.
        case cutOff
        /// No response.
        case silence
        /// No response over TCP. UDP requires a repetition over TCP.
        case silenceOverTCP
    }

    public let port: Int

    /// A thread of its own: the shared ones serve other tests, which can delay a response beyond the resolver's timeout.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// Runs the closure with a server.
    /// - Parameter answers: The responses by name, in lower case. All other names do not exist.
    public static func lend<Result: Sendable>(
        _ responses: @escaping @Sendable (String) -> Answer?,
        _ body: (LocalNameServer) async throws -> Result
    ) async throws -> Result {
        let (datagrams, streams) = try await bind(responses)
        let port = streams.localAddress?.port ?? 0
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(LocalNameServer(port: port)))
        } catch {
            result = .failure(error)
        }
        try await datagrams.close()
        try await streams.close()
        return try result.get()
    }

    /// Binds one port for both protocols. The system chooses a free port for TCP, which may be in use for UDP.
    private static func bind(
        _ responses: @escaping @Sendable (String) -> Answer?
    ) async throws -> (datagrams: any Channel, streams: any Channel) {
        while true {
            let streams = try await ServerBootstrap(group: group)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(StreamHandler(responses: responses))
                    }
                }.bind(host: "127.0.0.1", port: 0).get()
            do {
                let datagrams = try await DatagramBootstrap(group: group)
                    .channelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.pipeline.syncOperations.addHandler(
                                DatagramHandler(responses: responses))
                        }
                    }.bind(host: "127.0.0.1", port: streams.localAddress?.port ?? 0).get()
                return (datagrams, streams)
            } catch let error as IOError where error.errnoCode == EADDRINUSE {
                try await streams.close()
            }
        }
    }
}

/// Messages of RFC 1035 §4.
private enum Message {
    static let header = 12

    /// The name in a question, in lower case; nil if the bytes are not a question.
    static func name(_ question: [UInt8]) -> (name: String, end: Int)? {
        var labels: [String] = []
        var position = header
        while position < question.count, question[position] > 0 {
            let end = position + 1 + Int(question[position])
            guard end < question.count else { return nil }
            labels.append(String(decoding: question[(position + 1)..<end], as: UTF8.self).lowercased())
            position = end
        }
        return position + 5 <= question.count ? (labels.joined(separator: "."), position + 5) : nil
    }

    /// Nil for no response.
    static func response(
        _ question: [UInt8], overTCP: Bool, _ responses: (String) -> LocalNameServer.Answer?
    ) -> [UInt8]? {
        guard let (name, end) = name(question) else { return nil }
        switch responses(name) ?? .code(3) {
        case .texts(let texts, let alias):
            var records = alias.map { [record(type: 5, encoded($0), name: [0xC0, 0x0C])] } ?? []
            records += texts.map { record(type: 16, strings($0), name: alias.map(encoded) ?? [0xC0, 0x0C]) }
            return message(question, end, records: records)
        case .tooLargeForUDP(let texts):
            guard overTCP else { return message(question, end, isCutOff: true) }
            return message(
                question, end, records: texts.map { record(type: 16, strings($0), name: [0xC0, 0x0C]) })
        case .code(let code): return message(question, end, code: code)
        case .noMessage: return Array(question[..<2]) + [0x81, 0x80, 0, 1, 0, 1] + [0xFF, 0xFF]
        case .cutOff:
            let whole = message(
                question, end, records: [record(type: 16, strings(["text"]), name: [0xC0, 0x0C])])
            return Array(whole.dropLast(3))
        case .silence: return nil
        case .silenceOverTCP: return overTCP ? nil : message(question, end, isCutOff: true)
        }
    }

    private static func message(
        _ question: [UInt8], _ end: Int, code: UInt8 = 0, isCutOff: Bool = false, records: [[UInt8]] = []
    ) -> [UInt8] {
        Array(question[..<2]) + [
            isCutOff ? 0x83 : 0x81, 0x80 | code, 0, 1, 0, UInt8(records.count), 0, 0, 0, 0,
        ]
            + question[header..<end] + records.joined()
    }

    private static func record(type: UInt8, _ data: [UInt8], name: [UInt8]) -> [UInt8] {
        name + [0, type, 0, 1, 0, 0, 0, 60, UInt8(data.count >> 8), UInt8(data.count & 0xFF)] + data
    }

    private static func strings(_ texts: [String]) -> [UInt8] {
        texts.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    }

    private static func encoded(_ name: String) -> [UInt8] {
        name.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }
}

private final class DatagramHandler: ChannelInboundHandler {
    typealias InboundIn = AddressedEnvelope<ByteBuffer>
    typealias OutboundOut = AddressedEnvelope<ByteBuffer>

    private let responses: @Sendable (String) -> LocalNameServer.Answer?

    init(responses: @escaping @Sendable (String) -> LocalNameServer.Answer?) {
        self.responses = responses
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let envelope = unwrapInboundIn(data)
        guard
            let response = Message.response(Array(envelope.data.readableBytesView), overTCP: false, responses)
        else { return }
        context.writeAndFlush(
            wrapOutboundOut(
                AddressedEnvelope(remoteAddress: envelope.remoteAddress, data: ByteBuffer(bytes: response))),
            promise: nil)
    }
}

/// Reads a question that arrives in one piece, as a resolver sends it, preceded by its length in two bytes.
private final class StreamHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let responses: @Sendable (String) -> LocalNameServer.Answer?
    private var received: [UInt8] = []

    init(responses: @escaping @Sendable (String) -> LocalNameServer.Answer?) {
        self.responses = responses
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += Array(unwrapInboundIn(data).readableBytesView)
        guard received.count > 2, received.count >= 2 + (Int(received[0]) << 8 | Int(received[1])) else {
            return
        }
        guard let response = Message.response(Array(received.dropFirst(2)), overTCP: true, responses) else {
            return
        }
        let length = [UInt8(response.count >> 8), UInt8(response.count & 0xFF)]
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: length + response)), promise: nil)
    }
}
