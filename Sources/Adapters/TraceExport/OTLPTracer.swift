import Formats
import Synchronization
public import Tracing

/// Records spans in a bounded queue, from which ``TraceExporter`` sends them.
///
/// The span of a request decides at random whether its trace is recorded. The other spans of the trace follow this decision, also
/// on other servers, which read it from the stored trace. A caller can exclude its trace (`traceparent` without the sampled flag).
/// It cannot raise the recorded share, because the decision does not depend on the trace ID. If the queue is full, further spans are
/// dropped and counted: no request waits.
public final class OTLPTracer: Tracer {
    public typealias Span = OTLPSpan

    /// The reason why spans were not exported.
    public enum DropReason: String, Sendable, CaseIterable {
        case queueFull = "queue_full"
        case exportFailed = "export_failed"
    }

    /// The recorded share of traces, 0 to 1.
    private let ratio: Double
    private let limit: Int
    private let onDrop: @Sendable (Int, DropReason) -> Void
    private let finished = Mutex<[SpanRecord]>([])

    /// The maximum number of waiting spans. A span takes about 1 KB. [ours]
    public static let standardLimit = 8_192

    /// - Parameters:
    ///   - ratio: The recorded share of traces, 0 to 1.
    ///   - limit: The maximum number of waiting spans.
    ///   - onDrop: Called with the number of dropped spans.
    public init(
        sampling ratio: Double, limit: Int = standardLimit,
        onDrop: @escaping @Sendable (Int, DropReason) -> Void = { _, _ in }
    ) {
        self.ratio = min(max(ratio, 0), 1)
        self.limit = limit
        self.onDrop = onDrop
    }

    // MARK: Tracer

    /// Starts a span. Its parent is the span of the context, else that of `TraceContext.current`.
    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> OTLPSpan {
        var context = context()
        let parent = context.trace ?? TraceContext.current
        // The parent of a request's span is the caller's, which does not decide.
        let isDecided = parent != nil && kind != .server && ratio > 0
        let own = TraceContext(
            id: parent?.id ?? Self.digits() + Self.digits(), span: Self.digits(),
            isSampled: parent?.isSampled != false && (isDecided || isChosen()))
        context.trace = own
        guard own.isSampled else { return OTLPSpan(context, nil, of: self) }
        return OTLPSpan(
            context,
            SpanRecord(
                trace: own, parent: parent?.span, name: operationName, kind: kind,
                start: instant().nanosecondsSinceEpoch), of: self)
    }

    public func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        context.trace = extractor.extract(key: "traceparent", from: carrier).flatMap {
            TraceContext(traceparent: $0)
        }
    }

    public func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let field = context.trace?.traceparent else { return }
        injector.inject(field, forKey: "traceparent", into: &carrier)
    }

    /// Does nothing: ``TraceExporter`` sends the waiting spans every second and when the server ends.
    public func forceFlush() {}

    private func isChosen() -> Bool { .random(in: 0..<1) < ratio }

    /// 16 hexadecimal digits, not all 0.
    private static func digits() -> String {
        let digits = String(UInt64.random(in: 1 ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    // MARK: The queue

    /// Adds a span, or drops it if the queue is full.
    func finish(_ span: SpanRecord) {
        let isAdded = finished.withLock { spans in
            guard spans.count < limit else { return false }
            spans.append(span)
            return true
        }
        if !isAdded { onDrop(1, .queueFull) }
    }

    /// Removes the oldest spans.
    func take(upTo count: Int) -> [SpanRecord] {
        finished.withLock { spans in
            defer { spans.removeFirst(min(count, spans.count)) }
            return Array(spans.prefix(count))
        }
    }

    /// Returns spans to the queue, before those that ended later, as far as there is room.
    func putBack(_ spans: [SpanRecord]) {
        let dropped = finished.withLock { finished in
            let kept = spans.prefix(max(0, limit - finished.count))
            finished.insert(contentsOf: kept, at: 0)
            return spans.count - kept.count
        }
        if dropped > 0 { onDrop(dropped, .queueFull) }
    }

    func drop(_ spans: [SpanRecord]) {
        if !spans.isEmpty { onDrop(spans.count, .exportFailed) }
    }
}

extension ServiceContext {
    private enum TraceKey: ServiceContextKey {
        typealias Value = TraceContext
        static var nameOverride: String? { "trace" }
    }

    /// The trace with the span that is the parent of the next span.
    var trace: TraceContext? {
        get { self[TraceKey.self] }
        set { self[TraceKey.self] = newValue }
    }
}
