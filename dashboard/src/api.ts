// The client of the API. The cookie of the session goes with its requests.

import { createClient } from "../../client/src/index.ts";
import { href } from "./location.ts";
import { fetchAsMe } from "./me.ts";

export const api = createClient({ baseUrl: globalThis.location.origin + href(""), maxRetries: 1, fetch: fetchAsMe });
