import Foundation
import Logging

/// Variables of the environment that look like settings and are unknown.
struct UnknownSettings {
    struct Variable: Equatable {
        let name: String
        /// The setting with the most similar name; nil if none is similar.
        let nearest: String?
    }

    let variables: [Variable]

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let known = Settings.all.flatMap(\.variables)
        variables = environment.keys.filter { $0.hasPrefix("DOORSTEP_") && !known.contains($0) }.sorted().map
        { name in
            Variable(name: name, nearest: name.mostSimilar(of: known, within: Self.similarity))
        }
    }

    /// The maximum number of insertions, deletions and replacements of characters between similar names. [ours]
    private static let similarity = 4

    /// Warns of each variable. Values are not logged, because they may be secrets.
    func warn(_ logger: Logger) {
        for variable in variables {
            var metadata: Logger.Metadata = ["variable": "\(variable.name)"]
            metadata["nearest"] = variable.nearest.map { "\($0)" }
            logger.warning("the environment has a variable that is not a setting", metadata: metadata)
        }
    }
}
