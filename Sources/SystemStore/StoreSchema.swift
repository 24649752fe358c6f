/// The tables, as a list of steps: step n makes version n + 1 out of version n, and never changes once it was released.
enum StoreSchema {
    static let steps: [String] = [
        """
        CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
        INSERT INTO counters VALUES ('configurations', 0), ('keychain', 0);

        CREATE TABLE configurations (
            identifier TEXT PRIMARY KEY,
            user INTEGER NOT NULL,
            application TEXT NOT NULL,
            slot TEXT NOT NULL,
            generation INTEGER NOT NULL,
            content BLOB NOT NULL,
            identity_password BLOB,
            session TEXT,
            last_disconnect_error BLOB
        ) STRICT;
        CREATE INDEX configurations_by_owner ON configurations (user, application);
        CREATE UNIQUE INDEX personal_slot ON configurations (user, application) WHERE slot = 'personal';

        CREATE TABLE class_keys (
            class TEXT PRIMARY KEY,
            wrapped BLOB NOT NULL,
            salt BLOB,
            operations INTEGER,
            memory INTEGER
        ) STRICT;

        CREATE TABLE keychain_items (
            sequence INTEGER PRIMARY KEY,
            identifier BLOB NOT NULL UNIQUE,
            class TEXT NOT NULL,
            user INTEGER NOT NULL,
            access_group TEXT NOT NULL,
            account TEXT NOT NULL,
            service TEXT NOT NULL,
            certificate_key BLOB NOT NULL,
            label TEXT,
            description TEXT,
            comment TEXT,
            generic BLOB,
            accessible TEXT NOT NULL,
            created INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            sealed BLOB NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX passwords ON keychain_items (user, access_group, account, service) WHERE class = 'genp';
        CREATE UNIQUE INDEX identities ON keychain_items (user, access_group, certificate_key) WHERE class = 'idnt';

        CREATE TABLE trust_anchors (
            profile TEXT NOT NULL,
            fingerprint BLOB NOT NULL,
            subject TEXT NOT NULL,
            certificate BLOB NOT NULL,
            installed INTEGER NOT NULL,
            PRIMARY KEY (profile, fingerprint)
        ) STRICT, WITHOUT ROWID;
        """
    ]
}
