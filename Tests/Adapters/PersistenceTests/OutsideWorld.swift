import Administration
import Synchronization

/// What the DNS and the web say, as a test tells it.
final class OutsideWorld: TextRecordResolver, PageFetcher {
    private struct State {
        var records: [String: Result<[String], NoResponse>] = [:]
        var pages: [String: Result<Page, NoResponse>] = [:]
    }

    private let state = Mutex(State())

    /// Publishes the record that proves a domain, or others in its place.
    func publish(_ record: DomainRecord, _ values: [String]? = nil) {
        state.withLock { $0.records[record.recordName] = .success(values ?? [record.recordValue]) }
    }

    func serve(_ record: DomainRecord, _ page: Page) {
        state.withLock { $0.pages[record.fileURL] = .success(page) }
    }

    func clear() { state.withLock { $0 = State() } }

    /// Nobody answers for a domain any more.
    func fallSilent(_ record: DomainRecord) {
        state.withLock {
            $0.records[record.recordName] = .failure(NoResponse("silence"))
            $0.pages[record.fileURL] = .failure(NoResponse("silence"))
        }
    }

    func textRecords(of name: String) async throws(NoResponse) -> [String] {
        try state.withLock { $0.records[name] ?? .success([]) }.get()
    }

    func fetch(_ url: String, limit: Int) async throws(NoResponse) -> Page {
        try state.withLock { $0.pages[url] ?? .success(Page(status: 404)) }.get()
    }
}
