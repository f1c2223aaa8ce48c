// Navigation between screens: a column beside them; on a phone, a bar with a menu.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { openAlerts } from "../events.tsx";
import { whole } from "../format.ts";
import { href, location, match } from "../location.ts";
import { me } from "../me.ts";
import { PATHS } from "../paths.ts";
import { ROUTES } from "../routes.ts";
import { isCustomer, may, signOut } from "../session.ts";
import { ActionButton } from "./action-button.tsx";
import { Icon, type IconName } from "./icon.tsx";

type Item = { readonly path: string; readonly label: string; readonly icon: IconName };

/** Each is shown to those who may open it. */
const ITEMS: readonly Item[] = [
  { path: "/", label: "Fleet", icon: "fleet" },
  { path: "/map", label: "Map", icon: "map" },
  { path: "/alerts", label: "Alerts", icon: "alert" },
  { path: "/customers", label: "Customers", icon: "customer" },
  { path: "/devices", label: "Devices", icon: "device" },
  { path: "/channels", label: "Channels", icon: "channel" },
  { path: "/keys", label: "Keys", icon: "key" },
  { path: "/users", label: "Users", icon: "user" },
  { path: "/audit", label: "Audit log", icon: "audit" },
];

const isMenuOpen = signal(false);

export function Navigation() {
  const place = location.value;
  useEffect(() => {
    isMenuOpen.value = false;
  }, [place]);
  const isOpen = isMenuOpen.value;
  return (
    <header class="side">
      <a class="brand" href={href("/")}>
        <span class="brand-mark" aria-hidden="true" />
        Tank Monitor
      </a>
      <button
        class="button quiet menu-button"
        type="button"
        aria-expanded={isOpen}
        aria-controls="navigation"
        onClick={() => {
          isMenuOpen.value = !isOpen;
        }}
      >
        <Icon name={isOpen ? "close" : "menu"} />
        <span class="label">Menu</span>
      </button>
      <nav id="navigation" class={isOpen ? "nav open" : "nav"} aria-label="Screens">
        <ul>
          {ITEMS.filter(isShown).map((item) => (
            <li key={item.path}>
              <a href={href(item.path)} aria-current={isCurrent(item.path) ? "page" : undefined}>
                <Icon name={item.icon} />
                {item.path === "/" && isCustomer() ? "Your tanks" : item.label}
                {item.path === "/alerts" && <OpenAlerts />}
              </a>
            </li>
          ))}
        </ul>
        <Person />
      </nav>
    </header>
  );
}

function isShown({ path }: Item): boolean {
  const known = PATHS.find((one) => one === path);
  return known !== undefined && may(ROUTES[known].role ?? "customer");
}

function isCurrent(path: string): boolean {
  if (match.value === undefined) return false;
  const [, first = ""] = match.value.path.split("/");
  return path === `/${first}` || (path === "/" && first === "tanks");
}

function OpenAlerts() {
  const count = openAlerts.value;
  return count === 0 ? null : (
    <span class="count">
      {whole(count)}
      <span class="hidden"> open</span>
    </span>
  );
}

function Person() {
  const person = me.value;
  if (person === undefined) return null;
  return (
    <div class="person">
      <a href={href("/account")} aria-current={isCurrent("/account") ? "page" : undefined}>
        <Icon name="customer" />
        <span class="person-text">
          <span class="cut" dir="auto">
            {person.name}
          </span>
          <span class="cut dim">{person.email ?? person.role}</span>
          <span class="hidden">Your account</span>
        </span>
      </a>
      <ActionButton act={signOut} look="quiet">
        <Icon name="out" />
        Sign out
      </ActionButton>
    </div>
  );
}
