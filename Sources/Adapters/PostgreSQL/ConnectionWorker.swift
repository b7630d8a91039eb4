import CLibPQ
import Foundation
import Synchronization

/// The thread that owns one connection, and the queue of jobs for it.
///
/// The `PGconn` is made, used and closed only on this thread. Callers put jobs into the inbox and wake the thread; a job
/// responds by resuming a continuation.
final class ConnectionWorker: Sendable {
    /// The number of the lease; jobs of an earlier lease are refused.
    typealias LeaseID = Int

    /// The thread's messages to its owner.
    struct Events: Sendable {
        /// The connection is up, or could not be made; in the latter case `ended` follows.
        var connected: @Sendable (Result<Void, PostgreSQLError>) -> Void
        /// The connection takes no more jobs.
        var unusable: @Sendable () -> Void
        /// Nothing was done for the idle timeout.
        var idle: @Sendable () -> Void
        /// The connection is closed and the thread is at its end.
        var ended: @Sendable () -> Void
    }

    private struct Job: Sendable {
        let run: @Sendable (Session) -> Void
        let refuse: @Sendable (PostgreSQLError) -> Void
    }

    private struct Inbox {
        var jobs: [Job] = []
        var lease: LeaseID = 0
        var isShutDown = false
        /// The reason why further jobs are refused.
        var refusal: PostgreSQLError?
    }

    let configuration: PoolConfiguration
    private let preparation: Preparation
    private let inbox = Mutex(Inbox())
    private let wakeup: Wakeup

    init(configuration: PoolConfiguration, preparation: Preparation) throws(PostgreSQLError) {
        self.configuration = configuration
        self.preparation = preparation
        wakeup = try Wakeup()
    }

    /// Starts the thread, which connects.
    func start(_ string: ConnectionString, _ events: Events) {
        let thread = Thread { [self] in
            run(string, events)
            events.ended()
        }
        thread.name = "postgresql"
        thread.start()
    }

    /// Closes the connection, a job under way included.
    func shutDown() {
        inbox.withLock { $0.isShutDown = true }
        wakeup.signal()
    }

    /// Begins a lease; every job carries its number.
    func beginLease() -> LeaseID {
        inbox.withLock {
            $0.lease += 1
            return $0.lease
        }
    }

    /// Runs a job on the thread and returns its result.
    ///
    /// `endsLease`: No later job of the lease is accepted. `isCancellable`: If the task is cancelled, the job ends, and the
    /// connection with it; before its beginning, cancelling costs nothing. `deadline`: Replaces the statement's own time limit.
    func perform<R: Sendable>(
        lease: LeaseID, deadline: Deadline? = nil, timeout: Duration? = nil, endsLease: Bool = false,
        isCancellable: Bool = true,
        _ work: @escaping @Sendable (Session, Limits) throws(PostgreSQLError) -> R
    ) async throws(PostgreSQLError) -> R {
        let cancellation = Cancellation()
        let timeout = timeout ?? configuration.statementTimeout
        let result: Result<R, PostgreSQLError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let job = Job { session in
                    if isCancellable, cancellation.isRequested {
                        return continuation.resume(returning: .failure(.cancelled))
                    }
                    let limits = Limits(
                        deadline: deadline ?? .after(timeout),
                        cancellation: isCancellable ? cancellation : nil)
                    continuation.resume(
                        returning: Result { () throws(PostgreSQLError) -> R in try work(session, limits) })
                } refuse: { error in
                    continuation.resume(returning: .failure(error))
                }
                submit(job, lease: lease, endsLease: endsLease)
            }
        } onCancel: {
            cancellation.request()
            wakeup.signal()
        }
        return try result.get()
    }

    private func submit(_ job: Job, lease: LeaseID, endsLease: Bool) {
        let refusal: PostgreSQLError? = inbox.withLock { inbox in
            guard inbox.lease == lease else { return .leaseEnded }
            if endsLease { inbox.lease += 1 }
            if let refusal = inbox.refusal { return refusal }
            inbox.jobs.append(job)
            return nil
        }
        if let refusal { job.refuse(refusal) } else { wakeup.signal() }
    }

    // MARK: - On the thread

    private func run(_ string: ConnectionString, _ events: Events) {
        let session: Session
        do throws(PostgreSQLError) {
            session = try Connector(
                string: string, configuration: configuration, wakeup: wakeup, preparation: preparation
            ).connect { [self] in isShutDown }
        } catch {
            refuseJobs(error)
            events.connected(.failure(error))
            return
        }
        events.connected(.success(()))
        serve(session, events)
        refuseJobs(isShutDown ? .poolClosed : .connectionLost)
        events.unusable()
        if session.isAbandoned { session.requestCancel() }
    }

    private var isShutDown: Bool { inbox.withLock(\.isShutDown) }

    private func serve(_ session: Session, _ events: Events) {
        var idleDeadline = Deadline.after(configuration.idleTimeout)
        while !session.isBroken, !isShutDown {
            if let job = nextJob() {
                job.run(session)
                idleDeadline = .after(configuration.idleTimeout)
            } else if !session.sleepWhileIdle(until: idleDeadline) {
                events.idle()
                idleDeadline = .after(configuration.idleTimeout)
            }
        }
    }

    private func nextJob() -> Job? {
        inbox.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
    }

    private func refuseJobs(_ error: PostgreSQLError) {
        let left = inbox.withLock { inbox in
            inbox.refusal = error
            defer { inbox.jobs = [] }
            return inbox.jobs
        }
        for job in left { job.refuse(error) }
    }
}
