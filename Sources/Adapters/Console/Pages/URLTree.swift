import Administration
import Invocation
import Tenancy

/// Registered URLs by host and by the components of their paths.
struct URLTree {
    /// Of the path's components; empty for the root, whose children are hosts.
    let name: String
    /// Host and components from the top, as ``path(_:)`` joins them.
    let path: String
    private(set) var children: [URLTree] = []
    /// Those that end here, in the order in which they are chosen.
    private(set) var experiences: [ExperienceRecord] = []
    /// How many there are here and below.
    private(set) var count = 0

    /// - Parameter records: in any order.
    init(_ records: [ExperienceRecord]) {
        self.init(name: "", path: "", records, depth: 0)
    }

    private init(name: String, path: String, _ records: [ExperienceRecord], depth: Int) {
        self.name = name
        self.path = path
        count = records.count
        var below: [String: [ExperienceRecord]] = [:]
        for record in records {
            if let step = record.experience.url.step(depth) {
                below[step, default: []].append(record)
            } else {
                experiences.append(record)
            }
        }
        experiences.sort { $0.experience.precedes($1.experience) }
        // No deeper than URLs have components.
        children = below.sorted { $0.key < $1.key }.map { name, records in
            URLTree(
                name: name, path: path.isEmpty ? name : "\(path)/\(name)", records, depth: depth + 1)
        }
    }

    /// The part of the tree at a path; nil where there is none.
    func part(at path: String) -> URLTree? {
        if path == self.path { return self }
        return children.first { path == $0.path || path.hasPrefix("\($0.path)/") }?.part(at: path)
    }
}

extension URLPrefix {
    /// The host, then the components of the path; nil behind the last.
    fileprivate func step(_ depth: Int) -> String? {
        guard depth > 0 else { return host }
        // A trailing slash is no component of its own to look at.
        let components = pathComponents.filter { !$0.isEmpty }
        return depth <= components.count ? components[depth - 1] : nil
    }
}
