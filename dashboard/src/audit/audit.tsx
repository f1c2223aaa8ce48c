// The audit log: who did what, newest first.

import type { AuditEntry, ListAuditOptions } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { ALERT_KINDS } from "../components/alert-kinds.tsx";
import { fieldChanges } from "../components/field-changes.ts";
import { FilterSelect } from "../components/filters.tsx";
import { type Column, ObjectList, pageInUrl } from "../components/list.tsx";
import { actorOf, type Named, type NameOf, useNames } from "../components/names.ts";
import { useComplete, useObjects } from "../components/objects.ts";
import { Screen } from "../components/screen.tsx";
import { SearchField } from "../components/search-field.tsx";
import { Empty } from "../components/states.tsx";
import { Time } from "../components/time.tsx";
import { counted } from "../format.ts";
import { useLive } from "../live.ts";
import { customerPath, href, navigate, query, tankPath, withQuery } from "../location.ts";

const SIZE = 50;
const TYPES = ["customer", "tank", "device", "key", "alert", "channel", "notification", "user"] as const;
const TYPE_OPTIONS = [["", "All objects"], ...TYPES.map((type) => [type, type] as const)] as const;

type Link = { readonly to: string; readonly name: string };

const columnsWith = (nameOf: NameOf, linkOf: (entry: AuditEntry) => Link): readonly Column<AuditEntry>[] => [
  { label: "When", cell: ({ created_at }) => <Time at={created_at} /> },
  {
    label: "By",
    cell: ({ by }) => (
      <span class="clamp">
        <a href={href(withQuery({ by, page: undefined }))} title={`Show only what ${by} did`} dir="auto">
          {nameOf(by) ?? by}
        </a>
      </span>
    ),
  },
  { label: "What", look: "title", cell: ({ action, type }) => `${type} ${action.replaceAll("_", " ")}` },
  { label: "Object", cell: (entry) => <ObjectLink id={entry.id} {...linkOf(entry)} /> },
  { label: "Changes", cell: (entry) => <Changes entry={entry} /> },
];

export default function Audit() {
  const filters = filtersInUrl();
  const request = { ...filters, page: pageInUrl(), size: SIZE };
  const entries = useLive(JSON.stringify(request), (signal) => api.manage.audit.list({ ...request, signal }));
  const nameOf = useNames(entries.data?.data.flatMap(namedIn) ?? []);
  const links = useLinks(entries.data?.data ?? [], nameOf);
  const live = useComplete(entries, nameOf, links);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Screen title="Audit log" summary={live.data === undefined ? undefined : counted(live.data.total_items, "entry", "entries")}>
      <search class="toolbar">
        <FilterSelect name="type" label="Type of object" value={filters.type} options={TYPE_OPTIONS} />
        <SearchField name="id" label="Id of the object" placeholder="Id of an object" />
        <SearchField name="by" label="By whom" placeholder="By: id of a user or key" />
        <Day name="from" label="From" />
        <Day name="to" label="Until" />
        {isFiltered ? (
          <a class="button quiet" href={href("/audit")}>
            Remove all filters
          </a>
        ) : null}
      </search>
      <ObjectList
        label="Audit entries"
        live={live}
        columns={columnsWith(nameOf, links.of)}
        idOf={({ number }) => String(number)}
        empty={
          isFiltered ? (
            <Empty title="No entry matches">
              <p>
                <a href={href("/audit")}>Show all entries</a>
              </p>
            </Empty>
          ) : (
            <Empty title="No entries yet">
              <p>Every change of customers, tanks, devices, keys, channels and users appears here, and every sign-in.</p>
            </Empty>
          )
        }
      />
    </Screen>
  );
}

const NAMED_TYPES = ["user", "key", "channel", "customer", "tank"] as const;

function namedIn({ type, id, by }: AuditEntry): readonly Named[] {
  const named = NAMED_TYPES.find((one) => one === type);
  return named === undefined ? actorOf(by) : [...actorOf(by), { type: named, id }];
}

/** Where the objects of the entries are shown, and their names. An alert is that of a tank. */
function useLinks(entries: readonly AuditEntry[], nameOf: NameOf) {
  const ids = entries.filter(({ type }) => type === "alert").map(({ id }) => id);
  const alerts = useObjects("alerts", ids, api.insight.alerts.retrieve);
  const tankNameOf = useNames(ids.flatMap((id) => alerts.get(id)?.tank_id ?? []).map((id) => ({ type: "tank", id })));
  const of = ({ type, id }: AuditEntry): Link => {
    const alert = type === "alert" ? alerts.get(id) : undefined;
    if (alert !== undefined) {
      const { kind, tank_id } = alert;
      return { to: tankPath(tank_id), name: `${ALERT_KINDS[kind].label}: ${tankNameOf(tank_id) ?? tank_id}` };
    }
    const name = nameOf(id) ?? id;
    if (type === "tank") return { to: tankPath(id), name };
    return { to: type === "customer" ? customerPath(id) : withQuery({ type, id, page: undefined }), name };
  };
  return { of, areLoaded: alerts.areLoaded && tankNameOf.areLoaded };
}

/** What is not known is ignored: a link of another version shows more. */
function filtersInUrl(): ListAuditOptions {
  const { value } = query;
  const type = TYPES.find((one) => one === value.get("type"));
  const [id, by, from, to] = ["id", "by", "from", "to"].map((name) => value.get(name)?.trim() ?? "");
  return {
    ...(type === undefined ? {} : { type }),
    ...(id ? { id } : {}),
    ...(by ? { by } : {}),
    ...(isDay(from) ? { created_at_gte: new Date(`${from}T00:00`).toISOString() } : {}),
    ...(isDay(to) ? { created_at_lte: new Date(`${to}T23:59:59.999`).toISOString() } : {}),
  };
}

const isDay = (text = ""): boolean => !Number.isNaN(Date.parse(`${text}T00:00`));

const Day = ({ name, label }: { readonly name: string; readonly label: string }) => (
  <label class="day">
    {label}
    <input
      class="input"
      type="date"
      value={query.value.get(name) ?? ""}
      onChange={({ currentTarget }) => navigate(withQuery({ [name]: currentTarget.value, page: undefined }), { replace: true })}
    />
  </label>
);

const ObjectLink = ({ id, to, name }: Link & { readonly id: string }) => (
  <span class="clamp">
    <a href={href(to)} title={id} dir="auto">
      {name}
    </a>
  </span>
);

function Changes({ entry }: { readonly entry: AuditEntry }) {
  const changes = fieldChanges(entry);
  if (changes.length === 0) return <span class="dim">–</span>;
  return (
    <details>
      <summary>{counted(changes.length, "field")}</summary>
      <ul>
        {changes.map(({ field, text }) => (
          <li key={field} dir="auto">
            <span class="dim">{field}:</span> {text}
          </li>
        ))}
      </ul>
    </details>
  );
}
