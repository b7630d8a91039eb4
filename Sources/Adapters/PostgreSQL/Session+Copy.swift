import CLibPQ
import Foundation

extension Session {
    /// Starts a COPY from the client.
    func beginCopyIn(_ query: Query, _ limits: Limits) throws(PostgreSQLError) {
        try beginCopy(query, PGRES_COPY_IN, limits)
    }

    /// Starts a COPY to the client.
    func beginCopyOut(_ query: Query, _ limits: Limits) throws(PostgreSQLError) {
        try beginCopy(query, PGRES_COPY_OUT, limits)
        isCopyingOut = true
    }

    private func beginCopy(
        _ query: Query, _ expected: ExecStatusType, _ limits: Limits
    ) throws(PostgreSQLError) {
        let parameters = try BoundParameters(query.parameters)
        try checkText(query.sql)
        isClean = false
        try send { parameters.sendQuery(connection, query.sql) }
        try flush(limits)
        let result = try nextResult(limits)
        let status = PQresultStatus(result)
        if status == expected {
            PQclear(result)
            return
        }
        let failure = status == PGRES_FATAL_ERROR ? ServerError(result) : nil
        PQclear(result)
        guard let failure else { throw abandon(.unexpectedCopy) }
        _ = try collect(limits)
        try check(failure)
    }

    func copy(_ bytes: [UInt8], _ limits: Limits) throws(PostgreSQLError) {
        // Behind an error of the server these bytes go nowhere; `endCopyIn` then reports it.
        while true {
            let taken = bytes.withUnsafeBytes { buffer in
                PQputCopyData(
                    connection, buffer.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(buffer.count))
            }
            switch taken {
            case 1: return try flush(limits)
            case 0: try flush(limits)
            default: throw refused(.unexpectedCopy)
            }
        }
    }

    /// Ends a COPY from the client: in success, or with a reason that the server puts in its error.
    func endCopyIn(failure reason: String?, _ limits: Limits) throws(PostgreSQLError) -> Int {
        while true {
            switch PQputCopyEnd(connection, reason) {
            case 1: return try collect(limits).last?.affectedRows ?? 0
            case 0: try flush(limits)
            default: throw refused(.unexpectedCopy)
            }
        }
    }

    /// The next bytes of a COPY to the client, about `limit` of them; `nil` at the end.
    func copyOut(upTo limit: Int, _ limits: Limits) throws(PostgreSQLError) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            var row: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(connection, &row, 1)
            switch count {
            case 1...:
                bytes.append(contentsOf: UnsafeRawBufferPointer(start: row, count: Int(count)))
                PQfreemem(row)
            case 0:
                _ = try wait(for: Int16(POLLIN), limits)
                receive()
                if isBroken { throw .connectionLost }
            default:
                guard bytes.isEmpty else { return bytes }
                isCopyingOut = false
                _ = try collect(limits)
                return nil
            }
        }
        return bytes
    }
}
