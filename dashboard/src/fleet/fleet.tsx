// The fleet: all tanks, the most urgent first, by page, filter and search.

import { api } from "../api.ts";
import { ActionButton } from "../components/action-button.tsx";
import { useDialog } from "../components/dialog.tsx";
import { Icon } from "../components/icon.tsx";
import { pageInUrl } from "../components/list.tsx";
import { EmptyPage, Pager } from "../components/pager.tsx";
import { Screen } from "../components/screen.tsx";
import { Empty, Loading, RefreshError } from "../components/states.tsx";
import { counted } from "../format.ts";
import { useLive } from "../live.ts";
import { href } from "../location.ts";
import { isCustomer, may } from "../session.ts";
import { Counters } from "./counters.tsx";
import { ExportDialog } from "./export-dialog.tsx";
import { FilterBar } from "./filter-bar.tsx";
import { useFleetKeyboard } from "./keyboard.ts";
import { filtersInUrl, PAGE_SIZE } from "./request.ts";
import { useSelection } from "./selection.tsx";
import { FleetTable } from "./table.tsx";

export default function Fleet() {
  const filters = filtersInUrl();
  const request = { ...filters, page: pageInUrl(), size: PAGE_SIZE };
  const live = useLive(JSON.stringify(request), (signal) => api.insight.fleet.list({ ...request, signal }));
  const { data, isCurrent, error } = live;
  const dialog = useDialog();
  const { selection, selectionBar } = useSelection(live, filters, dialog.open);
  useFleetKeyboard();
  const isFiltered = Object.keys(filters).some((name) => name !== "sort");
  const hasTanks = data !== undefined && data.total_items > 0;
  // What was found with other filters says nothing about these.
  const isEmpty = isCurrent && data?.total_items === 0;
  /** What is shown may not be loaded yet, or be of the filters before. */
  const exportTanks = async () => {
    const { total_items } = await api.insight.fleet.list({ ...filters, size: 1 });
    dialog.open((close) => <ExportDialog filters={filters} total={total_items} close={close} />);
  };
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
          <FilterBar entries={data?.data ?? []} />
        </>
      )}
      <RefreshError live={live} />
      {hasTanks || isEmpty || error !== undefined ? null : <Loading />}
      {isEmpty ? <NoTanks isFiltered={isFiltered} /> : null}
      {!hasTanks ? (
        selectionBar
      ) : (
        <div class={isCurrent ? "fleet-list" : "fleet-list waiting"} aria-busy={!isCurrent}>
          {data.data.length === 0 ? (
            <EmptyPage list={data} />
          ) : (
            <FleetTable entries={data.data} selection={may("dispatcher") ? selection : undefined} />
          )}
          <Pager list={data} />
          <p class="keys-hint dim">
            Keys: j and k move from tank to tank, Enter opens one{may("dispatcher") ? ", x selects it" : ""}, / searches.
          </p>
          {selectionBar}
        </div>
      )}
      {dialog.shown}
    </Screen>
  );
}

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
