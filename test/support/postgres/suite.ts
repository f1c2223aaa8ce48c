// Run by the test runner before the first test file and after the last: one PostgreSQL for all of them.

import { answering, startServer } from "./server.ts";

let stop = async (): Promise<void> => {};

export async function globalSetup(): Promise<void> {
  const given = process.env["TEST_POSTGRES_URL"];
  if (given) {
    await answering(given);
    return;
  }
  const server = await startServer();
  stop = server.stop;
  // Test files are processes of their own, and inherit it.
  process.env["TEST_POSTGRES_URL"] = server.url;
}

export async function globalTeardown(): Promise<void> {
  await stop();
}
