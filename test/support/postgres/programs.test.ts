import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, lstatSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { type Lifetime, temporaryFolder } from "../service.ts";
import { folderOf, giveTo, nativeFolder, type Programs, programsFromNpm, serverUser } from "./programs.ts";

suite("the programs from npm", () => {
  const user = serverUser();

  test("are run where they are, when they can be", (t) => {
    const open = join(ownFolder(t), "native");
    cpSync(nativeFolder(), open, { recursive: true, verbatimSymlinks: true, filter: isNeeded });
    giveTo(user, open);
    const programs = programsFromNpm(open, user, ownFolder(t));
    assert.ok(programs.postgres.startsWith(open), programs.postgres);
    assert.match(versionOf(programs), /^postgres \(PostgreSQL\) 18\./);
  });

  test("are copied out of a folder that the database's user cannot enter", {
    skip: user.uid === undefined && "only root has another user",
  }, (t) => {
    const closed = join(temporaryFolder(t), "native");
    cpSync(nativeFolder(), closed, { recursive: true, verbatimSymlinks: true, filter: isNeeded });
    for (const program of ["initdb", "postgres"]) chmodSync(join(closed, "bin", program), 0o700);
    const folder = ownFolder(t);
    const programs = programsFromNpm(closed, user, folder);
    assert.ok(programs.postgres.startsWith(folder), programs.postgres);
    assert.match(versionOf(programs), /^postgres \(PostgreSQL\) 18\./);
  });

  test("are copied and given their library links, where npm ran no install scripts", {
    skip: process.platform === "win32",
  }, (t) => {
    const bare = join(ownFolder(t), "native");
    cpSync(nativeFolder(), bare, { recursive: true, filter: (path) => isNeeded(path) && !lstatSync(path).isSymbolicLink() });
    const folder = ownFolder(t);
    const programs = programsFromNpm(bare, user, folder);
    assert.ok(programs.postgres.startsWith(folder), programs.postgres);
    assert.match(versionOf(programs), /^postgres \(PostgreSQL\) 18\./);
  });

  test("that cannot run at all are told of", (t) => {
    const empty = join(temporaryFolder(t), "native");
    mkdirSync(empty);
    assert.throws(() => programsFromNpm(empty, user, ownFolder(t)), /PostgreSQL from npm does not run here: .*ENOENT/);
  });

  function ownFolder(life: Lifetime): string {
    const folder = folderOf(user);
    life.after(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }

  const versionOf = (programs: Programs): string =>
    execFileSync(programs.postgres, ["--version"], { encoding: "utf8", cwd: "/", ...user });

  /** To tell their version, the programs need their libraries, but not the thousand files beside them. */
  const isNeeded = (path: string): boolean => !/native\W(share|lib\W(postgresql|pkgconfig))$/.test(path);
});
