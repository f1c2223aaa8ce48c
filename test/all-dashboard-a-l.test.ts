import { importTests } from "./support/one-process.ts";

await importTests("dashboard-a-l");
