import Foundation
import Synchronization
import Tenancy
import Testing

@testable import Notifications

@Suite struct WebhookDispatcherTests {
    /// Two webhooks of each tenant.
    private static let webhooks: [WebhookReference] = (0..<80).map { (number: UInt8) -> WebhookReference in
        let tenant = TenantID(id(number / 2 + 1))
        return WebhookReference(WebhookID(id(number % 2 + 1)), of: tenant)
    }

    private static func id(_ number: UInt8) -> UUID {
        UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number))
    }

    /// Runs a dispatcher during the closure, and returns after the dispatcher has ended.
    private static func withDispatcher(
        _ store: MemoryWebhookStore, clock: any Clock<Duration> = StandingClock(),
        onEvent: @escaping @Sendable (WebhookDispatcher.Event) -> Void = { _ in },
        reply: @escaping @Sendable (WebhookMessage) async -> WebhookReply,
        _ body: () async throws -> Void
    ) async rethrows {
        let dispatcher = WebhookDispatcher(store, Replies(reply: reply), clock: clock, onEvent: onEvent)
        async let run: Void = dispatcher.run()
        do {
            try await body()
        } catch {
            dispatcher.shutDown()
            throw error
        }
        dispatcher.shutDown()
        await run
    }

    @Test func acceptedMessageIsRemovedAndFailedMessageWaits() async throws {
        let store = try MemoryWebhookStore([Self.webhooks[0]: 3])
        await Self.withDispatcher(
            store,
            reply: { message in
                switch message.body {
                case [0]: .status(200)
                case [1]: .status(500)
                default: .noResponse("no response in time")
                }
            }
        ) {
            await store.wait { $0.waiting.count == 2 && $0.retries.count == 2 }
        }
        let left = store.current
        #expect(Set(left.waiting.map(\.message.body)) == [[1], [2]])
        #expect(Set(left.retries.keys) == Set(left.waiting.map(\.message.id)))
        #expect(left.retries.values.allSatisfy { (.seconds(5) ... .seconds(6)).contains($0) })
        #expect(left.givenBack.isEmpty)
    }

    @Test func messageIsGivenUpAfterLastAttempt() async throws {
        let store = try MemoryWebhookStore([Self.webhooks[0]: 1, Self.webhooks[1]: 1])
        store.change { $0.waiting[0].message = $0.waiting[0].message.with(attempt: 8) }
        store.change { $0.waiting[1].message = $0.waiting[1].message.with(attempt: 9) }
        let last = store.current.waiting[1]
        let givenUp = Mutex<[WebhookReference]>([])
        await Self.withDispatcher(
            store,
            onEvent: { event in
                if case .gaveUp(let webhook, 1, .status(404, _)) = event {
                    givenUp.withLock { $0.append(webhook) }
                }
            }, reply: { _ in .status(404) }
        ) {
            await store.wait { $0.waiting.count == 1 && $0.retries.count == 1 }
        }
        #expect(store.current.waiting.map(\.message.attempt) == [9])
        #expect(givenUp.withLock { $0 } == [last.webhook])
    }

    @Test func response410GivesUpMessageAndDisablesWebhook() async throws {
        let store = try MemoryWebhookStore([Self.webhooks[0]: 1])
        let events = Mutex<[String]>([])
        await Self.withDispatcher(
            store,
            onEvent: { event in
                switch event {
                case .gaveUp(_, let count, .status(410, _)?):
                    events.withLock { $0.append("gave up \(count)") }
                case .switchedOff(_, .status(410, _)): events.withLock { $0.append("switched off") }
                default: break
                }
            }, reply: { _ in .status(410, retryAfter: .seconds(7)) }
        ) {
            await store.wait { $0.attempts.count == 1 }
        }
        #expect(store.current.waiting.isEmpty && store.current.retries.isEmpty)
        #expect(events.withLock { $0 } == ["gave up 1", "switched off"])
    }

    @Test(arguments: [429, 503])
    func messageWaitsForRetryAfter(status: Int) async throws {
        let store = try MemoryWebhookStore([Self.webhooks[0]: 1])
        await Self.withDispatcher(store, reply: { _ in .status(status, retryAfter: .seconds(70)) }) {
            await store.wait { $0.retries.count == 1 }
        }
        #expect(Array(store.current.retries.values) == [.seconds(70)])
    }

    /// Attempts are recorded for the log, and an event is reported if a webhook is disabled.
    @Test func eachAttemptIsRecorded() async throws {
        let (failing, other) = (Self.webhooks[0], Self.webhooks[1])
        let store = try MemoryWebhookStore([failing: 1, other: 1])
        store.change { $0.failing = [failing, other] }
        let failingID = store.current.waiting[0].message.id
        let start = Date(timeIntervalSince1970: 1_772_368_200)
        let times = Mutex(0.0)
        let off = Mutex<[WebhookReference]>([])
        let dispatcher = WebhookDispatcher(
            store, Replies(reply: { $0.id == failingID ? .status(500) : .status(204) }),
            clock: StandingClock(),
            now: {
                start.addingTimeInterval(
                    times.withLock {
                        $0 += 1; return $0
                    })
            },
            onEvent: { event in
                if case .switchedOff(let webhook, .status(500, _)) = event {
                    off.withLock { $0.append(webhook) }
                }
            })
        async let run: Void = dispatcher.run()
        await store.wait { $0.attempts.count == 2 }
        dispatcher.shutDown()
        await run
        #expect(off.withLock { $0 } == [failing])
        let attempts = store.current.attempts.values.flatMap(\.self)
        #expect(Set(attempts.map(\.reply)) == [.status(500), .status(204)])
        #expect(attempts.allSatisfy { $0.at > start && $0.duration >= .seconds(1) })
    }

    @Test func messageWithoutWebhookIsNotSent() async throws {
        let store = try MemoryWebhookStore([Self.webhooks[0]: 1])
        store.change { $0.hasWebhook = false }
        await Self.withDispatcher(
            store,
            reply: { _ in
                Issue.record("sent")
                return .status(200)
            }
        ) {
            await store.wait { $0.claimCount == 1 }
        }
        #expect(store.current.waiting.count == 1)
    }

    /// The clock does not advance, so only room that a finished message leaves can be used again.
    @Test func unresponsiveReceiverDoesNotDelayOthers() async throws {
        let (silent, other) = (Self.webhooks[0], Self.webhooks[1])
        let store = try MemoryWebhookStore([silent: 20, other: 20])
        let silentIDs = Set(store.current.waiting.filter { $0.webhook == silent }.map(\.message.id))
        await Self.withDispatcher(
            store,
            reply: { message in
                guard silentIDs.contains(message.id) else { return .status(200) }
                await Self.never()
                return .noResponse("the connection failed")
            }
        ) {
            await store.wait { state in !state.waiting.contains { $0.webhook == other } }
            #expect(store.current.leased == [silent: 4])
        }
        // A request that the shutdown cancels says nothing about the receiver.
        let left = store.current
        #expect(left.waiting.count == 20 && left.retries.isEmpty && left.leased == [:])
        #expect(left.givenBack.count == 4 && left.waiting.allSatisfy { $0.message.attempt == 0 })
    }

    /// The limit does not depend on the number of the tenant's webhooks.
    @Test(.timeLimit(.minutes(30))) func concurrentMessagesPerTenantAreLimited() async throws {
        let tenant = TenantID(Self.id(1))
        let many = (1...16).map { WebhookReference(WebhookID(Self.id($0)), of: tenant) }
        let other = WebhookReference(WebhookID(Self.id(1)), of: TenantID(Self.id(2)))
        let store = try MemoryWebhookStore(
            Dictionary(uniqueKeysWithValues: (many + [other]).map { ($0, 5) }))
        let otherIDs = Set(store.current.waiting.filter { $0.webhook == other }.map(\.message.id))
        let gate = Gate()
        await Self.withDispatcher(
            store,
            reply: { message in
                if !otherIDs.contains(message.id) { await gate.pass() }
                return .status(200)
            }
        ) {
            await store.wait { state in
                state.leasedIDs.count == WebhookDispatcher.messagesPerTenant
                    && !state.waiting.contains { $0.webhook == other }
            }
            gate.open()
            await store.wait { $0.waiting.isEmpty }
        }
        #expect(store.current.mostLeasedOfTenant == WebhookDispatcher.messagesPerTenant)
        #expect(store.current.mostLeasedOfOne == WebhookDispatcher.messagesPerWebhook)
    }

    @Test(.timeLimit(.minutes(30))) func concurrentMessagesInTotalAreLimited() async throws {
        let store = try MemoryWebhookStore(Dictionary(uniqueKeysWithValues: Self.webhooks.map { ($0, 5) }))
        let gate = Gate()
        await Self.withDispatcher(
            store,
            reply: { _ in
                await gate.pass()
                return .status(200)
            }
        ) {
            await store.wait { $0.leased.values.reduce(0, +) == WebhookDispatcher.messages }
            gate.open()
            await store.wait { $0.waiting.isEmpty }
        }
        #expect(store.current.mostLeased == WebhookDispatcher.messages)
        #expect(store.current.mostLeasedOfOne == WebhookDispatcher.messagesPerWebhook)
    }

    /// The clock never reaches a poll. Without other searches, not all messages would be leased before the time limit.
    @Test(.timeLimit(.minutes(30))) func manyWebhooksAreServedWithoutPolling() async throws {
        let store = try MemoryWebhookStore(Dictionary(uniqueKeysWithValues: Self.webhooks.map { ($0, 1) }))
        await Self.withDispatcher(
            store,
            reply: { _ in
                await Self.never(); return .noResponse("cut off")
            }
        ) {
            await store.wait { $0.leased.count == Self.webhooks.count }
            #expect(store.current.leased == Dictionary(uniqueKeysWithValues: Self.webhooks.map { ($0, 1) }))
        }
        #expect(store.current.givenBack.count == Self.webhooks.count)
    }

    @Test(.timeLimit(.minutes(30)), arguments: [MemoryWebhookStore.Call.claim, .over])
    func storeFailureOfOneWebhookDoesNotAffectOthers(
        call: MemoryWebhookStore.Call
    ) async throws {
        let (broken, other) = (Self.webhooks[0], Self.webhooks[1])
        let store = try MemoryWebhookStore([broken: 20, other: 20])
        store.change { $0.broken = [broken: call] }
        let failed = Mutex<[WebhookReference?]>([])
        let clock = NotedClock()
        await Self.withDispatcher(
            store, clock: clock,
            onEvent: { event in
                if case .failed(let webhook, _) = event { failed.withLock { $0.append(webhook) } }
            }, reply: { _ in .status(200) }
        ) {
            await store.wait { state in !state.waiting.contains { $0.webhook == other } }
            await clock.wait(for: .seconds(5))
            // The webhook rests: no search finds it, and no claim asks for its messages.
            let claimCount = store.current.claims[broken]
            store.add(20, of: other)
            await clock.wait(for: .seconds(1))
            clock.end(.seconds(1))
            await store.wait { state in !state.waiting.contains { $0.webhook == other } }
            #expect(store.current.claims[broken] == claimCount)
            // It is tried again and rests again, longer than before if it occupies no room.
            clock.end(.seconds(5))
            let rest = Duration.seconds(call == .claim ? 10 : 5)
            await clock.wait(for: rest)
            store.change { $0.broken = [:] }
            clock.end(rest)
            await store.wait { state in state.waiting.allSatisfy { state.isLeased($0.message) } }
        }
        #expect(failed.withLock { Set($0) } == [broken])
    }

    @Test func outdatedMessagesAreReported() async throws {
        let store = try MemoryWebhookStore([Self.webhooks[0]: 2])
        store.change { $0.outdatedCount = 7 }
        let givenUp = Mutex<Int>(0)
        await Self.withDispatcher(
            store,
            onEvent: { event in
                if case .gaveUp(_, let count, nil) = event { givenUp.withLock { $0 += count } }
            }, reply: { _ in .status(200) }
        ) {
            await store.wait { $0.waiting.isEmpty }
        }
        #expect(givenUp.withLock { $0 } == 7)
    }

    /// Accepted messages are not sent again because of messages that must be retried.
    @Test func acceptedMessagesAreRemovedBeforeRetriesAreStored() async throws {
        let webhook = Self.webhooks[0]
        let store = try MemoryWebhookStore([webhook: 4])
        store.change { $0.broken = [webhook: .again] }
        let messages = store.current.waiting.map(\.message)
        let dispatcher = WebhookDispatcher(
            store, Replies(reply: { _ in .status(200) }), clock: StandingClock())
        func tried(_ status: Int, again: Duration? = nil) -> WebhookDispatcher.Ending {
            .tried(
                WebhookAttempt(at: Date(), duration: .zero, reply: .status(status)), again: again)
        }
        let endings: [WebhookDispatcher.Ending] = [
            tried(500, again: .seconds(5)), tried(200), .cutOff, tried(200),
        ]
        let url = try WebhookURL("https://example.com/hooks")
        let outcomes = zip(messages, endings).map {
            WebhookDispatcher.Outcome(message: $0, url: url, ending: $1, until: .distantFuture)
        }
        let unsettled = await dispatcher.settle(outcomes, of: webhook)
        // Each result is stored separately.
        #expect(unsettled?.outcomes.map(\.message) == [messages[0]])
        #expect(store.current.waiting.map(\.message.id) == [messages[0].id, messages[2].id])
        store.change { $0.broken = [:] }
        let left = await dispatcher.settle(unsettled?.outcomes ?? [], of: webhook)
        #expect(left == nil)
        #expect(Array(store.current.retries.keys) == [messages[0].id])
        #expect(store.current.givenBack == [messages[2].id])
    }

    /// After the lease, another server may have the message, so this server's result is ignored.
    @Test(.timeLimit(.minutes(30))) func outcomePastLeaseIsDropped() async throws {
        let (broken, other) = (Self.webhooks[0], Self.webhooks[1])
        let store = try MemoryWebhookStore([broken: 4])
        store.change { $0.broken = [broken: .over] }
        let clock = NotedClock()
        let start = Date()
        let isLater = Mutex(false)
        let abandoned = Watched(0)
        let dispatcher = WebhookDispatcher(
            store, Replies(reply: { _ in .status(200) }), clock: clock,
            now: { isLater.withLock { $0 } ? start.addingTimeInterval(60) : start },
            onEvent: { if case .abandoned(let count) = $0 { abandoned.change { $0 += count } } })
        async let run: Void = dispatcher.run()
        await clock.wait(for: .seconds(5))
        isLater.withLock { $0 = true }
        while abandoned.current < 4, !Task.isCancelled {
            await clock.wait(for: .seconds(1))
            clock.end(.seconds(1))
            await Task.yield()
        }
        store.add(1, of: other)
        await clock.wait(for: .seconds(1))
        clock.end(.seconds(1))
        await store.wait { state in !state.waiting.contains { $0.webhook == other } }
        dispatcher.shutDown()
        await run
        #expect(abandoned.current == 4)
    }

    @Test(.timeLimit(.minutes(30))) func outcomeUnwrittenAtShutdownIsReported() async throws {
        let webhook = Self.webhooks[0]
        let store = try MemoryWebhookStore([webhook: 4])
        store.change { $0.broken = [webhook: .over] }
        let abandoned = Mutex(0)
        let clock = NotedClock()
        await Self.withDispatcher(
            store, clock: clock,
            onEvent: { if case .abandoned(let count) = $0 { abandoned.withLock { $0 += count } } },
            reply: { _ in .status(200) }
        ) {
            await clock.wait(for: .seconds(5))
        }
        #expect(abandoned.withLock { $0 } == 4)
    }

    /// Waits until the task is cancelled.
    private static func never() async { try? await StandingClock().sleep(for: .seconds(86_400)) }
}

extension WebhookMessage {
    fileprivate func with(attempt: Int) -> WebhookMessage {
        WebhookMessage(id: id, body: body, attempt: attempt)
    }
}

private struct Replies: WebhookSender {
    let reply: @Sendable (WebhookMessage) async -> WebhookReply

    func send(
        _ message: WebhookMessage, to webhook: Webhook, at now: Date
    ) async -> (reply: WebhookReply, response: [UInt8]) {
        (await reply(message), Array("response".utf8))
    }
}
