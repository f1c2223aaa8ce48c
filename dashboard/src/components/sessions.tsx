// Where somebody is signed in. Each session can be ended.

import type { Session } from "../../../client/src/index.ts";
import { dateTime } from "../format.ts";
import type { Live } from "../live.ts";
import { ActionButton } from "./action-button.tsx";
import { Badge } from "./badge.tsx";
import { keepFocus, placeOfRow } from "./focus.ts";
import { ObjectList, type Page } from "./list.tsx";
import { notify } from "./notices.tsx";
import { Empty } from "./states.tsx";
import { Time } from "./time.tsx";

/** The most sessions that one person can have: all of them are one page. */
export const MAX_SESSIONS = 100;

type Props = { readonly live: Live<Page<Session>>; readonly end: (session: Session) => Promise<unknown> };

export function Sessions({ live, end }: Props) {
  const act = async (session: Session) => {
    const place = placeOfRow();
    await end(session);
    notify({ text: "The session was ended" });
    await live.refresh();
    keepFocus(place);
  };
  return (
    <ObjectList
      label="Sessions"
      live={live}
      idOf={({ id }) => id}
      empty={<Empty title="Not signed in anywhere" />}
      columns={[
        {
          label: "Browser",
          look: "title",
          cell: ({ user_agent, current }) => (
            <span title={user_agent ?? undefined}>
              {browserOf(user_agent)} {current ? <Badge text="This browser" icon="check" tone="ok" /> : null}
            </span>
          ),
        },
        { label: "Signed in", cell: ({ created_at }) => <Time at={created_at} /> },
        { label: "Ends", cell: ({ expires_at }) => <Time at={expires_at} /> },
        {
          label: "Actions",
          look: "buttons",
          cell: (session) => (
            <ActionButton act={() => act(session)} of={`session of ${dateTime(session.created_at)}`}>
              {session.current ? "Sign out" : "End session"}
            </ActionButton>
          ),
        },
      ]}
    />
  );
}

/** The first that matches; later ones also occur in what others say they are. */
const BROWSERS = [
  [/Edg(e|A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox|FxiOS/, "Firefox"],
  [/Chrome|CriOS/, "Chrome"],
  [/Safari/, "Safari"],
] as const;
const SYSTEMS = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS/, "macOS"],
  [/Linux/, "Linux"],
] as const;

function browserOf(agent: string | null): string {
  const find = (names: readonly (readonly [RegExp, string])[]) => names.find(([pattern]) => pattern.test(agent ?? ""))?.[1];
  const browser = find(BROWSERS);
  const system = find(SYSTEMS);
  if (browser === undefined) return agent === null ? "Unknown browser" : agent.slice(0, 60);
  return system === undefined ? browser : `${browser} on ${system}`;
}
