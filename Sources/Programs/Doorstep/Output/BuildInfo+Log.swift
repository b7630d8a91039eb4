import Logging
import Platform

extension BuildInfo {
    /// The metadata of the first line of a log.
    var metadata: Logger.Metadata {
        ["version": "\(version)", "commit": "\(commit)", "commit_date": "\(date)", "swift": "\(swift)"]
    }
}
