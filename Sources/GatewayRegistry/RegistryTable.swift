internal import SQLite

/// A table of the registry: its columns, and the statements that keep its rows.
struct RegistryTable: Sendable {
    let name: String
    /// The columns of the primary key.
    let keys: [String]
    /// The other columns.
    let columns: [String]

    /// Adds a row or replaces the columns of the one that has its key; the values are those of the key, then the others.
    ///
    /// An upsert and no REPLACE: that would delete the old row first, and whatever refers to it.
    var upsert: String {
        let all = keys + columns
        let values = all.map { _ in "?" }.joined(separator: ", ")
        let updates = columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        return "INSERT INTO \(name)(\(all.joined(separator: ", "))) VALUES(\(values)) "
            + "ON CONFLICT(\(keys.joined(separator: ", "))) DO "
            + (columns.isEmpty ? "NOTHING" : "UPDATE SET \(updates)")
    }

    /// Removes the row of a key.
    var delete: String {
        "DELETE FROM \(name) WHERE " + keys.map { "\($0) = ?" }.joined(separator: " AND ")
    }

    /// All rows: the columns of the key, then the others.
    var select: String { "SELECT \((keys + columns).joined(separator: ", ")) FROM \(name)" }

    static let gateway = RegistryTable(
        name: "gateway", keys: ["id"],
        columns: [
            "private_key", "listen_port", "endpoint", "mtu", "masquerade", "lease_seconds", "epoch",
        ])
    static let pools = RegistryTable(name: "pools", keys: ["prefix"], columns: ["position", "draining"])
    static let peers = RegistryTable(
        name: "peers", keys: ["name"], columns: ["public_key", "preshared_key", "peer_group", "state"])
    static let siteSubnets = RegistryTable(name: "site_subnets", keys: ["prefix"], columns: ["peer"])
    static let leases = RegistryTable(
        name: "leases", keys: ["address"], columns: ["peer", "pool", "fixed", "expiry", "released_at"])
    static let routes = RegistryTable(name: "routes", keys: ["scope", "scope_name", "kind", "prefix"], columns: [])
    static let profiles = RegistryTable(
        name: "profiles", keys: ["scope", "scope_name"], columns: ["settings"])
    static let versions = RegistryTable(name: "versions", keys: ["peer"], columns: ["serial", "digest"])
    static let results = RegistryTable(
        name: "results", keys: ["peer"], columns: ["received_at", "serial", "status", "items"])

    /// The version of the schema, in the file's header.
    static let schemaVersion = 1

    /// Makes the tables in an empty file.
    ///
    /// Addresses and networks are their canonical text, keys and digests are bytes, times are seconds since 1970,
    /// DNS and MTU of a profile are the sections of a snapshot.
    static let schema = """
        CREATE TABLE gateway(
            id INTEGER PRIMARY KEY CHECK(id = 1), private_key BLOB NOT NULL, listen_port INTEGER NOT NULL,
            endpoint TEXT NOT NULL, mtu INTEGER NOT NULL, masquerade INTEGER NOT NULL, lease_seconds INTEGER NOT NULL,
            epoch BLOB NOT NULL) STRICT;
        CREATE TABLE pools(prefix TEXT PRIMARY KEY, position INTEGER NOT NULL, draining INTEGER NOT NULL) STRICT;
        CREATE TABLE peers(
            name TEXT PRIMARY KEY, public_key BLOB NOT NULL UNIQUE, preshared_key BLOB, peer_group TEXT,
            state TEXT NOT NULL) STRICT;
        CREATE TABLE client_keys(
            peer TEXT PRIMARY KEY REFERENCES peers ON DELETE CASCADE, private_key BLOB NOT NULL) STRICT;
        CREATE TABLE site_subnets(
            prefix TEXT PRIMARY KEY, peer TEXT NOT NULL REFERENCES peers ON DELETE CASCADE) STRICT;
        CREATE TABLE leases(
            address TEXT PRIMARY KEY, peer TEXT NOT NULL REFERENCES peers ON DELETE CASCADE,
            pool TEXT NOT NULL REFERENCES pools, fixed INTEGER NOT NULL, expiry INTEGER, released_at INTEGER) STRICT;
        CREATE INDEX leases_peer ON leases(peer);
        CREATE TABLE routes(
            scope TEXT NOT NULL, scope_name TEXT NOT NULL, kind TEXT NOT NULL, prefix TEXT NOT NULL,
            PRIMARY KEY(scope, scope_name, kind, prefix)) STRICT;
        CREATE TABLE profiles(
            scope TEXT NOT NULL, scope_name TEXT NOT NULL, settings BLOB NOT NULL,
            PRIMARY KEY(scope, scope_name)) STRICT;
        CREATE TABLE versions(
            peer TEXT PRIMARY KEY REFERENCES peers ON DELETE CASCADE, serial INTEGER NOT NULL,
            digest BLOB NOT NULL) STRICT;
        CREATE TABLE results(
            peer TEXT PRIMARY KEY REFERENCES peers ON DELETE CASCADE, received_at INTEGER NOT NULL,
            serial INTEGER NOT NULL, status INTEGER NOT NULL, items BLOB NOT NULL) STRICT;
        """
}
