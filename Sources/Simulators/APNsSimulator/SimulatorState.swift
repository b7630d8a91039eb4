import APNsPayload
import Foundation
import NIOCore
import NIOHPACK
import Synchronization

/// The shared state of a simulator's connections, which its owner can read.
final class SimulatorState: Sendable {
    private let contents: Mutex<Contents>
    let options: APNsSimulator.Options

    private struct Contents {
        var judge: RequestJudge
        var rules = RuleBook()
        var counters = SimulatorCounters()
        var received: [ReceivedRequest] = []
        var channels: [ObjectIdentifier: any Channel] = [:]
        var waiting: [UUID: Waiter] = [:]
    }

    private struct Waiter {
        let isSatisfied: @Sendable (SimulatorCounters) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    /// The treatment of a request.
    enum Decision {
        case response(Reply, id: String, delay: Duration)
        case never
        case reset(code: Int)
        case cut
        /// Nil if the request gets no response either.
        case goAway(reason: String, Reply?, id: String)
        case streams(Int, Reply, id: String, delay: Duration)
    }

    init(_ options: APNsSimulator.Options) throws {
        self.options = options
        contents = Mutex(Contents(judge: try RequestJudge(options)))
    }

    // MARK: For connections

    /// The number of a new connection, from 1.
    func opened(_ channel: any Channel) -> Int {
        change {
            $0.counters.connections += 1
            $0.counters.openConnections += 1
            $0.channels[ObjectIdentifier(channel)] = channel
            return $0.counters.connections
        }
    }

    func closed(_ channel: any Channel) {
        change {
            $0.counters.openConnections -= 1
            $0.channels[ObjectIdentifier(channel)] = nil
        }
    }

    func ruleForConnection() -> Rule? {
        change { contents in
            let rule = contents.rules.ruleForConnection()
            if case .refuseTLS? = rule?.effect { contents.counters.refusedConnections += 1 }
            return rule
        }
    }

    func noteStreams(_ open: Int, allowed: Int) {
        contents.withLock {
            $0.counters.mostStreams = max($0.counters.mostStreams, open)
            if open > allowed { $0.counters.streamOverruns += 1 }
        }
    }

    func decide(
        headers: HPACKHeaders, body: [UInt8], connection: Int, history: inout RequestJudge.ConnectionHistory,
        canTurnAway: Bool
    ) -> Decision {
        let method = headers.first(name: ":method") ?? ""
        let path = headers.first(name: ":path") ?? ""
        let place = RequestJudge.place(path)
        var device: String?
        if case .device(let token) = place, !token.isEmpty { device = token }
        let now = options.now()
        return change { contents in
            let rule = contents.rules.rule(forDevice: device)
            switch rule?.effect {
            case .reset(let code):
                contents.counters.turnedAway += 1
                return .reset(code: code)
            case .cut:
                contents.counters.turnedAway += 1
                return .cut
            case .goAway(let reason, accepting: false) where canTurnAway:
                contents.counters.turnedAway += 1
                return .goAway(reason: reason, nil, id: "")
            default: break
            }
            var reply: Reply? =
                switch rule?.effect {
                case .response(let reason, let since):
                    Reply(Refusal(reason, invalidSince: since ?? (reason.status == 410 ? now : nil)))
                default:
                    contents.judge.judge(
                        method: method, place: place, headers: headers, body: body, on: &history, now: now)
                }
            if reply?.reason == nil, case .device? = place, options.environment == .sandbox {
                reply?.fields.append(("apns-unique-id", UUID().uuidString.lowercased()))
            }
            let id =
                headers.first(name: device == nil ? "apns-request-id" : "apns-id")
                ?? UUID().uuidString.lowercased()
            if case .never? = rule?.effect { reply = nil }
            contents.counters.count(reply)
            if contents.received.count < options.recordLimit {
                contents.received.append(
                    ReceivedRequest(
                        connection: connection, path: path, device: device, id: id, payload: body,
                        status: reply?.status, reason: reply?.reason?.rawValue, headers: headers))
            }
            guard let reply else { return .never }
            let delay = rule?.delay ?? .zero
            switch rule?.effect {
            case .goAway(let reason, _): return .goAway(reason: reason, reply, id: id)
            case .streams(let count): return .streams(count, reply, id: id, delay: delay)
            default: return .response(reply, id: id, delay: delay)
            }
        }
    }

    /// Counts requests that are not judged because of a GOAWAY.
    func turnedAway() {
        change { $0.counters.turnedAway += 1 }
    }

    /// Changes the contents, and wakes tasks whose condition is now true.
    private func change<Result>(_ body: (inout sending Contents) -> sending Result) -> sending Result {
        let (result, satisfied) = contents.withLock { contents in
            let result = body(&contents)
            contents.counters.verifiedTokens = contents.judge.tokens.count
            var satisfied: [CheckedContinuation<Void, Never>] = []
            if !contents.waiting.isEmpty {
                for (id, waiter) in contents.waiting where waiter.isSatisfied(contents.counters) {
                    satisfied.append(waiter.continuation)
                    contents.waiting[id] = nil
                }
            }
            return (result, satisfied)
        }
        for continuation in satisfied { continuation.resume() }
        return result
    }

    // MARK: For the owner

    var rules: [Rule] {
        get { contents.withLock { $0.rules.rules } }
        set { contents.withLock { $0.rules.rules = newValue } }
    }

    func append(_ rule: Rule) {
        contents.withLock { $0.rules.append(rule) }
    }

    var counters: SimulatorCounters {
        contents.withLock { $0.counters }
    }

    var received: [ReceivedRequest] {
        contents.withLock { $0.received }
    }

    func forgetReceived() {
        contents.withLock { $0.received.removeAll() }
    }

    var channels: [any Channel] {
        contents.withLock { Array($0.channels.values) }
    }

    /// Returns when the condition is true, or when the task is cancelled.
    func wait(until isSatisfied: @escaping @Sendable (SimulatorCounters) -> Bool) async {
        let id = UUID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = contents.withLock {
                    if Task.isCancelled || isSatisfied($0.counters) { return true }
                    $0.waiting[id] = Waiter(isSatisfied: isSatisfied, continuation: continuation)
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            contents.withLock { $0.waiting.removeValue(forKey: id) }?.continuation.resume()
        }
    }
}

extension SimulatorCounters {
    /// Counts a judged request; nil without a response.
    fileprivate mutating func count(_ reply: Reply?) {
        requests += 1
        guard let reply else {
            unanswered += 1
            return
        }
        if let reason = reply.reason {
            refused[reason.rawValue, default: 0] += 1
        } else {
            accepted += 1
        }
    }
}
