/// Takes the rows of an import, in the order of the file.
public protocol RowSink<Row>: Sendable {
    associatedtype Row: Sendable
    func append(_ row: Row, line: Int) async throws
}
