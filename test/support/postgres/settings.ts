// How a test's server is set up.

/** For postgresql.conf rather than the command line, so that a test can overrule each with ALTER SYSTEM. */
export const SETTINGS = `
# A test's data need not outlive the machine. A process that is killed loses nothing by it.
fsync = off
full_page_writes = off
# No socket in a folder, whose path may be too long for one.
unix_socket_directories = ''
listen_addresses = '127.0.0.1'
max_connections = 200
shared_buffers = 32MB
min_wal_size = 32MB
max_wal_size = 256MB
timezone = 'UTC'
log_timezone = 'UTC'
wal_level = replica
max_wal_senders = 8
max_replication_slots = 8
# In the data folder, so that nothing is left behind by a process that was killed.
dynamic_shared_memory_type = ${process.platform === "win32" ? "windows" : "mmap"}
`;
