extension JSONValue {
    /// Returns the value after a merge patch (RFC 7396 §2). In objects, the patch's members replace those
    /// of the same name, null removes one, and objects are merged likewise; anything else is replaced as a
    /// whole.
    ///
    /// Takes linear time.
    public func merging(_ patch: JSONValue) -> JSONValue {
        guard case .object(let changes) = patch else { return patch }
        let members = objectValue ?? [:]
        var merged = JSONObject(minimumCapacity: members.count + changes.count)
        var rest = members[...]
        // Both are in the order of their keys, and so is the result.
        for (key, change) in changes {
            while let member = rest.first, member.key.precedesInBytes(key) {
                merged[member.key] = member.value
                rest.removeFirst()
            }
            var value: JSONValue?
            if let member = rest.first, member.key.hasSameBytes(as: key) {
                value = member.value
                rest.removeFirst()
            }
            if change != .null { merged[key] = (value ?? .null).merging(change) }
        }
        for (key, value) in rest { merged[key] = value }
        return .object(merged)
    }
}
