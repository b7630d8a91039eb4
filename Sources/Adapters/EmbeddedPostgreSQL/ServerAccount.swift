import Foundation

/// The account that runs the server: the caller's own account, or an unprivileged account if the caller is root.
struct ServerAccount {
    private struct Unprivileged {
        let name: String
        let user: uid_t
        let group: gid_t
        let setpriv: String
        /// Root may use a directory below one that other accounts cannot enter. Then the server gets this one
        /// capability of root.
        var passesDirectories = false
    }

    private var unprivileged: Unprivileged?

    /// The account that PostgreSQL's packages create.
    static let usual = "postgres"

    /// Finds the account, makes it the directory's owner, and makes sure that it can enter the directory.
    /// - Parameter usual: The account that is used instead of root. Not a shared one such as `nobody`, because every program of
    ///   that account could read and write the database.
    init(directory: String, usual: String = usual) throws(EmbeddedServerError) {
        guard geteuid() == 0 else { return }
        let setpriv = ["/usr/bin/setpriv", "/bin/setpriv", "/usr/local/bin/setpriv"]
            .first(where: FileManager.default.isExecutableFile(atPath:))
        guard let setpriv else { throw .cannotDropPrivileges }
        let entry = try Self.lookUp(usual)
        unprivileged = Unprivileged(name: usual, user: entry.user, group: entry.group, setpriv: setpriv)
        guard chown(directory, entry.user, entry.group) == 0 else {
            throw .directory(directory, reason: String(cString: strerror(errno)))
        }
        if !canEnter(directory) {
            unprivileged?.passesDirectories = true
            guard canEnter(directory) else { throw .unreachable(directory: directory, account: usual) }
        }
    }

    static func lookUp(_ name: String) throws(EmbeddedServerError) -> (user: uid_t, group: gid_t) {
        guard let entry = getpwnam(name), entry.pointee.pw_uid != 0 else { throw .noAccount(name) }
        return (entry.pointee.pw_uid, entry.pointee.pw_gid)
    }

    private func canEnter(_ directory: String) -> Bool {
        let command = command("/bin/sh", ["-c", #"cd -- "$1" && test -w ."#, "sh", directory])
        return (try? command.run().status) == 0
    }

    /// Gives the account a directory outside the server's directory.
    func own(_ path: String) {
        if let unprivileged { _ = chown(path, unprivileged.user, unprivileged.group) }
    }

    var user: uid_t { unprivileged?.user ?? geteuid() }

    /// Makes a command that runs as the account.
    func command(_ path: String, _ arguments: [String]) -> Command {
        guard let unprivileged else { return Command(path: path, arguments: arguments) }
        var options = [
            "--reuid=\(unprivileged.user)", "--regid=\(unprivileged.group)", "--clear-groups",
        ]
        if unprivileged.passesDirectories {
            options += ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
        }
        var command = Command(path: unprivileged.setpriv, arguments: options + ["--", path] + arguments)
        command.alias = path
        return command
    }
}
