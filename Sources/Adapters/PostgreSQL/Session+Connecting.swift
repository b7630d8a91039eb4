import CLibPQ
import Foundation

extension Session {
    /// Starts to connect with the given keywords and waits until the server is ready for statements.
    convenience init(
        keywords: [String: String], configuration: PoolConfiguration, wakeup: Wakeup,
        preparation: Preparation?, deadline: Deadline, isShutDown: @escaping () -> Bool
    ) throws(PostgreSQLError) {
        let pairs = keywords.sorted { $0.key < $1.key }
        let connection = withCStrings(pairs.map(\.key)) { keys in
            withCStrings(pairs.map(\.value)) { values in
                PQconnectStartParams(keys, values, 0)
            }
        }
        guard let connection else { throw .connectFailed(reason: "out of memory") }
        self.init(
            connection: connection, configuration: configuration, wakeup: wakeup, preparation: preparation,
            isShutDown: isShutDown)
        try finishConnecting(by: deadline)
        try requireUTF8()
        if let preparation = self.preparation, !preparation.isGivenUp, try isBehindPooler(by: deadline) {
            preparation.giveUp()
        }
    }

    /// Completes the handshake that `PQconnectStartParams` began.
    func finishConnecting(by deadline: Deadline) throws(PostgreSQLError) {
        var next = PGRES_POLLING_WRITING
        while next != PGRES_POLLING_OK {
            guard PQstatus(connection) != CONNECTION_BAD, next != PGRES_POLLING_FAILED else {
                throw .connectFailed(reason: errorText)
            }
            do throws(PostgreSQLError) {
                let events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT
                _ = try wait(for: Int16(events), Limits(deadline: deadline, cancellation: nil))
            } catch .timeout {
                throw .timeout(.connecting)
            }
            next = PQconnectPoll(connection)
        }
        guard PQsetnonblocking(connection, 1) == 0 else { throw .connectFailed(reason: errorText) }
    }

    /// Texts are UTF-8 here. A database in another encoding lacks characters (SQLSTATE 22P05), and one in SQL_ASCII counts
    /// bytes as characters.
    ///
    /// Each server reports its encoding when a connection begins; a pooler that withholds it is trusted.
    /// Source: PostgreSQL, "Asynchronous Operations", ParameterStatus; "Character Set Support".
    private func requireUTF8() throws(PostgreSQLError) {
        guard let reported = PQparameterStatus(connection, "server_encoding") else { return }
        let encoding = String(cString: reported)
        guard encoding == "UTF8" else { throw .databaseEncoding(encoding) }
    }

    /// Whether the connection leads to a pooler, as far as this is visible before an error. A pooler chooses its own numbers for
    /// cancellation keys, and a server uses its process ID.
    ///
    /// Source: PostgreSQL, "Frontend/Backend Protocol", BackendKeyData; PgBouncer 1.18 has random ones [observed].
    private func isBehindPooler(by deadline: Deadline) throws(PostgreSQLError) -> Bool {
        do throws(PostgreSQLError) {
            let itself = try runScript(
                "SELECT WHERE pg_backend_pid() = \(PQbackendPID(connection))",
                Limits(deadline: deadline, cancellation: nil))
            return itself?.isEmpty ?? true
        } catch .timeout {
            throw .timeout(.connecting)
        } catch .connectionLost {
            throw .connectFailed(reason: errorText)
        } catch .server(let error) {
            // A pooler accepts connections before it has one to the server, and reports a failure only now.
            throw .connectFailed(reason: error.message)
        }
    }

    /// libpq's message on one line.
    private var errorText: String {
        String(cString: PQerrorMessage(connection)).split(whereSeparator: \.isNewline)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "; ")
    }
}

/// Calls the closure with an array of C strings that ends with a null pointer.
private func withCStrings<R>(_ strings: [String], _ body: ([UnsafePointer<CChar>?]) -> R) -> R {
    let buffers = strings.map { string in
        let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: string.utf8.count + 1)
        _ = buffer.initialize(from: string.utf8CString)
        return buffer
    }
    defer { for buffer in buffers { buffer.deallocate() } }
    return body(buffers.map { UnsafePointer($0.baseAddress) } + [nil])
}
