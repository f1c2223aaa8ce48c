// The selected tanks of the fleet, also those of other pages, and what can be done with them.

import { useState } from "preact/hooks";
import type { FleetTank, ListFleetOptions } from "../../../client/src/index.ts";
import { ActionButton } from "../components/action-button.tsx";
import { Button } from "../components/button.tsx";
import type { OpenDialog } from "../components/dialog.tsx";
import { isFocusLost } from "../components/focus.ts";
import type { Page } from "../components/list.tsx";
import { counted, whole } from "../format.ts";
import type { Live } from "../live.ts";
import { wholeFleet } from "./request.ts";
import type { SelectedTanks } from "./table.tsx";
import { ThresholdDialog } from "./threshold-dialog.tsx";

const NONE: SelectedTanks = new Map();
/** More are not selected at once: each is a request of its own. */
const MAX_SELECT_ALL = 1_000;

/** The selection for the table, and the bar that is shown while tanks are selected. */
export function useSelection({ data, isCurrent, refresh }: Live<Page<FleetTank>>, filters: ListFleetOptions, open: OpenDialog) {
  const [selected, setSelected] = useState(NONE);
  /** What "Select all" found, and with which filters. */
  const [all, setAll] = useState({ filter: "", ids: [] as readonly string[] });
  const filter = JSON.stringify(filters);
  const shown = data?.data.map(({ tank }) => tank.id) ?? [];
  const total = data?.total_items ?? 0;
  const changed = async () => {
    setSelected(NONE);
    await refresh();
  };
  const changeThreshold = () =>
    open((close) => {
      const closeAndFocus = () => {
        close();
        if (isFocusLost()) focusHeading();
      };
      const tanks = [...selected.values()];
      const elsewhere = tanks.filter(({ id }) => !shown.includes(id)).length;
      return <ThresholdDialog tanks={tanks} elsewhere={elsewhere} close={closeAndFocus} done={changed} />;
    });
  const clear = () => {
    setSelected(NONE);
    focusHeading();
  };
  const selectAll = async () => {
    const found = new Map<string, FleetTank["tank"]>();
    for await (const { tank } of wholeFleet(filters)) found.set(tank.id, tank);
    // Its own button is gone then.
    document.querySelector<HTMLElement>(".selection-bar .primary")?.focus();
    setSelected((before) => new Map([...before, ...found]));
    setAll({ filter, ids: [...found.keys()] });
  };
  // Selected tanks may be of other filters, so their number does not say it.
  const known = shown.length === total ? shown : all.filter === filter ? all.ids : [];
  const isAllSelected = known.length >= total && known.every((id) => selected.has(id));
  const canSelectAll = isCurrent && !isAllSelected && total > 0 && total <= MAX_SELECT_ALL;
  const selectionBar =
    selected.size === 0 ? null : (
      <section class="selection-bar" aria-label="Selected tanks">
        <Button onClick={changeThreshold} look="primary">
          Threshold of {counted(selected.size, "tank")}
        </Button>
        {canSelectAll ? <ActionButton act={selectAll}>Select all {whole(total)}</ActionButton> : null}
        <Button onClick={clear} of="selection">
          Clear
        </Button>
      </section>
    );
  return { selection: { selected, setSelected }, selectionBar };
}

/** The focus would be lost with the buttons of the selection. The list stays where it is. */
const focusHeading = () => document.querySelector("h1")?.focus({ preventScroll: true });
