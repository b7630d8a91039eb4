/// Finds elements by their paths, such as `/v1/locations/{id}`. A literal component wins over a parameter, and empty components
/// do not count.
package struct PathTree<Element: Sendable>: Sendable {
    /// The elements at a path.
    package struct Match {
        package let elements: [Element]
        /// The components of the path that was asked for, as they came.
        package let components: [Substring]

        /// The components in the place of a path's parameters.
        package func parameters(in path: String) -> [Substring: Substring] {
            var parameters: [Substring: Substring] = [:]
            for (name, component) in zip(path.split(separator: "/"), components) where name.isParameter {
                parameters[name.dropFirst().dropLast()] = component
            }
            return parameters
        }
    }

    private var literals: [Substring: PathTree] = [:]
    /// One or none.
    private var parameter: [PathTree] = []
    private var elements: [Element] = []

    private init() {}

    package init(_ elements: [Element], path: (Element) -> String) {
        for element in elements { add(element, path(element).split(separator: "/")[...]) }
    }

    private mutating func add(_ element: Element, _ components: ArraySlice<Substring>) {
        guard let first = components.first else { return elements.append(element) }
        if first.isParameter {
            if parameter.isEmpty { parameter = [PathTree()] }
            parameter[0].add(element, components.dropFirst())
        } else {
            literals[first, default: PathTree()].add(element, components.dropFirst())
        }
    }

    /// - Returns: Nil if there is nothing at the path.
    package func match(_ path: Substring) -> Match? {
        let components = path.split(separator: "/")
        let found = elements(at: components[...])
        return found.isEmpty ? nil : Match(elements: found, components: components)
    }

    private func elements(at components: ArraySlice<Substring>) -> [Element] {
        guard let first = components.first else { return elements }
        let rest = components.dropFirst()
        let found = literals[first]?.elements(at: rest) ?? []
        return found.isEmpty ? parameter.first?.elements(at: rest) ?? [] : found
    }
}

extension Substring {
    fileprivate var isParameter: Bool { hasPrefix("{") }
}
