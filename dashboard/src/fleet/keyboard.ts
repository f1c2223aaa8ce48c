// The keyboard on the fleet: j and k, or the arrow keys within the list, move from tank to tank; Enter opens one; x selects it;
// / goes to the search.

import { useEffect } from "preact/hooks";

const rows = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(".fleet tbody tr")];
const linkIn = (row: Element | undefined): HTMLElement | null | undefined => row?.querySelector<HTMLElement>("a");

function move(step: 1 | -1): void {
  const all = rows();
  const current = all.findIndex((row) => row.contains(document.activeElement));
  const next = current === -1 ? (step === 1 ? 0 : all.length - 1) : current + step;
  linkIn(all[Math.max(0, Math.min(all.length - 1, next))])?.focus();
}

const ACTIONS: Readonly<Record<string, () => void>> = {
  j: () => move(1),
  k: () => move(-1),
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  x: () => document.activeElement?.closest("tr")?.querySelector<HTMLElement>("input[type=checkbox]")?.click(),
  "/": () => document.getElementById("search")?.focus(),
};

export function useFleetKeyboard(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as Element;
      if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input:not([type=checkbox]), select, textarea"))
        return;
      if (document.querySelector("dialog[open]") !== null) return;
      // Elsewhere the arrow keys scroll.
      if (event.key.startsWith("Arrow") && target.closest(".fleet") === null) return;
      const action = ACTIONS[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
