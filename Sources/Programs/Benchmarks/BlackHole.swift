/// Takes a result that nobody needs, so that computing it cannot be optimised away.
///
/// The attribute keeps the compiler from seeing that nothing happens here.
@_optimize(none)
@inline(never)
func blackHole<Value>(_ value: borrowing Value) {}
