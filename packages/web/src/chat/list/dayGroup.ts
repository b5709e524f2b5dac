export const dayGroups = ['today', 'yesterday', 'week', 'month', 'older'] as const;
export type DayGroup = (typeof dayGroups)[number];

/** How far back something is, by the days of whoever looks at it. */
export function dayGroup(timestamp: number, now: number): DayGroup {
  const midnight = new Date(now);
  midnight.setHours(0, 0, 0, 0);
  const daysBack = (days: number) => {
    const day = new Date(midnight);
    // By the calendar: a day is not always 24 hours long.
    day.setDate(day.getDate() - days);
    return day.getTime();
  };
  if (timestamp >= midnight.getTime()) return 'today';
  if (timestamp >= daysBack(1)) return 'yesterday';
  if (timestamp >= daysBack(7)) return 'week';
  return timestamp >= daysBack(30) ? 'month' : 'older';
}

/** Those of each group, in the order they came; groups without any are left out. */
export function groupByDay<T extends { readonly updatedAt: number }>(
  entries: readonly T[],
  now: number,
): readonly { readonly group: DayGroup; readonly entries: readonly T[] }[] {
  return dayGroups
    .map((group) => ({
      group,
      entries: entries.filter(({ updatedAt }) => dayGroup(updatedAt, now) === group),
    }))
    .filter((day) => day.entries.length > 0);
}
