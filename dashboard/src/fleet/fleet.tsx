// The fleet: all tanks, the most urgent first.

import { api } from "../api.ts";
import { Pager } from "../components/pager.tsx";
import { Screen } from "../components/screen.tsx";
import { Empty, ErrorState, Loading } from "../components/states.tsx";
import { counted } from "../format.ts";
import { useLive } from "../live.ts";
import { query } from "../location.ts";
import { FleetTable } from "./table.tsx";

const SIZE = 50;

export default function Fleet() {
  const page = Math.max(1, Number(query.value.get("page") ?? 1) || 1);
  const { data, error, refresh } = useLive(`fleet ${page}`, (signal) => api.insight.fleet.list({ page, size: SIZE, signal }));
  if (data === undefined) {
    return <Screen title="Fleet">{error === undefined ? <Loading /> : <ErrorState error={error} retry={refresh} />}</Screen>;
  }
  return (
    <Screen title="Fleet" summary={counted(data.total_items, "tank")}>
      {data.total_items === 0 ? <Empty title="No tanks yet" /> : <FleetTable entries={data.data} />}
      <Pager list={data} />
    </Screen>
  );
}
