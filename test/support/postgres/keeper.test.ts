import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { type Lifetime, temporaryFolder } from "../service.ts";
import { until } from "../until.ts";

const PATIENCE_MS = 30_000;

suite("nothing is left of a server", { concurrency: 2 }, () => {
  test("when its owner is killed", async (t) => {
    const owner = startOwner(t, "setInterval(() => {}, 1000)");
    const pid = Number(await until("the server runs", owner.printed, PATIENCE_MS));
    assert.ok(lives(pid));
    owner.kill();
    await until("the server is gone", () => !lives(pid), PATIENCE_MS);
    await until("its folder is gone", () => owner.folders().length === 0, PATIENCE_MS);
  });

  test("when its owner is killed while it is being made", async (t) => {
    const owner = startOwner(t, "");
    await until(
      "initdb works",
      () => owner.folders().some((folder) => existsSync(join(folder, "server_0/PG_VERSION"))),
      PATIENCE_MS,
    );
    assert.equal(owner.printed(), undefined);
    owner.kill();
    await until("its folder is gone", () => owner.folders().length === 0, PATIENCE_MS);
  });

  test("when its owner comes to its end and says nothing", async (t) => {
    const owner = startOwner(t, "");
    const pid = Number(await until("the server ran", owner.printed, PATIENCE_MS));
    await until("the server is gone", () => !lives(pid), PATIENCE_MS);
    await until("its folder is gone", () => owner.folders().length === 0, PATIENCE_MS);
  });
});

/** A process that makes a server, prints the id of the server's process, and goes on as it is told. */
function startOwner(life: Lifetime, further: string) {
  const temporary = temporaryFolder(life);
  chmodSync(temporary, 0o755);
  const program = `
    import { ownPostgres } from ${JSON.stringify(new URL("./own.ts", import.meta.url))};
    const server = await ownPostgres({ after() {} });
    console.log(server.pid());
    ${further}`;
  const owner = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "inherit"],
  });
  life.after(() => owner.kill("SIGKILL"));
  let output = "";
  owner.stdout.setEncoding("utf8").on("data", (text) => (output += text));
  return {
    printed: () => (output.endsWith("\n") ? output : undefined),
    kill: () => owner.kill("SIGKILL"),
    /** Of servers. */
    folders: () => readdirSync(temporary).map((name) => join(temporary, name)),
  };
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
