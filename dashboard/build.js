// Builds the dashboard into dist/: files with hashed names in dist/assets, each also compressed, and index.html, which names
// them. Plain JavaScript for any Node from 20 on, because `npm ci` runs it.

import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "esbuild";

const folder = fileURLToPath(new URL(".", import.meta.url));
const dist = join(folder, "dist");
/** Renamed when it is complete, so that a service that starts meanwhile has a whole dashboard. */
const next = join(folder, `dist-${process.pid}`);
const assets = join(next, "assets");

const { metafile } = await build({
  entryPoints: { main: join(folder, "src/main.tsx"), styles: join(folder, "src/styles.css"), icon: join(folder, "src/icon.svg") },
  outdir: assets,
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  loader: { ".svg": "copy", ".json": "file" },
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: true,
  metafile: true,
  logLevel: "warning",
});

await mkdir(assets, { recursive: true });
await writeFile(join(next, "index.html"), await page());
await Promise.all((await readdir(assets)).map((name) => compress(join(assets, name))));
await rm(dist, { recursive: true, force: true });
await rename(next, dist);

/** The template with the names of the files. What the entry imports is loaded beside it, not after it. */
async function page() {
  const outputs = Object.entries(metafile.outputs);
  const find = (source) => outputs.find(([, output]) => output.entryPoint?.endsWith(`src/${source}`)) ?? [];
  const [script, { imports }] = find("main.tsx");
  const [stylesheet] = find("styles.css");
  const [icon] = find("icon.svg");
  const url = (file) => `assets/${basename(file)}`;
  const preloaded = imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => path);
  const lines = [
    `<link rel="icon" type="image/svg+xml" href="${url(icon)}">`,
    `<link rel="stylesheet" href="${url(stylesheet)}">`,
    ...preloaded.map((path) => `<link rel="modulepreload" href="${url(path)}">`),
    `<script type="module" src="${url(script)}"></script>`,
  ];
  const template = await readFile(join(folder, "src/index.html"), "utf8");
  return template.replace("<!-- files -->", lines.join("\n"));
}

async function compress(file) {
  const bytes = await readFile(file);
  const params = { [constants.BROTLI_PARAM_QUALITY]: bytes.length > 500_000 ? 9 : 11 };
  await writeFile(`${file}.br`, await promisify(brotliCompress)(bytes, { params }));
  await writeFile(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }));
}
