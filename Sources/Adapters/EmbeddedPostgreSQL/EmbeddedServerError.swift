/// The reason why an embedded server could not be started, joined or left.
public enum EmbeddedServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// No PostgreSQL server of a usable release is installed.
    case notInstalled(minimumVersion: Int)
    /// The directory's data needs a PostgreSQL release that is not installed.
    case versionNotInstalled(Int)
    /// The directory contains other files.
    case foreignDirectory(String)
    /// The directory cannot be made, opened or locked.
    case directory(String, reason: String)
    /// PostgreSQL does not run as root, and the unprivileged account cannot reach the directory.
    case unreachable(directory: String, account: String)
    /// PostgreSQL does not run as root, and `setpriv` is missing.
    case cannotDropPrivileges
    /// PostgreSQL does not run as root, and the account for it is missing.
    case noAccount(String)
    /// A program of PostgreSQL failed. The output comes from the program.
    case failed(program: String, output: String)

    /// A name that is stable across versions.
    public var code: String {
        switch self {
        case .notInstalled: "not_installed"
        case .versionNotInstalled: "version_not_installed"
        case .foreignDirectory: "foreign_directory"
        case .directory: "directory"
        case .unreachable: "unreachable"
        case .cannotDropPrivileges: "cannot_drop_privileges"
        case .noAccount: "no_account"
        case .failed: "failed"
        }
    }

    public var description: String {
        switch self {
        case .notInstalled(let version):
            "No PostgreSQL server was found: install PostgreSQL \(version) or later"
        case .versionNotInstalled(let version):
            "The data was made by PostgreSQL \(version), which is not installed"
        case .foreignDirectory(let directory):
            "\(directory) contains files that are not of an embedded PostgreSQL: name an empty directory"
        case .directory(let directory, let reason): "\(directory) cannot be used: \(reason)"
        case .unreachable(let directory, let account):
            "PostgreSQL must run as \(account), which cannot enter \(directory): use another directory"
        case .cannotDropPrivileges:
            "PostgreSQL does not run as root: install util-linux (setpriv), or start as another user"
        case .noAccount(let name):
            """
            PostgreSQL does not run as root, and the account '\(name)' does not exist: create it \
            ('useradd --system \(name)'), or start as another user
            """
        case .failed(let program, let output): "\(program) failed: \(output)"
        }
    }
}
