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
            let nearest = known.map { (name: $0, distance: Self.distance($0, name)) }
                .min { ($0.distance, $0.name) < ($1.distance, $1.name) }
            return Variable(
                name: name, nearest: nearest.flatMap { $0.distance <= Self.similarity ? $0.name : nil })
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

    /// The Levenshtein distance.
    private static func distance(_ first: String, _ second: String) -> Int {
        let second = Array(second.utf8)
        var row = Array(0...second.count)
        for (number, character) in first.utf8.enumerated() {
            var diagonal = row[0]
            row[0] = number + 1
            for column in second.indices {
                let replaced = diagonal + (second[column] == character ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[second.count]
    }
}
