// One tank: how full it is, when it needs a delivery, and what happened to it.

import { ApiError, type FleetTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { AlertBadge, Badge, LowBadge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { useDialog } from "../components/dialog.tsx";
import { Icon } from "../components/icon.tsx";
import { Screen } from "../components/screen.tsx";
import { Empty, ErrorState, Loading } from "../components/states.tsx";
import { isLowWithoutAlert } from "../components/tank-state.ts";
import { phoneLink, streetLine, untilDate } from "../format.ts";
import { useLive } from "../live.ts";
import { customerPath, href } from "../location.ts";
import type { ScreenProps } from "../routes.ts";
import { isCustomer, may } from "../session.ts";
import { TankAlerts } from "./alerts.tsx";
import { TankAudit } from "./audit.tsx";
import { DeletedTank, DeleteTank } from "./deleted.tsx";
import { Device } from "./device.tsx";
import { EditTank } from "./edit.tsx";
import { Figures, ForecastNote } from "./figures.tsx";
import { History } from "./history.tsx";
import { loadRefills } from "./refills.ts";
import { WeeklyUse } from "./weekly-use.tsx";

export default function TankScreen({ params }: ScreenProps) {
  const { id = "" } = params;
  const tank = useLive(`tank ${id}`, (signal) => api.insight.tanks.retrieve(id, { signal }));
  const refills = useLive(`refills ${id}`, (signal) => loadRefills(id, signal));
  const dialog = useDialog();
  const entry = tank.data;
  if (entry === undefined || isGone(tank.error)) return renderWithoutTank({ id, error: tank.error, retry: tank.refresh });
  const paused = entry.alerts_paused_until;
  const isLow = isLowWithoutAlert(entry);
  const list = refills.data ?? NO_REFILLS;
  const edit = () => dialog.open((close) => <EditTank id={id} close={close} changed={tank.refresh} />);
  const remove = () => dialog.open((close) => <DeleteTank tank={entry.tank} close={close} done={tank.refresh} />);
  return (
    <Screen
      title={entry.tank.name}
      summary={<Place entry={entry} />}
      actions={
        <>
          <EditButton edit={edit} />
          {may("dispatcher") ? (
            <Button onClick={remove} look="danger">
              Delete
            </Button>
          ) : null}
        </>
      }
    >
      {entry.alerts.length === 0 && paused === null && !isLow ? null : (
        <p class="badges">
          {isLow ? <LowBadge /> : null}
          {entry.alerts.map((alert) => (
            <AlertBadge key={alert.id} alert={alert} />
          ))}
          {paused === null ? null : (
            <Badge text={`Paused until ${untilDate(paused)}`} icon="pause" title="No alert opens until then" />
          )}
        </p>
      )}
      <Figures entry={entry} />
      <ForecastNote forecast={entry.forecast} hasReading={entry.latest !== null} />
      <History entry={entry} refills={list} />
      <div class="columns">
        <div class="stack">
          <TankAlerts entry={entry} />
          <Device entry={entry} />
        </div>
        <div class="stack">
          <WeeklyUse entry={entry} refills={list} />
          {may("admin") ? <TankAudit tankId={id} /> : null}
        </div>
      </div>
      {dialog.shown}
    </Screen>
  );
}

const NO_REFILLS = [] as const;

const isGone = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

type MissingProps = { readonly id: string; readonly error: unknown; readonly retry: () => Promise<void> };

/** No component, so that the heading stays the same element, with the focus, when the tank has been loaded. */
function renderWithoutTank({ id, error, retry }: MissingProps) {
  if (error === undefined) {
    return (
      <Screen title="Tank">
        <Loading />
      </Screen>
    );
  }
  if (!isGone(error)) {
    return (
      <Screen title="Tank">
        <ErrorState error={error} retry={retry} />
      </Screen>
    );
  }
  const isDeleted = error instanceof ApiError && error.code === "tank_deleted";
  if (isDeleted && may("viewer")) return <DeletedTank id={id} restored={retry} />;
  return (
    <Screen title={isDeleted ? "This tank has been deleted" : "There is no such tank"}>
      <Empty title={isDeleted ? "Its readings are kept" : "It may belong to somebody else, or the address may be mistyped"}>
        <a class="button" href={href("/")}>
          Go to {isCustomer() ? "your tanks" : "the fleet"}
        </a>
      </Empty>
    </Screen>
  );
}

function Place({ entry: { tank, customer } }: { readonly entry: FleetTank }) {
  const { postal_code, city, country } = tank.location;
  const town = [postal_code, city].filter(Boolean).join(" ");
  const address = [streetLine(tank.location), town, country].filter(Boolean).join(", ");
  return (
    <span class="tank-place">
      {may("viewer") ? (
        <>
          <a class="clamp" href={href(customerPath(customer.id))} dir="auto" title={customer.name}>
            {customer.name}
          </a>
          {customer.phone === null ? null : <a href={phoneLink(customer.phone)}>{customer.phone}</a>}
        </>
      ) : null}
      {[address, tank.custom_id].map((text) =>
        text ? (
          <span class="clamp" key={text} dir="auto" title={text}>
            {text}
          </span>
        ) : null,
      )}
    </span>
  );
}

/** For customers there is none; for others who may not, it says why. */
function EditButton({ edit }: { readonly edit: () => void }) {
  if (isCustomer()) return null;
  const isAllowed = may("dispatcher");
  return (
    <>
      <Button disabled={!isAllowed} aria-describedby={isAllowed ? undefined : "edit-why"} onClick={edit}>
        <Icon name="edit" />
        Edit
      </Button>
      {isAllowed ? null : (
        <span class="dim why" id="edit-why">
          Dispatchers and administrators can change tanks.
        </span>
      )}
    </>
  );
}
