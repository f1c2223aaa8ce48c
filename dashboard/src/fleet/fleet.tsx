// The fleet: all tanks, the most urgent first, by page, filter and search.

import { useState } from "preact/hooks";
import type { FleetTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { ActionButton } from "../components/action-button.tsx";
import { Button } from "../components/button.tsx";
import { useDialog } from "../components/dialog.tsx";
import { isFocusLost } from "../components/focus.ts";
import { Icon } from "../components/icon.tsx";
import { pageInUrl } from "../components/list.tsx";
import { Pager } from "../components/pager.tsx";
import { Screen } from "../components/screen.tsx";
import { Empty, Loading, RefreshError } from "../components/states.tsx";
import { counted, whole } from "../format.ts";
import { useLive } from "../live.ts";
import { href } from "../location.ts";
import { isCustomer, may } from "../session.ts";
import { Counters } from "./counters.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { useFleetKeyboard } from "./keyboard.ts";
import { filtersInUrl, PAGE_SIZE, wholeFleet } from "./request.ts";
import { FleetTable, type SelectedTanks } from "./table.tsx";
import { ThresholdDialog } from "./threshold-dialog.tsx";

const NONE: SelectedTanks = new Map();
/** More are not selected at once: each is a request of its own. */
const MAX_SELECT_ALL = 1_000;

export default function Fleet() {
  const filters = filtersInUrl();
  const filter = JSON.stringify(filters);
  const request = { ...filters, page: pageInUrl(), size: PAGE_SIZE };
  const { data, isCurrent, error, refresh } = useLive(JSON.stringify(request), (signal) =>
    api.insight.fleet.list({ ...request, signal }),
  );
  const [selected, setSelected] = useState(NONE);
  /** What "Select all" found, and with which filters. */
  const [all, setAll] = useState({ filter: "", ids: [] as readonly string[] });
  const dialog = useDialog();
  useFleetKeyboard();
  const isFiltered = Object.keys(filters).some((name) => name !== "sort");
  const shown = data?.data.map(({ tank }) => tank.id) ?? [];
  const hasTanks = data !== undefined && data.total_items > 0;
  // What was found with other filters says nothing about these.
  const isEmpty = isCurrent && data?.total_items === 0;
  /** What is shown may not be loaded yet, or be of the filters before. */
  const exportTanks = async () => {
    const { total_items } = await api.insight.fleet.list({ ...filters, size: 1 });
    dialog.open((close) => <ExportDialog filters={filters} total={total_items} close={close} />);
  };
  const changed = async () => {
    setSelected(NONE);
    await refresh();
  };
  const changeThreshold = () =>
    dialog.open((close) => {
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
  const isOnePage = shown.length === data?.total_items;
  // Selected tanks may be of other filters, so their number does not say it.
  const known = isOnePage ? shown : all.filter === filter ? all.ids : [];
  const isAllSelected = data !== undefined && known.length >= data.total_items && known.every((id) => selected.has(id));
  const canSelectAll = hasTanks && isCurrent && !isAllSelected && data.total_items <= MAX_SELECT_ALL;
  const selectionBar =
    selected.size === 0 ? null : (
      <section class="selection-bar" aria-label="Selected tanks">
        <Button onClick={changeThreshold} look="primary">
          Threshold of {counted(selected.size, "tank")}
        </Button>
        {canSelectAll ? <ActionButton act={selectAll}>Select all {whole(data.total_items)}</ActionButton> : null}
        <Button onClick={clear} of="selection">
          Clear
        </Button>
      </section>
    );
  return (
    <Screen
      title={isCustomer() ? "Your tanks" : "Fleet"}
      summary={data === undefined ? undefined : `${counted(data.total_items, "tank")}${isFiltered ? " found" : ""}`}
      actions={
        isEmpty ? undefined : (
          <ActionButton act={exportTanks}>
            <Icon name="download" />
            Export
          </ActionButton>
        )
      }
    >
      {isEmpty && !isFiltered ? null : (
        <>
          <Counters />
          <FilterBar />
        </>
      )}
      <RefreshError live={{ data, error, refresh }} />
      {hasTanks || isEmpty || error !== undefined ? null : <Loading />}
      {isEmpty ? <NoTanks isFiltered={isFiltered} /> : null}
      {!hasTanks ? (
        selectionBar
      ) : (
        <div class={isCurrent ? "fleet-list" : "fleet-list waiting"} aria-busy={!isCurrent}>
          <FleetTable entries={data.data} selection={may("dispatcher") ? { selected, setSelected } : undefined} />
          <Pager list={data} />
          {selectionBar}
        </div>
      )}
      {dialog.shown}
    </Screen>
  );
}

/** The focus would be lost with the buttons of the selection. The list stays where it is. */
const focusHeading = () => document.querySelector("h1")?.focus({ preventScroll: true });

function NoTanks({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No tank matches">
        <p>
          <a href={href("/")}>Show all tanks</a>
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No tanks yet">
      <HowToAdd />
    </Empty>
  );
}

function HowToAdd() {
  if (!may("viewer")) return <p>Tanks appear here as soon as your supplier has registered them for you.</p>;
  if (!may("dispatcher")) return <p>Dispatchers and administrators can add customers and their tanks.</p>;
  return (
    <>
      <p>
        <a href={href("/customers")}>Add customers</a>, and their tanks on the page of each customer.
      </p>
      <p>
        Many at once: from a CSV file, on the computer that runs the service, <code>tank-monitor provision FILE</code>, or over
        HTTP with <a href={href("/docs")}>the API</a>.
      </p>
    </>
  );
}
