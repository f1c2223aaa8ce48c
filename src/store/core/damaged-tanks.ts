// Tanks whose heads this process has found damaged. An append does not read the head: readings of these tanks are merged instead, which
// does. So they are not acknowledged while the head has to be restored.

const MAX_TANKS = 1000;

/** Over the limit, the tank that was found first is removed. */
export function addDamagedTank(tanks: Set<string>, tankId: string): void {
  tanks.add(tankId);
  const [first] = tanks;
  if (tanks.size > MAX_TANKS && first !== undefined) tanks.delete(first);
}
