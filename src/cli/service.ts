// Whom a command speaks to: the service's own routes on the database, without the network, or a running service.

import { UserError } from "../domain/errors.ts";
import { UNRESTRICTED } from "../domain/key.ts";
import type { Store } from "../domain/store.ts";
import type { Caller } from "../http/auth.ts";
import { type Call, configOf, text, withStore } from "./command.ts";
import { type Answer, accepted } from "./problem.ts";
import { remoteService } from "./remote.ts";
import { queryOf, type Service } from "./request.ts";

export const SERVICE_FLAGS = { url: { type: "string" }, key: { type: "string" } } as const;

export async function withService<T>(call: Call, work: (service: Service) => Promise<T>, makes: boolean): Promise<T> {
  const config = configOf(call);
  const url = text(call, "url");
  const key = text(call, "key");
  if (url !== undefined) return work(remoteService(url, key ?? config.key));
  if (key !== undefined) throw new UserError("--key is for a running service: say which, with --url", 2);
  return withStore(config, async (store) => work(await localService(store)), makes);
}

/** Whoever may open the database may do everything. The audit log knows them by this name. */
const OPERATOR: Caller = {
  key: {
    id: "command line",
    name: "command line",
    role: "manage",
    customer_id: null,
    device_id: null,
    rate: null,
    created_at: 0,
    expires_at: null,
    revoked_at: null,
    replaced_by: null,
  },
  scope: UNRESTRICTED,
};

async function localService(store: Store): Promise<Service> {
  // Not before they are needed: a wrong call, or one to a service elsewhere, does without them.
  const [{ dispatch }, { ROUTES }, { ManagementService }, { createIngest }, { createHttpIngest }] = await Promise.all([
    import("../http/dispatch.ts"),
    import("../http/routes.ts"),
    import("../http/management.ts"),
    import("../ingest/ingest.ts"),
    import("../ingest/http.ts"),
  ]);
  const metrics = { text: async () => "" };
  const clock = Date.now;
  const services = {
    ingest: createHttpIngest(createIngest(store, clock), clock),
    management: new ManagementService(store, clock),
  };
  const environment = { reads: store, metrics, services, caller: OPERATOR };
  return {
    async ask(request) {
      const { method, path, body } = request;
      const answer: Answer = await dispatch(ROUTES, environment, { method, path, query: queryOf(request), body });
      return accepted(answer);
    },
  };
}
