import Formats
import Synchronization
public import Tracing

/// A span of an ``OTLPTracer``. Events and links are not exported.
///
/// Safe to use from many threads.
public final class OTLPSpan: Tracing.Span {
    public let context: ServiceContext
    private let tracer: OTLPTracer
    /// Nil if the span is not recorded, and after its end.
    private let record: Mutex<SpanRecord?>

    init(_ context: ServiceContext, _ record: SpanRecord?, of tracer: OTLPTracer) {
        self.context = context
        self.record = Mutex(record)
        self.tracer = tracer
    }

    public var isRecording: Bool { record.withLock { $0 != nil } }

    public var operationName: String {
        get { record.withLock { $0?.name ?? "" } }
        set { record.withLock { $0?.name = newValue } }
    }

    public var attributes: SpanAttributes {
        get { record.withLock { $0?.attributes ?? [:] } }
        set { record.withLock { $0?.attributes = newValue } }
    }

    public func setStatus(_ status: SpanStatus) {
        record.withLock { $0?.status = status.code }
    }

    public func addEvent(_ event: SpanEvent) {}

    public func addLink(_ link: SpanLink) {}

    /// Records only the error's type, because descriptions can contain values.
    public func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        record.withLock { $0?.attributes["error.type"] = "\(type(of: error))" }
    }

    public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        let ended = record.withLock { record in
            defer { record = nil }
            return record
        }
        guard var ended else { return }
        ended.end = instant().nanosecondsSinceEpoch
        tracer.finish(ended)
    }
}

/// The exported part of a span.
struct SpanRecord: Sendable {
    /// The trace, with the span's own ID.
    let trace: TraceContext
    let parent: String?
    var name: String
    let kind: SpanKind
    /// In nanoseconds since 1970.
    let start: UInt64
    var end: UInt64 = 0
    var attributes = SpanAttributes()
    var status: SpanStatus.Code?

    init(trace: TraceContext, parent: String?, name: String, kind: SpanKind, start: UInt64) {
        self.trace = trace
        self.parent = parent
        self.name = name
        self.kind = kind
        self.start = start
    }
}
