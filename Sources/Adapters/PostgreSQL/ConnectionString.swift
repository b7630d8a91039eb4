import CLibPQ

/// A parsed connection string: the keywords libpq is given, once for each host.
struct ConnectionString: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
    private(set) var keywords: [String: String]

    /// Parses a `key=value` string or a URI with libpq's own parser.
    ///
    /// Its message is dropped: it may quote the part that holds the password.
    init(_ text: String) throws(PostgreSQLError) {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &message) else {
            PQfreemem(message)
            throw .connectionString
        }
        defer { PQconninfoFree(options) }
        keywords = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                keywords[String(cString: keyword)] = String(cString: value)
            }
            option += 1
        }
        guard isPlausible else { throw .connectionString }
    }

    /// Whether no part of a mistyped password is in the position of a host, a port or a database.
    ///
    /// In a URI, an `@` or `/` of a password must be written as `%40` or `%2F`. Otherwise libpq takes the rest for another
    /// part, and quotes it in its messages. So no other part may contain an `@`, except the directory of a Unix socket.
    private var isPlausible: Bool {
        func list(_ key: String) -> [Substring] { keywords[key]?.split(separator: ",") ?? [] }
        let names = list("host").filter { !$0.hasPrefix("/") } + list("hostaddr") + list("dbname")
        return !names.contains { $0.utf8.contains(UInt8(ascii: "@")) }
            && list("port").allSatisfy { port in (UInt16(port) ?? 0) > 0 }
    }

    var holdsPassword: Bool { keywords["password"] != nil || keywords["sslpassword"] != nil }

    /// The password is among the keywords.
    var description: String { "ConnectionString" }

    var customMirror: Mirror { Mirror(self, children: []) }

    /// The parameters of each attempt, in order.
    ///
    /// libpq itself can try several hosts, but in non-blocking mode it never gives up an unresponsive one. So each host is a
    /// separate attempt with its share of the time. `prefer-standby` takes two rounds, as in libpq.
    func attempts(applicationName: String) -> [[String: String]] {
        var common = keywords
        common["fallback_application_name"] = applicationName
        common["client_encoding"] = "UTF8"

        let lists = ["host", "hostaddr", "port"].map { key in
            keywords[key].map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
        }
        let count = max(lists[0]?.count ?? 1, lists[1]?.count ?? 1)
        var hosts = [common]
        if count > 1, lists.allSatisfy({ $0 == nil || $0?.count == count || $0?.count == 1 }) {
            hosts = (0..<count).map { index in
                var host = common
                for (key, list) in zip(["host", "hostaddr", "port"], lists) {
                    host[key] = list.map { $0.count == 1 ? $0[0] : $0[index] }
                }
                return host
            }
            if keywords["load_balance_hosts"] == "random" { hosts.shuffle() }
        }
        guard keywords["target_session_attrs"] == "prefer-standby" else { return hosts }
        return ["standby", "any"].flatMap { wanted in
            hosts.map { $0.merging(["target_session_attrs": wanted]) { _, new in new } }
        }
    }
}
