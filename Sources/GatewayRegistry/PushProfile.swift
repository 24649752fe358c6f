public import SettingsPush
public import WireGuard

/// What is pushed to the peers of one scope.
///
/// Routes of all scopes add up; DNS and MTU of the narrowest scope win as a whole.
public struct PushProfile: Sendable, Equatable {
    /// Networks that go into the tunnel.
    public internal(set) var routes: Set<IPPrefix> = []
    /// Networks that stay outside even where a route covers them.
    public internal(set) var excludedRoutes: Set<IPPrefix> = []
    /// Resolvers and domains; nil leaves it to the wider scope.
    public internal(set) var dns: DNSOffer?
    /// The MTU inside the tunnel in bytes; nil leaves it to the wider scope.
    public internal(set) var mtu: Int?

    /// Whether it says nothing.
    var isEmpty: Bool { self == PushProfile() }

    /// The networks of a kind.
    public subscript(kind: RouteKind) -> Set<IPPrefix> {
        get { kind == .included ? routes : excludedRoutes }
        set { if kind == .included { routes = newValue } else { excludedRoutes = newValue } }
    }
}
